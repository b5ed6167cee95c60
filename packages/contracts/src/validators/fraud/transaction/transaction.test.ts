import { headerHash } from '@ratatosk/block'
import { encodeTransactionFraudProof, findTransactionFraud } from '@ratatosk/fraud'
import { describe, expect, it } from 'vitest'
import { rulesData, transactionFraudScript } from '../../../fraud/scripts.js'
import { engines, isSecondOpinion, testedEngines } from '../../../test/evaluate.js'
import { mintingOf } from '../../../test/fraud/minting.js'
import { transactionBreaches } from '../../../test/fraud/transaction/breaches.js'
import { transactionLies } from '../../../test/fraud/transaction/lies.js'
import { transactionRulesBrokenBy } from '../../../test/fraud/transaction/rules.js'
import { rules } from '../../../test/fraud/transaction/transactions.js'
import { judgeWithoutRules, verdictsOf } from '../../../test/fraud/without-rules.js'

const script = transactionFraudScript(rules)

const verdict = verdictsOf(script, encodeTransactionFraudProof)

describe('the transaction policy', () => {
  it.skipIf(isSecondOpinion)('fits into a transaction of layer 1 with 2 kB to spare', () => {
    expect(script.bytes.length).toBeLessThan(14_336)
  })

  it.each(transactionLies)('is about a rule that nodes judge blocks by: $what', async ({ block, twin }) => {
    expect(await transactionRulesBrokenBy(block)).not.toEqual([])
    expect(await transactionRulesBrokenBy(twin)).toEqual([])
  })

  describe.each(Object.entries(testedEngines))('run by %s', (_engine, judge) => {
    it.each(transactionLies)('accepts the proof that $what', ({ block, prove }) => {
      expect(judge(verdict(block, prove(block)))).toMatchObject({ ok: true })
    })

    it.each(transactionLies)('refuses, of the honest block, the proof that $what', ({ twin, prove }) => {
      expect(judge(verdict(twin, prove(twin)))).toMatchObject({ ok: false })
    })
  })

  it.each(transactionLies)('refuses, of an honest block, what shows of another that $what', (lie) => {
    const { twin, prove, block } = lie
    expect(engines.cek(verdict(twin, prove(block)))).toMatchObject({ ok: false })
  })

  describe('findTransactionFraud', () => {
    it.each(transactionLies.filter(({ isDecoded }) => isDecoded))(
      'finds a fraud that the policy accepts where $what',
      ({ block }) => {
        const found = findTransactionFraud(block, rules)
        expect(found).toBeDefined()
        const { redeemer } = found!
        const name = headerHash(block.header)
        expect(engines.cek(mintingOf({ script, redeemer, name }))).toMatchObject({ ok: true })
      },
    )

    it('finds nothing in the honest twins', () => {
      for (const { twin, what } of transactionLies)
        expect(findTransactionFraud(twin, rules), what).toBeUndefined()
    })

    it('compares no values without what inputs stand for', () => {
      const { outputBefore: _, ...block } = transactionLies[0]!.block
      expect(findTransactionFraud(block, rules)).toBeUndefined()
    })
  })

  judgeWithoutRules({
    title: 'transaction_fraud',
    parameters: rulesData(rules),
    breaches: transactionBreaches,
    encode: encodeTransactionFraudProof,
  })
})
