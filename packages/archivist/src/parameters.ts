import { decimalParameter, hexParameter, type Query } from '@ratatosk/http'
import { toHex } from '@ratatosk/ledger'
import { InvalidBlockIdError, InvalidRangeError } from './errors.js'

/** Blocks in one answer of `/blocks`. */
export const maxRange = 100

/** Beyond it no archive has a block: PostgreSQL's `bigint` ends there. */
const maxHeight = 2n ** 63n - 1n

/** Which block is asked for, and how it is named in a 404. */
export type BlockId =
  | { readonly kind: 'hash'; readonly headerHash: Uint8Array; readonly text: string }
  | { readonly kind: 'height'; readonly height: bigint; readonly text: string }

export interface BlockParams {
  readonly id: BlockId
}

export interface HeightRange {
  readonly from: bigint
  readonly to: bigint
}

/** 56 digits are a hash, though all of them be decimal; fewer or more are a height. */
export function readBlockParams({ id }: { readonly id: string }): BlockParams {
  const headerHash = hexParameter(id, 28)
  if (headerHash) return { id: { kind: 'hash', headerHash, text: toHex(headerHash) } }
  if (decimalParameter(id) === undefined) throw new InvalidBlockIdError(id)
  return { id: { kind: 'height', height: clamped(id), text: id } }
}

export function readRange({ from, to }: Query): HeightRange {
  if (typeof from !== 'string' || typeof to !== 'string') throw new InvalidRangeError(from, to)
  if (decimalParameter(from) === undefined || decimalParameter(to) === undefined)
    throw new InvalidRangeError(from, to)
  const first = BigInt(from)
  const last = BigInt(to)
  if (last < first || last - first >= maxRange) throw new InvalidRangeError(from, to)
  return { from: clamped(from), to: clamped(to) }
}

function clamped(digits: string): bigint {
  const height = BigInt(digits)
  return height > maxHeight ? maxHeight : height
}
