import { toHex } from '@ratatosk/cbor'
import { expect, it } from 'vitest'
import { mintTransaction } from '../plutus/test/mint.js'
import { succeeding } from '../plutus/test/programs.js'
import type { Transaction } from '../transaction/types.js'
import type { RuleContext } from './context.js'
import { redeemerFaults } from './redeemer-faults.js'

const parameters = { ledgerVersion: { major: 10, minor: 0 }, costModels: { PlutusV2: [], PlutusV3: [] } }
const context = { parameters, networkId: 0, slot: 5n, forecastHorizon: 100n } as unknown as RuleContext
const { transaction, utxos } = mintTransaction({ flat: succeeding })
const [key = ''] = utxos.keys()
const [script] = transaction.witnesses.scripts
const [redeemer] = transaction.witnesses.redeemers
const policy = toHex(script!.hash)

function faultsOf(
  { witnesses = {}, body = {} }: { witnesses?: object; body?: object },
  outputs: typeof utxos = utxos,
  of: RuleContext = context,
) {
  const changed = {
    ...transaction,
    witnesses: { ...transaction.witnesses, ...witnesses },
    body: { ...transaction.body, ...body },
  } as Transaction
  return redeemerFaults(changed, outputs, of).map(({ redeemer: { purpose, index }, fault }) => ({
    pointer: `${purpose}:${index}`,
    ...fault,
  }))
}

it('finds none if the script of each redeemer can run', () => {
  expect(faultsOf({})).toEqual([])
  expect(faultsOf({ body: { validityInterval: { invalidBefore: 5n, invalidHereafter: 100n } } })).toEqual([])
})

it('finds redeemers without a script, and scripts that are missing', () => {
  const redeemers = [{ ...redeemer!, index: 9 }, redeemer, { ...redeemer!, purpose: 'spend' as const }]
  expect(faultsOf({ witnesses: { redeemers, scripts: [] } })).toEqual([
    { pointer: 'mint:9', kind: 'Extraneous' },
    { pointer: 'mint:0', kind: 'MissingScript', scriptHash: policy },
    { pointer: 'spend:0', kind: 'Extraneous' },
  ])
})

it('names unknown inputs, also to a redeemer that points to one', () => {
  const redeemers = [redeemer, { ...redeemer!, purpose: 'spend' as const }]
  const unknown = { kind: 'UnknownInputs', references: [key] }
  expect(faultsOf({ witnesses: { redeemers } }, new Map())).toEqual([
    { pointer: 'mint:0', ...unknown },
    { pointer: 'spend:0', ...unknown },
  ])
  expect(faultsOf({ witnesses: { redeemers: [] } }, new Map())).toEqual([])
})

it('finds a language without cost model, and bounds beyond the horizon', () => {
  const without = { ...context, parameters: { ...context.parameters, costModels: {} } }
  expect(faultsOf({}, utxos, without)).toEqual([
    { pointer: 'mint:0', kind: 'NoCostModel', language: 'PlutusV3' },
  ])
  for (const validityInterval of [{ invalidHereafter: 101n }, { invalidBefore: 2n ** 63n }]) {
    expect(faultsOf({ body: { validityInterval } })).toEqual([
      { pointer: 'mint:0', kind: 'BadTranslation', reason: 'TimeTranslationPastHorizon' },
    ])
  }
})
