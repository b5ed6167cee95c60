import { encodeTransactionFraudProof, findFraud, findTransactionFraud } from '@ratatosk/fraud'
import { decodeTransaction, minimumFee } from '@ratatosk/ledger'
import { describe, expect, it } from 'vitest'
import type { ProvableRules } from '../../../fraud/rules.js'
import { transactionFraudScript } from '../../../fraud/scripts.js'
import { engines, isSecondOpinion } from '../../../test/evaluate.js'
import { payment, type TestBlock } from '../../../test/fraud/blocks.js'

import { transactionLies } from '../../../test/fraud/transaction/lies.js'
import { transactionRulesBrokenBy } from '../../../test/fraud/transaction/rules.js'
import { fee, type Prove } from '../../../test/fraud/transaction/statements.js'
import {
  blockWith,
  rules as rules10,
  specials,
  transfer,
} from '../../../test/fraud/transaction/transactions.js'
import { verdictsOf } from '../../../test/fraud/without-rules.js'

const rulesOf = (major: number): ProvableRules => ({
  ...rules10,
  parameters: { ...rules10.parameters, ledgerVersion: { major, minor: 0 } },
})
const rules = rulesOf(11)
const script = transactionFraudScript(rules)
const verdict = verdictsOf(script, encodeTransactionFraudProof)
const verdict10 = verdictsOf(transactionFraudScript(rules10), encodeTransactionFraudProof)

const overlap = transactionLies.find(({ what }) => what === 'an input is a reference input')!
const lies = transactionLies.filter((lie) => lie !== overlap)

const scriptSize = 2000
/** Spends an output with a reference script and reads it. */
const readsWhatItSpends = (paid: bigint) => ({
  inputs: [specials.plutus],
  referenceInputs: [specials.plutus],
  outputs: [payment(60, 50_000_000n - paid)],
  fee: paid,
})
const { cbor } = transfer(readsWhatItSpends(200_000n))
const least = minimumFee(decodeTransaction(cbor), rules.parameters, scriptSize)

describe('the transaction policy of ledger version 11', () => {
  const judge = engines.cek
  const judged = (block: TestBlock, prove: Prove, of = verdict) => judge(of(block, prove(block)))

  it.skipIf(isSecondOpinion)('is another script, which fits into a transaction of layer 1', () => {
    expect(script.hash).not.toEqual(transactionFraudScript(rules10).hash)
    expect(script.bytes.length).toBeLessThan(14_336)
  })

  it.each(lies)('accepts the proof that $what, of the lying block only', async ({ block, twin, prove }) => {
    expect(await transactionRulesBrokenBy(block, rules)).not.toEqual([])
    expect(await judged(block, prove)).toMatchObject({ ok: true })
    expect(await judged(twin, prove)).toMatchObject({ ok: false })
    expect(findTransactionFraud(twin, rules)).toBeUndefined()
  })

  it('allows an input as a reference input', async () => {
    const { block, prove } = overlap
    expect(await transactionRulesBrokenBy(block, rules)).toEqual([])
    expect(findTransactionFraud(block, rules)).toBeUndefined()
    expect(await judged(block, prove, verdict10)).toMatchObject({ ok: true })
    expect(await judged(block, prove)).toMatchObject({ ok: false })
  })

  it('counts the reference script of such an output once', async () => {
    const honest = blockWith(readsWhatItSpends(least))
    expect(await transactionRulesBrokenBy(honest, rules)).toEqual([])
    expect(findTransactionFraud(honest, rules)).toBeUndefined()
    // The other policy counts it twice.
    expect(await judged(honest, fee(undefined, 2), verdict10)).toMatchObject({ ok: true })
    expect(await judged(honest, fee(undefined, 2))).toMatchObject({ ok: false })

    const lying = blockWith(readsWhatItSpends(least - 1n))
    expect(await transactionRulesBrokenBy(lying, rules)).toEqual(['FeeTooSmallUTxO'])
    expect(findTransactionFraud(lying, rules)?.proof.fraud).toBe('feeTooSmall')
    expect(await judged(lying, fee(undefined, 2))).toMatchObject({ ok: true })
  })

  it.each([8, 12])('does not exist for ledger version %i, and only other policies are searched', (major) => {
    expect(() => transactionFraudScript(rulesOf(major))).toThrow(
      expect.objectContaining({
        code: 'CONTRACTS_INVALID_PARAMETER',
        message: expect.stringContaining(`ledgerVersion must be one of 9, 10, 11, not ${major}`),
      }),
    )
    // These transactions lack witnesses too.
    const { block } = lies[0]!
    const found = (version: number) => findFraud({ ...block, keys: [] }, rulesOf(version))?.policy
    expect([found(11), found(major)]).toEqual(['transaction', 'witness'])
  })
})
