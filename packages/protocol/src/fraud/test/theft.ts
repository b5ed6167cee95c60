import { partsOf } from '@ratatosk/block'
import { CborWriter, concatBytes, fromHex } from '@ratatosk/cbor'
import { blake2b256, encodeOutputReference } from '@ratatosk/ledger'
import { keys, otherKeys } from '../../test/protocol-scene.js'

export const addressOfThief = concatBytes(Uint8Array.of(0x60), otherKeys.payment.hash)

/** A number in 8 bytes. */
export const eight = (number: bigint): Uint8Array => fromHex(number.toString(16).padStart(16, '0'))

/** The reference of an output of 5 ada before the blocks. */
export const coin = (index: number) =>
  encodeOutputReference({ transactionId: new Uint8Array(32).fill(0xaa), index })

export interface Theft {
  readonly witnesses?: Uint8Array
  /** Entries of the body before the others. */
  readonly before?: readonly Uint8Array[]
  readonly inputs?: readonly number[]
  readonly lovelace?: bigint
  /** How many outputs, of so much. */
  readonly outputs?: number
  /** CBOR of each instead. */
  readonly output?: Uint8Array
  readonly fee?: bigint
  /** Entries of the body behind the others. */
  readonly behind?: readonly Uint8Array[]
  /** The bytes behind the witness set. */
  readonly rest?: Uint8Array
}

const paid = (lovelace: bigint): Uint8Array =>
  new CborWriter().map(2).uint(0).bytes(addressOfThief).uint(1).uint(lovelace).toBytes()

/** Spends outputs of 5 ada of another owner, and pays the thief. */
export function theft({
  witnesses = fromHex('a0'),
  before = [],
  inputs = [30],
  lovelace = 4_500_000n,
  outputs = 1,
  output = paid(lovelace),
  fee = 500_000n,
  behind = [],
  rest = fromHex('f5f6'),
}: Theft): Uint8Array {
  const writer = new CborWriter(8192)
    .array(4)
    .map(3 + before.length + behind.length)
    .raw(concatBytes(...before))
  writer.uint(0).array(inputs.length)
  for (const index of inputs) writer.raw(coin(index))
  writer
    .uint(1)
    .array(outputs)
    .raw(concatBytes(...new Array<Uint8Array>(outputs).fill(output)))
  writer
    .uint(2)
    .uint(fee)
    .raw(concatBytes(...behind))
  return writer.raw(witnesses).raw(rest).toBytes()
}

/** The same by the owner of the outputs. */
export function signedTheft(what: Theft): Uint8Array {
  const { publicKey, sign } = keys.payment
  const signature = sign(partsOf(theft(what)).id)
  return theft({
    ...what,
    witnesses: concatBytes(fromHex('a10081825820'), publicKey, fromHex('5840'), signature),
  })
}

/*
 * Items that the ledger does not decode although no claim shows it, in transactions that take nothing.
 */

/** A transaction label that is a text. */
const data = fromHex('a1616100')
const auxiliaryData: Theft = {
  behind: [concatBytes(fromHex('075820'), blake2b256(data))],
  rest: concatBytes(Uint8Array.of(0xf5), data),
}

const outputOf = (lovelace: bigint, address: Uint8Array, ...fields: readonly Uint8Array[]): Uint8Array => {
  const writer = new CborWriter(2048)
    .map(2 + fields.length)
    .uint(0)
    .bytes(address)
    .uint(1)
    .uint(lovelace)
  return writer.raw(concatBytes(...fields)).toBytes()
}

/** With a pointer that does not end. */
const pointer = concatBytes(Uint8Array.of(0x40), addressOfThief.subarray(1), fromHex('ffffffff'))

const tagged = (content: Uint8Array): Uint8Array =>
  concatBytes(fromHex('d818'), new CborWriter(2048).bytes(content).toBytes())

/** A list of 1,200 numbers, and of a value that is no data. */
const list = concatBytes(fromHex('9904b1'), new Uint8Array(1200), Uint8Array.of(0xf6))
const datum = concatBytes(fromHex('028201'), tagged(list))

/** Any of 400 that hold, and of a number, which is no script. */
const any = concatBytes(fromHex('8202990191'), fromHex('820180'.repeat(400)), Uint8Array.of(0))
const script = concatBytes(Uint8Array.of(3), tagged(concatBytes(fromHex('8200'), any)))

/** An output that holds a script beside a bad pointer. @param script CBOR of `[language, script]` */
export const holding = (script: Uint8Array): Uint8Array =>
  outputOf(5_000_000n, pointer, concatBytes(Uint8Array.of(3), tagged(script)))

/** Transactions that spend two outputs, and pay so much. */
export const undecodedOf = (lovelace: bigint): Readonly<Record<string, Theft>> => ({
  'auxiliary data': { ...auxiliaryData, lovelace },
  'a stake pointer': { output: outputOf(lovelace, pointer) },
  'an inline datum': { output: outputOf(lovelace, addressOfThief, datum) },
  'a reference script': { output: outputOf(lovelace, addressOfThief, script) },
})
