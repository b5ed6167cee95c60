import { headerHash } from '@ratatosk/block'
import { encodeTransactionFraudProof, findTransactionFraud } from '@ratatosk/fraud'
import { describe, expect, it } from 'vitest'
import { rulesData, transactionFraudScript } from '../../../fraud/scripts.js'
import { casesOf } from '../../../test/evaluate.js'
import { mintingOf, openEngines } from '../../../test/fraud/engines.js'
import { transactionBreaches } from '../../../test/fraud/transaction/breaches.js'
import { transactionLies } from '../../../test/fraud/transaction/lies.js'
import { transactionRulesBrokenBy } from '../../../test/fraud/transaction/rules.js'
import { rules } from '../../../test/fraud/transaction/transactions.js'
import { judgeWithoutRules, verdictsOf } from '../../../test/fraud/without-rules.js'

const script = transactionFraudScript(rules)

const verdict = verdictsOf(script, encodeTransactionFraudProof)

describe('the transaction policy', () => {
  const judges = openEngines()

  it('fits into a transaction of layer 1 with 2 kB to spare', () => {
    expect(script.bytes.length).toBeLessThan(14_336)
  })

  it.each(transactionLies)('is about a rule that nodes judge blocks by: $what', async ({ block, twin }) => {
    expect(await transactionRulesBrokenBy(block)).not.toEqual([])
    expect(await transactionRulesBrokenBy(twin)).toEqual([])
  })

  describe.each(Object.entries(judges))('run by %s', (engine, judge) => {
    it.each(casesOf(engine, transactionLies))('accepts the proof that $what', async ({ block, prove }) => {
      expect(await judge(verdict(block, prove(block)))).toMatchObject({ ok: true })
    })

    it.each(casesOf(engine, transactionLies))(
      'refuses, of the honest block, the proof that $what',
      async ({ twin, prove }) => {
        expect(await judge(verdict(twin, prove(twin)))).toMatchObject({ ok: false })
      },
    )
  })

  it.each(transactionLies)('refuses, of an honest block, what shows of another that $what', async (lie) => {
    const { twin, prove, block } = lie
    expect(await judges.cek(verdict(twin, prove(block)))).toMatchObject({ ok: false })
  })

  describe('findTransactionFraud', () => {
    it.each(transactionLies.filter(({ isDecoded }) => isDecoded))(
      'finds a fraud that the policy accepts where $what',
      async ({ block }) => {
        const found = findTransactionFraud(block, rules)
        expect(found).toBeDefined()
        const { redeemer } = found!
        const name = headerHash(block.header)
        expect(await judges.cek(mintingOf({ script, redeemer, name }))).toMatchObject({ ok: true })
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
