import { equalBytes } from '@ratatosk/cbor'
import { constr, decodePlutusData, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'

/*
 * Redeemers hold bodies, witness sets and outputs as `Given [bytes]`, and `wrongResolvedHash` its openings as
 * `Given [list]`; or the index of a reference input whose inline datum is the same.
 */

/** A redeemer, some parts of which are in datums. */
export interface Outsourced {
  /** Plutus data CBOR of each part. */
  readonly datums: readonly Uint8Array[]
  /** @param indexes where the datums are among the reference inputs */
  redeemer(indexes: readonly number[]): Uint8Array
}

/** Bytes of a part that a datum holds. */
const maxPartLength = 12_288

/** Bytes in parts, each of which a datum can hold. */
export const inParts = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / maxPartLength) }, (_, part) =>
    bytes.subarray(part * maxPartLength, (part + 1) * maxPartLength),
  )

/** Bytes of a redeemer beside which the removal of a block and the slashing fit into a transaction. */
export const roomBesideRemoval = 11_264

/**
 * Takes the longest parts out of a redeemer until the rest has at most `room` bytes, or has no more parts.
 *
 * @param hasLists whether lists are parts too: of `wrongResolvedHash` only
 */
export function outsource(redeemer: Uint8Array, room: number, hasLists: boolean): Outsourced {
  const data = decodePlutusData(redeemer)
  const parts: Uint8Array[] = []
  changed(data, (part) => {
    const given = givenIn(part, hasLists)
    if (given && !parts.some((each) => equalBytes(each, given))) parts.push(given)
    return undefined
  })
  parts.sort((a, b) => b.length - a.length)
  const without = (datums: readonly Uint8Array[], indexes: readonly number[]) =>
    encodePlutusData(
      changed(data, (part) => {
        const given = givenIn(part, hasLists)
        const place = given ? datums.findIndex((each) => equalBytes(each, given)) : -1
        return place < 0 ? undefined : constr(1, BigInt(indexes[place] as number))
      }),
    )
  let rest = redeemer.length
  const count = parts.findIndex(({ length }) => {
    const isEnough = rest <= room
    rest -= length
    return isEnough
  })
  const datums = count < 0 ? parts : parts.slice(0, count)
  return { datums, redeemer: (indexes) => without(datums, indexes) }
}

/** The content of `Given [content]`; undefined for any other data. */
function givenIn(data: PlutusData, hasLists: boolean): Uint8Array | undefined {
  if (typeof data !== 'object' || !('fields' in data)) return undefined
  const [content, ...others] = data.fields
  if (data.index !== 0 || others.length > 0) return undefined
  const isPart = content instanceof Uint8Array || (hasLists && Array.isArray(content))
  return isPart ? encodePlutusData(content as PlutusData) : undefined
}

/** Data with what `change` makes of the parts of it that it does not leave alone. */
function changed(data: PlutusData, change: (part: PlutusData) => PlutusData | undefined): PlutusData {
  const other = change(data)
  if (other !== undefined || typeof data !== 'object' || data instanceof Uint8Array) return other ?? data
  if (!('fields' in data)) return data.map((part) => changed(part, change))
  return constr(data.index, ...data.fields.map((part) => changed(part, change)))
}
