import { headerHash } from '@ratatosk/block'
import { decodeTransaction, minimumFee } from '@ratatosk/ledger'
import { decodePlutusData } from '@ratatosk/ledger/plutus-data'
import { encodeTransactionFraudProof, findFraud, findTransactionFraud } from '@ratatosk/protocol/fraud'
import { describe, expect, it } from 'vitest'
import { type ProvableRules, rulesData, transactionFraudScript } from '../../../fraud-scripts.js'
import { engines, isSecondOpinion, testedEngines } from '../../../test/evaluate.js'
import { payment, type TestBlock } from '../../../test/fraud/blocks.js'
import { mintingOf } from '../../../test/fraud/minting.js'
import { transactionBreaches } from '../../../test/fraud/transaction/breaches.js'
import { itemLies } from '../../../test/fraud/transaction/item-lies.js'
import { transactionLies } from '../../../test/fraud/transaction/lies.js'
import { fee, type Prove } from '../../../test/fraud/transaction/statements.js'
import {
  blockWith,
  keyAddress,
  list,
  map,
  openMap,
  paid,
  rules,
  specials,
  string,
  transactionRulesBrokenBy,
  transfer,
  uint,
} from '../../../test/fraud/transaction/transactions.js'
import { translatePolicy } from '../../../test/fraud/trial.js'
import { judgeWithoutRules, verdictsOf } from '../../../test/fraud/without-rules.js'

const script = transactionFraudScript(rules)

const verdict = verdictsOf(script, encodeTransactionFraudProof)

const rulesOf = (major: number): ProvableRules => ({
  ...rules,
  parameters: { ...rules.parameters, ledgerVersion: { major, minor: 0 } },
})

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

const rules11 = rulesOf(11)
const script11 = transactionFraudScript(rules11)
const verdict11 = verdictsOf(script11, encodeTransactionFraudProof)

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
const least = minimumFee(decodeTransaction(cbor), rules11.parameters, scriptSize)

describe('the transaction policy of ledger version 11', () => {
  const judge = engines.cek
  const judged = (block: TestBlock, prove: Prove, of = verdict11) => judge(of(block, prove(block)))

  it.skipIf(isSecondOpinion)('is another script, which fits into a transaction of layer 1', () => {
    expect(script11.hash).not.toEqual(script.hash)
    expect(script11.bytes.length).toBeLessThan(14_336)
  })

  it.each(lies)('accepts the proof that $what, of the lying block only', async ({ block, twin, prove }) => {
    expect(await transactionRulesBrokenBy(block, rules11)).not.toEqual([])
    expect(await judged(block, prove)).toMatchObject({ ok: true })
    expect(await judged(twin, prove)).toMatchObject({ ok: false })
    expect(findTransactionFraud(twin, rules11)).toBeUndefined()
  })

  it('allows an input as a reference input', async () => {
    const { block, prove } = overlap
    expect(await transactionRulesBrokenBy(block, rules11)).toEqual([])
    expect(findTransactionFraud(block, rules11)).toBeUndefined()
    expect(await judged(block, prove, verdict)).toMatchObject({ ok: true })
    expect(await judged(block, prove)).toMatchObject({ ok: false })
  })

  it('counts the reference script of such an output once', async () => {
    const honest = blockWith(readsWhatItSpends(least))
    expect(await transactionRulesBrokenBy(honest, rules11)).toEqual([])
    expect(findTransactionFraud(honest, rules11)).toBeUndefined()
    // The other policy counts it twice.
    expect(await judged(honest, fee(undefined, 2), verdict)).toMatchObject({ ok: true })
    expect(await judged(honest, fee(undefined, 2))).toMatchObject({ ok: false })

    const lying = blockWith(readsWhatItSpends(least - 1n))
    expect(await transactionRulesBrokenBy(lying, rules11)).toEqual(['FeeTooSmallUTxO'])
    expect(findTransactionFraud(lying, rules11)?.proof.fraud).toBe('feeTooSmall')
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

const account = (header: number) => string(keyAddress(1, header))
const paidTo = (header: number) => ({
  outputs: [map([uint(0), account(header)], [uint(1), uint(paid)])],
})
const withdrawn = (withdrawals: Uint8Array) => ({ fields: [[5, withdrawals] as const] })
/** Items that the ledger does not decode either, but other claims are about. */
const addresses = [
  ['of a false Byron address', 'outputOnOtherNetwork', paidTo(0x82)],
  ['of a type that is none', 'outputOnOtherNetwork', paidTo(0x90)],
  ['of an account', 'outputOnOtherNetwork', paidTo(0xf0)],
  ['of a network that is none', 'outputOnOtherNetwork', paidTo(0x62)],
  ['of a list as an account', 'forbiddenWithdrawal', withdrawn(map([list(), uint(0)]))],
  ['of a payment address as an account', 'forbiddenWithdrawal', withdrawn(openMap([account(0x60), uint(0)]))],
  ['of a list as a withdrawn amount', 'forbiddenWithdrawal', withdrawn(map([account(0xf0), list()]))],
] as const

describe.each([10, 11])('at ledger version %d, an item that is not decoded', (version) => {
  const rules = rulesOf(version)
  const rule = translatePolicy(transactionFraudScript(rules))
  const rulingOf = ({ header }: TestBlock, redeemer: Uint8Array) =>
    rule(decodePlutusData(redeemer), headerHash(header))

  it.each(itemLies)('is proven and found: $what', async ({ block, twin, prove }) => {
    expect(await transactionRulesBrokenBy(block, rules)).toEqual(['malformed'])
    expect(await transactionRulesBrokenBy(twin, rules)).toEqual([])
    expect(rulingOf(block, encodeTransactionFraudProof(block.header, prove(block)))).toBe('accepted')
    for (const proof of [prove(twin), prove(block)])
      expect(rulingOf(twin, encodeTransactionFraudProof(twin.header, proof))).toBe('refused')
    const found = findTransactionFraud(block, rules)
    expect(found?.proof).toMatchObject({ fraud: 'strangeItem' })
    expect(rulingOf(block, found!.redeemer)).toBe('accepted')
    expect(findTransactionFraud(twin, rules)).toBeUndefined()
  })
  it.each(addresses)('is found as another fraud: that %s', async (_what, fraud, plan) => {
    const block = blockWith(plan)
    expect(await transactionRulesBrokenBy(block, rules)).toEqual(['malformed'])
    const found = findTransactionFraud(block, rules)
    expect(found?.proof.fraud).toBe(fraud)
    expect(rulingOf(block, found!.redeemer)).toBe('accepted')
  })
})
