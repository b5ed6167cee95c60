import { encodeWitnessFraudProof } from '@ratatosk/fraud'
import { describe, expect, it } from 'vitest'
import { languageParameters, witnessFraudScript } from '../../../fraud/scripts.js'
import { parameters, refusalsOf } from '../../../test/evaluate.js'
import { openEngines } from '../../../test/fraud/engines.js'
import { judgeWithoutRules, verdictsOf } from '../../../test/fraud/without-rules.js'
import { witnessBreaches } from '../../../test/fraud/witness/breaches.js'
import { witnessFailures } from '../../../test/fraud/witness/judge.js'
import { witnessLies } from '../../../test/fraud/witness/lies.js'
import { honestStory } from '../../../test/fraud/witness/story.js'

const script = witnessFraudScript(parameters)

const verdict = verdictsOf(script, encodeWitnessFraudProof)

describe('the witness policy', () => {
  const judges = openEngines()

  it('has at most 12 kB', () => {
    expect(script.bytes.length).toBeLessThan(12_000)
  })

  it('speaks of what the ledger refuses', () => {
    expect(witnessFailures(honestStory)).toEqual([])
    for (const { what, block, predicate } of witnessLies)
      expect(witnessFailures(block), what).toContain(predicate)
  })

  describe.each(Object.entries(judges))('run by %s', (engine, judge) => {
    it.each(witnessLies)('accepts the proof that $what', async ({ block, prove }) => {
      expect(await judge(verdict(block, prove(block)))).toMatchObject({ ok: true })
    })

    it.each(refusalsOf(engine, witnessLies))(
      'refuses, of the honest block, the proof that $what',
      async ({ prove }) => {
        expect(await judge(verdict(honestStory, prove(honestStory)))).toMatchObject({ ok: false })
      },
    )
  })

  judgeWithoutRules({
    title: 'witness_fraud',
    parameters: languageParameters(parameters),
    breaches: witnessBreaches,
    verdict,
    judge: judges.cek!,
  })
})
