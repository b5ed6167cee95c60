import { CborReader, CborWriter } from '@ratatosk/cbor'
import type { Transaction } from '../index.js'
import { encodeTransaction, setTag } from './encode-transaction.js'
import type { SigningKey } from './keys/types.js'

/** The field of a witness set that holds signatures. */
const signatures = 0

/** The CBOR of a transaction without its signatures. Its id stays the same. */
export function unsigned({ body, witnesses }: Pick<Transaction, 'body' | 'witnesses'>): Uint8Array {
  const others = otherFields(witnesses.bytes)
  const writer = new CborWriter(witnesses.bytes.length + 8).map(others.length)
  for (const field of others) writer.raw(field)
  return encodeTransaction(body.bytes, writer.toBytes())
}

/** The CBOR of a transaction with the signatures of these keys, and no others. */
export function signed(
  { id, body, witnesses }: Pick<Transaction, 'id' | 'body' | 'witnesses'>,
  keys: readonly SigningKey[],
): Uint8Array {
  const others = otherFields(witnesses.bytes)
  const writer = new CborWriter(witnesses.bytes.length + 110 * keys.length + 8).map(others.length + 1)
  writer.uint(signatures).tag(setTag).array(keys.length)
  for (const key of keys) writer.array(2).bytes(key.publicKey).bytes(key.sign(id))
  for (const field of others) writer.raw(field)
  return encodeTransaction(body.bytes, writer.toBytes())
}

/** The fields of a witness set but for the signatures, each with its key, as they are. */
function otherFields(witnesses: Uint8Array): readonly Uint8Array[] {
  const reader = new CborReader(witnesses)
  const count = reader.readMap()
  const fields: Uint8Array[] = []
  for (let index = 0; reader.hasNext(count, index); index++) {
    const start = reader.position
    const key = reader.readUint()
    reader.skip()
    if (key !== signatures) fields.push(reader.since(start))
  }
  return fields
}
