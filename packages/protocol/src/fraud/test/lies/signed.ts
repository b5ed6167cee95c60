import { CborWriter, concatBytes } from '@ratatosk/cbor'
import { blake2b256, encodeOutputReference } from '@ratatosk/ledger'
import { keys } from '../../../test/protocol-scene.js'
import { coin } from '../theft.js'

/*
 * Signed transactions whose every part can be chosen.
 */

export const uint = (value: number | bigint): Uint8Array => new CborWriter(16).uint(value).toBytes()
export const bytes = (string: Uint8Array): Uint8Array =>
  new CborWriter(string.length + 16).bytes(string).toBytes()
export const list = (...items: readonly Uint8Array[]): Uint8Array =>
  concatBytes(new CborWriter(16).array(items.length).toBytes(), ...items)
export const map = (...entries: readonly (readonly [Uint8Array, Uint8Array])[]): Uint8Array =>
  concatBytes(new CborWriter(16).map(entries.length).toBytes(), ...entries.flat())

/** Fields of a map, by key. */
type Fields = readonly (readonly [key: number, item: Uint8Array])[]

const own = keys.address.bytes

export const output = (lovelace: bigint, address: Uint8Array = own): Uint8Array =>
  map([uint(0), bytes(address)], [uint(1), uint(lovelace)])

export const ghostKey = encodeOutputReference({ transactionId: new Uint8Array(32).fill(0xee), index: 0 })

/** The sum that a {@link signed} transaction pays by default. */
export const paid = 9_800_000n

export const keyWitness = (id: Uint8Array): Uint8Array =>
  list(bytes(keys.payment.publicKey), bytes(keys.payment.sign(id)))

export interface Plan {
  /** Numbers of outputs of 5 ada. */
  readonly inputs?: readonly number[]
  readonly outputs?: readonly Uint8Array[]
  readonly fee?: bigint
  /** Further fields of the body, or others in the place of those above. */
  readonly fields?: Fields
  /** Of a transaction's id. */
  readonly keyWitnesses?: (id: Uint8Array) => readonly Uint8Array[]
  readonly witnesses?: Fields
  /** The bytes behind the witness set. */
  readonly rest?: Uint8Array
  /** Encodes the body. */
  readonly bodyOf?: (fields: Fields) => Uint8Array
}

const mapOf = (fields: Fields) => map(...fields.map(([key, item]) => [uint(key), item] as const))

/** A transaction that moves the lovelace of two outputs, with the changes of a plan. */
export function signed(plan: Plan = {}): Uint8Array {
  const { inputs = [30, 31], outputs = [output(paid)], fee = 200_000n, witnesses = [] } = plan
  const { keyWitnesses = (id) => [keyWitness(id)], bodyOf = mapOf } = plan
  const { rest = Uint8Array.of(0xf5, 0xf6) } = plan
  const fields = new Map([
    [0, list(...inputs.map(coin))],
    [1, list(...outputs)],
    [2, uint(fee)],
    ...(plan.fields ?? []),
  ])
  const body = bodyOf([...fields])
  const signatures = keyWitnesses(blake2b256(body))
  const own: Fields = signatures.length > 0 ? [[0, list(...signatures)]] : []
  return concatBytes(Uint8Array.of(0x84), body, mapOf([...own, ...witnesses]), rest)
}
