import { CborWriter, concatBytes, fromHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import { addressOfThief, type Theft } from './theft.js'

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
