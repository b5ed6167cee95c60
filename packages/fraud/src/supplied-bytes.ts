import { equalBytes } from '@ratatosk/cbor'
import { constr, decodePlutusData, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'

/*
 * Redeemers hold bodies, witness sets and outputs as `Given [bytes]`, and proofs as lists of steps; or the
 * index of a reference input whose inline datum is the same.
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
 * Takes parts out of a redeemer until the rest has at most `room` bytes, or has no more parts: first those
 * that a datum holds already, then the longest.
 *
 * @param isHeld whether there is a datum that is the part
 */
export function outsource(
  redeemer: Uint8Array,
  room: number,
  isHeld: (part: Uint8Array) => boolean = () => false,
): Outsourced {
  const data = decodePlutusData(redeemer)
  const parts: Uint8Array[] = []
  changed(data, (part) => {
    const given = partIn(part)
    if (given && !parts.some((each) => equalBytes(each, given))) parts.push(given)
    return undefined
  })
  // Of about the same length, the first: parts of one proof begin with the same transaction.
  const kibibytes = ({ length }: Uint8Array) => Math.ceil(length / 1024)
  parts.sort((a, b) => Number(isHeld(b)) - Number(isHeld(a)) || kibibytes(b) - kibibytes(a))
  const without = (datums: readonly Uint8Array[], indexes: readonly number[]) =>
    encodePlutusData(
      changed(data, (part) => {
        const given = partIn(part)
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

/** The content of `Given [bytes]`, or a proof; undefined for any other data. */
function partIn(data: PlutusData): Uint8Array | undefined {
  if (typeof data !== 'object' || data instanceof Uint8Array) return undefined
  if (!('fields' in data)) return data.length > 0 && data.every(isStep) ? encodePlutusData(data) : undefined
  const [content, ...others] = data.fields
  const isGiven = data.index === 0 && others.length === 0 && content instanceof Uint8Array
  return isGiven ? encodePlutusData(content) : undefined
}

/** Whether data is a step of a proof: no other list has constructors that begin with a number and go on. */
function isStep(data: PlutusData): boolean {
  if (typeof data !== 'object' || !('fields' in data)) return false
  const [skip, ...others] = data.fields
  return typeof skip === 'bigint' && others.length > 0
}

/** Data with what `change` makes of the parts of it that it does not leave alone. */
function changed(data: PlutusData, change: (part: PlutusData) => PlutusData | undefined): PlutusData {
  const other = change(data)
  if (other !== undefined || typeof data !== 'object' || data instanceof Uint8Array) return other ?? data
  if (!('fields' in data)) return data.map((part) => changed(part, change))
  return constr(data.index, ...data.fields.map((part) => changed(part, change)))
}
