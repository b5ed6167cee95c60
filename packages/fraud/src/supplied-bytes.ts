import { equalBytes } from '@ratatosk/cbor'
import { constr, decodePlutusData, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'

/*
 * Redeemers hold bodies, witness sets and outputs as `Given [bytes]`, or as the index of a reference input
 * whose inline datum is the bytes.
 */

/** The bytes of `Given [bytes]`; undefined for any other data. */
function givenIn(data: PlutusData): Uint8Array | undefined {
  if (typeof data !== 'object' || !('fields' in data)) return undefined
  const [content, ...others] = data.fields
  return data.index === 0 && others.length === 0 && content instanceof Uint8Array ? content : undefined
}

/** Data with what `change` makes of the parts of it that it does not leave alone. */
function changed(data: PlutusData, change: (part: PlutusData) => PlutusData | undefined): PlutusData {
  const other = change(data)
  if (other !== undefined || typeof data !== 'object' || data instanceof Uint8Array) return other ?? data
  if (!('fields' in data)) return data.map((part) => changed(part, change))
  return constr(data.index, ...data.fields.map((part) => changed(part, change)))
}

/** The longest bytes that a redeemer supplies; undefined if there are none. */
export function longestSupplied(redeemer: Uint8Array): Uint8Array | undefined {
  let longest: Uint8Array | undefined
  changed(decodePlutusData(redeemer), (part) => {
    const given = givenIn(part)
    if (given && given.length > (longest?.length ?? 0)) longest = given
    return undefined
  })
  return longest
}

/** A redeemer that takes these bytes from the datum of a reference input, by its index in the transaction. */
export function suppliedByDatum(redeemer: Uint8Array, bytes: Uint8Array, index: number): Uint8Array {
  const data = changed(decodePlutusData(redeemer), (part) => {
    const given = givenIn(part)
    return given && equalBytes(given, bytes) ? constr(1, BigInt(index)) : undefined
  })
  return encodePlutusData(data)
}
