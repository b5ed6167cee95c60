import { toHex } from '@ratatosk/cbor'
import {
  BusyError,
  decimalParameter,
  HttpError,
  hasCode,
  hexParameter,
  InvalidParameterError,
  type Query,
} from '@ratatosk/http'

/** Maximum number of blocks in a response of `/blocks`. */
const maxRange = 100

/** No archive has a block above it: the maximum of PostgreSQL's `bigint`. */
const maxHeight = 2n ** 63n - 1n

/** The requested block; `text` names it in a 404. */
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

/** Parses `{id}`: 56 hex digits are a hash, other decimal digits a height. @throws InvalidParameterError */
export function readBlockParams({ id }: { readonly id: string }): BlockParams {
  const headerHash = hexParameter(id, 28)
  if (headerHash) return { id: { kind: 'hash', headerHash, text: toHex(headerHash) } }
  if (decimalParameter(id) === undefined) throw invalidId(id)
  return { id: { kind: 'height', height: clamped(id), text: id } }
}

/** Parses `{id}` of an invalid block: 56 hex digits. @throws InvalidParameterError */
export function readHashParams({ id }: { readonly id: string }): BlockParams {
  const headerHash = hexParameter(id, 28)
  if (headerHash === undefined) throw invalidId(id)
  return { id: { kind: 'hash', headerHash, text: toHex(headerHash) } }
}

/** Parses the query of `/blocks`. @throws InvalidParameterError */
export function readRange({ from, to }: Query): HeightRange {
  const invalid = new InvalidParameterError(
    'ARCHIVIST',
    'range',
    `from ${from ?? 'nothing'} to ${to ?? 'nothing'}`,
    `Send from and to, the heights of the first and the last of at most ${maxRange} blocks`,
  )
  if (typeof from !== 'string' || typeof to !== 'string') throw invalid
  if (decimalParameter(from) === undefined || decimalParameter(to) === undefined) throw invalid
  const first = BigInt(from)
  const last = BigInt(to)
  if (last < first || last - first >= maxRange) throw invalid
  return { from: clamped(from), to: clamped(to) }
}

function invalidId(id: string): InvalidParameterError {
  return new InvalidParameterError('ARCHIVIST', 'block id', id)
}

function clamped(digits: string): bigint {
  const height = BigInt(digits)
  return height > maxHeight ? maxHeight : height
}

/** 404: the archive does not have the block. */
export class BlockNotFoundError extends HttpError {
  constructor(id: string) {
    super(404, 'ARCHIVIST_BLOCK_NOT_FOUND', `Block not found: ${id}`)
  }
}

/** 503: the maximum number of bodies is being sent. The response has a `Retry-After` header. */
export class TooManyReadsError extends BusyError {
  constructor() {
    super('ARCHIVIST_TOO_MANY_READS', 'Too many block bodies in progress: retry later')
  }
}

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isArchivistError(value: unknown): value is HttpError {
  return hasCode(value, 'ARCHIVIST_')
}
