import { toHex } from '@ratatosk/cbor'
import {
  byReference,
  type Json,
  outputReferenceKey,
  type PredicateFailure,
  type Transaction,
  type UtxoView,
} from '@ratatosk/ledger'
import { addressText } from '../../view/address-text.js'
import { assetsJson, lovelaceJson, purposes, referenceJson } from './output-json.js'

// The details of a failed predicate, in the JSON of Ogmios.

/** A rejected transaction, with what it was validated against, and one failure of it. */
export interface FailureContext {
  readonly transaction: Transaction
  readonly utxos: UtxoView
  readonly keyDeposit: bigint
  readonly network: 'mainnet' | 'testnet'
  readonly slot: bigint
  readonly details: PredicateFailure['details']
}

export function integrity({ details }: FailureContext): unknown {
  return {
    providedScriptIntegrity: details.supplied ?? null,
    computedScriptIntegrity: details.expected ?? null,
  }
}

export function nonAdaCollateral({ transaction, utxos }: FailureContext): unknown {
  const outputs = transaction.body.collateralInputs.flatMap((reference) => {
    const output = utxos.get(outputReferenceKey(reference))
    return output === undefined ? [] : [output]
  })
  const lovelace = outputs.reduce((sum, { value }) => sum + value.lovelace, 0n)
  return {
    unsuitableCollateralValue: Object.assign(
      lovelaceJson(lovelace),
      ...outputs.map(({ value }) => assetsJson(value.assets)),
    ),
  }
}

export function mismatchReason({ description, failures }: FailureContext['details']): string {
  const reasons = entries(failures).map(({ purpose, index, message, logs }) => {
    const traces = Array.isArray(logs) && logs.length > 0 ? ` (traces: ${logs.join('; ')})` : ''
    return `${purpose}:${index} ${message}${traces}`
  })
  return [String(description), ...reasons].join(': ')
}

/** The outputs that a failure names by index; the collateral return follows the other outputs. */
export function failedOutputs({ transaction, details }: FailureContext) {
  const { outputs, collateralReturn } = transaction.body
  const all = collateralReturn === undefined ? outputs : [...outputs, collateralReturn]
  return entries(details.outputs).flatMap(({ output }) => all[Number(output)] ?? [])
}

export function pointers(redeemers: Json | undefined) {
  return entries(redeemers).map(({ purpose, index }) => ({
    purpose: purposes[purpose as keyof typeof purposes],
    index,
  }))
}

/** @param credential `key:<hash>` or `script:<hash>`, as in the details of a predicate */
export function credentialJson(credential: Json | undefined) {
  const [kind, hash = ''] = String(credential).split(':')
  return { from: kind === 'script' ? 'script' : 'verificationKey', hash }
}

/** The purpose of a missing redeemer. The ledger numbers inputs by reference. */
export function scriptPurpose({ transaction }: FailureContext) {
  const inputs = [...transaction.body.inputs].sort(byReference).map(outputReferenceKey)
  return ({ purpose, index, scriptHash }: { readonly [key: string]: Json }): unknown => {
    if (purpose === 'spend') return { purpose, outputReference: referenceJson(inputs[Number(index)] ?? '') }
    if (purpose === 'mint') return { purpose, policy: scriptHash }
    const accounts = transaction.body.withdrawals.map(({ account }) => account)
    const account = accounts.find((each) => each.kind === 'reward' && toHex(each.stake.hash) === scriptHash)
    return { purpose: 'withdraw', rewardAccount: account && addressText(account) }
  }
}

export function references(inputs: Json | undefined) {
  return (Array.isArray(inputs) ? inputs : []).map((input) => referenceJson(String(input)))
}

export function units(json: Json | undefined) {
  const [{ memory, steps } = {}] = entries([json ?? null])
  return { memory: amount(memory), cpu: amount(steps) }
}

export function entries(json: Json | undefined): readonly { readonly [key: string]: Json }[] {
  if (!Array.isArray(json)) return []
  return json.filter((entry) => typeof entry === 'object' && entry !== null && !Array.isArray(entry))
}

export function amount(json: Json | undefined): bigint {
  return BigInt(String(json ?? 0))
}
