import { headerHash } from '@ratatosk/block'
import { encodeTransactionFraudProof, findTransactionFraud } from '@ratatosk/fraud'
import { decodePlutusData } from '@ratatosk/ledger/plutus-data'
import { describe, expect, it } from 'vitest'
import type { ProvableRules } from '../../../fraud/rules.js'
import { transactionFraudScript } from '../../../fraud/scripts.js'
import type { TestBlock } from '../../../test/fraud/blocks.js'
import { itemLies } from '../../../test/fraud/transaction/items/lies.js'
import { transactionRulesBrokenBy } from '../../../test/fraud/transaction/rules.js'
import {
  blockWith,
  keyAddress,
  list,
  map,
  openMap,
  paid,
  rules as rules10,
  string,
  uint,
} from '../../../test/fraud/transaction/transactions.js'
import { translatePolicy } from '../../../test/fraud/trial.js'

const rulesOf = (major: number): ProvableRules => ({
  ...rules10,
  parameters: { ...rules10.parameters, ledgerVersion: { major, minor: 0 } },
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
