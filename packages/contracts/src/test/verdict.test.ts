import { describe, expect, it } from 'vitest'
import { testedEngines } from './evaluate.js'
import { honestHeader } from './queue/removals.js'
import { firstHeader, secondHeader } from './queue/scenarios.js'
import type { TestTransaction, Token } from './transaction.js'
import { convicting, verdict, verdictToken } from './verdict.js'
import { ada, scriptReference, wallet } from './world.js'

describe.each(Object.entries(testedEngines))('the verdict policy of tests, run by %s', (_name, evaluate) => {
  const minting = (header: typeof firstHeader, ...mint: Token[]): TestTransaction => ({
    inputs: [{ id: 1, output: wallet(ada(100)) }],
    referenceInputs: [scriptReference(verdict)],
    outputs: [wallet(ada(99), mint)],
    mint,
    mintRedeemers: [convicting(header)],
    signatories: [],
  })

  it('convicts an invalid header, and no other', () => {
    expect(evaluate(minting(firstHeader, verdictToken(firstHeader)))).toMatchObject({ ok: true })
    expect(evaluate(minting(honestHeader, verdictToken(honestHeader)))).toMatchObject({ ok: false })
    expect(evaluate(minting(firstHeader, verdictToken(honestHeader)))).toMatchObject({ ok: false })
    const both = [verdictToken(firstHeader), verdictToken(secondHeader)]
    expect(evaluate(minting(firstHeader, ...both))).toMatchObject({ ok: false })
  })
})
