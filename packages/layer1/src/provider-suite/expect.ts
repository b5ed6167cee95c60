import assert from 'node:assert/strict'
import { toHex } from '@ratatosk/cbor'
import { outputReferenceKey, type TransactionOutput, type Utxo } from '@ratatosk/ledger'
import { isLayer1Error, type Layer1Error, type Layer1ErrorCode } from '../errors.js'

/** Asserts that a call rejects with a code, and returns the error. */
export async function failsWith(code: Layer1ErrorCode, work: Promise<unknown>): Promise<Layer1Error> {
  const error: unknown = await work.then(
    () => assert.fail(`succeeded instead of failing with "${code}"`),
    (reason: unknown) => reason,
  )
  if (!isLayer1Error(error)) throw error
  assert.equal(error.code, code)
  assert.doesNotMatch(JSON.stringify([error.message, error.reason]), /:\/\/|127\.0\.0\.1|localhost/)
  return error
}

/** The contents of an output, independent of its encoding. */
function contentsOf({ address, value, datum, referenceScript }: TransactionOutput) {
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

export function sameUtxos(found: readonly Utxo[], expected: readonly Utxo[]): void {
  const listed = (utxos: readonly Utxo[]) =>
    utxos
      .map(({ reference, output }) => ({ key: outputReferenceKey(reference), ...contentsOf(output) }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
  assert.deepEqual(listed(found), listed(expected))
}
