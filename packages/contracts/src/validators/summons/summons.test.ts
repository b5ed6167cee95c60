import { encodeExpiry, encodeReclaim } from '@ratatosk/protocol/fraud'
import { describe, expect, it } from 'vitest'
import { testedEngines } from '../../test/evaluate.js'
import { judgeRules } from '../../test/judge-rules.js'
import { summonsBreaches } from '../../test/summons/breaches.js'
import {
  answerFrom,
  datumOf,
  expire,
  outputs,
  redeemerFrom,
  refundOutput,
  scenarios,
  subtreeQuestion,
  tokenOf,
  verdictOf,
  verdictOutput,
} from '../../test/summons/scenarios.js'
import type { TestInput, TestTransaction } from '../../test/transaction.js'
import { ada, createWorld, wallet } from '../../test/world.js'

judgeRules('summons', scenarios, summonsBreaches)

describe.each(Object.entries(testedEngines))('a kept verdict, by %s', (_engine, evaluate) => {
  const world = createWorld()
  const verdict = verdictOf(world, subtreeQuestion)
  const datum = datumOf(subtreeQuestion)
  const redeemers = {
    Answer: redeemerFrom(outputs, subtreeQuestion),
    Expire: encodeExpiry(0),
    Reclaim: encodeReclaim(0),
  }
  const kept = (redeemer: Uint8Array, change: Partial<TestInput['output']> = {}): TestInput => ({
    id: 3,
    output: { ...verdictOutput(world, verdict), ...change },
    redeemer,
  })
  const alone: TestTransaction = {
    ...expire(world, subtreeQuestion),
    outputs: [refundOutput(datum, ada(2)), wallet(ada(90))],
    mint: [{ ...verdict, quantity: -1n }],
  }
  const [fee] = alone.inputs

  it.each(Object.entries(redeemers))('is not spent and burned with %s', (_name, redeemer) => {
    expect(evaluate({ ...alone, inputs: [fee!, kept(redeemer)] })).toMatchObject({ ok: false })
  })

  it.each(Object.entries(redeemers))('is not spent with %s to mint another', (_name, redeemer) => {
    const other = tokenOf(world, new Uint8Array(28))
    const mint = [other]
    const outputs = [refundOutput(datum, ada(2)), verdictOutput(world, other), wallet(ada(90), [verdict])]
    expect(evaluate({ ...alone, inputs: [fee!, kept(redeemer)], mint, outputs })).toMatchObject({ ok: false })
  })

  it('is not spent beside a question', () => {
    for (const transaction of [expire(world, subtreeQuestion), answerFrom(world, outputs, subtreeQuestion)]) {
      const { redeemer } = transaction.inputs.find(({ id }) => id === 2)!
      const [first, ...rest] = transaction.outputs
      expect(
        evaluate({
          ...transaction,
          inputs: [...transaction.inputs, kept(redeemer!)],
          outputs: [first!, ...rest.slice(0, -1), wallet(ada(90), [verdict])],
        }),
      ).toMatchObject({ ok: false })
    }
  })
})
