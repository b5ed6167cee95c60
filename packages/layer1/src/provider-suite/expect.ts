import assert from 'node:assert/strict'
import { outputReferenceKey, type TransactionOutput, toHex } from '@ratatosk/ledger'
import { type FailureKind, isLayer1Error, type Layer1Error } from '../errors.js'
import type { Utxo } from '../types.js'

/** Rejects with this kind of failure, which is returned. */
export async function failsWith(kind: FailureKind, work: Promise<unknown>): Promise<Layer1Error> {
  const error: unknown = await work.then(
    () => assert.fail(`it succeeds instead of failing with "${kind}"`),
    (reason: unknown) => reason,
  )
  if (!isLayer1Error(error)) throw error
  assert.equal(error.kind, kind)
  assert.doesNotMatch(JSON.stringify([error.message, error.reason]), /:\/\/|127\.0\.0\.1|localhost/)
  return error
}

/** What an output holds, whatever its bytes. */
export function contentsOf({ address, value, datum, referenceScript }: TransactionOutput) {
  const assets = [...value.assets].flatMap(([policy, names]) =>
    Array.from(names, ([name, quantity]) => `${quantity} ${policy}.${name}`),
  )
  return {
    address: toHex(address.bytes),
    lovelace: value.lovelace,
    assets: assets.sort(),
    datum: datum.kind === 'none' ? 'none' : toHex(datum.kind === 'hash' ? datum.hash : datum.data),
    datumKind: datum.kind,
    script: referenceScript && `${referenceScript.language} ${toHex(referenceScript.bytes)}`,
  }
}

/** The same outputs under the same references, in whatever order. */
export function sameUtxos(found: readonly Utxo[], expected: readonly Utxo[]): void {
  const listed = (utxos: readonly Utxo[]) =>
    utxos
      .map(({ reference, output }) => ({ key: outputReferenceKey(reference), ...contentsOf(output) }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
  assert.deepEqual(listed(found), listed(expected))
}
