import type { BlockSource, NamedHeader } from '@ratatosk/audit'
import { decodeHeader, genesisHeaderHash, type Header, isGenesisHeaderHash } from '@ratatosk/block'
import { equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b224 } from '@ratatosk/ledger'
import type { DeployedQueue } from '@ratatosk/node'
import { CommandError, UsageError } from '../frame/errors.js'

/** A block whose header layer 1 vouches for. */
export interface FoundBlock {
  readonly height: number
  readonly headerHash: Uint8Array
  readonly header: Header
  /** Of the block before it; undefined for the first one. */
  readonly before: Header | undefined
  readonly isMerged: boolean
}

/** A height or a header hash. @throws UsageError */
export function parseBlock(text: string): number | Uint8Array {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  if (/^[0-9a-f]{56}$/i.test(text)) return fromHex(text)
  throw new UsageError(`"${text}" is no block: name a height from 1, or a header hash of 56 hex digits.`)
}

/**
 * Follows the headers of an archivist from the first to the newest one on layer 1: each contains the hash of
 * the one before it, so that layer 1 vouches for all of them.
 *
 * @throws CommandError if the headers do not lead there, or the block is not among them
 */
export async function findBlock(
  wanted: number | Uint8Array,
  { fault, confirmed, blocks }: DeployedQueue,
  archivist: BlockSource,
  onHeader: (height: number) => void,
): Promise<FoundBlock> {
  if (fault !== undefined || confirmed === undefined)
    throw new CommandError('CLI_BROKEN_QUEUE', `The state queue is broken: ${fault ?? 'it has no root'}`)
  const newest = blocks.at(-1)?.headerHash ?? confirmed.headerHash
  const signal = new AbortController().signal
  let last: NamedHeader | undefined
  let before: Header | undefined
  let found: FoundBlock | undefined
  let merged = isGenesisHeaderHash(confirmed.headerHash) ? 0 : undefined
  for (let height = 1; last ? !equalBytes(last.headerHash, newest) : !isGenesisHeaderHash(newest); height++) {
    const next = await archivist.header(height, signal)
    if (next === undefined) throw incomplete(`it has no block ${height}`)
    const header = headerOf(next, height)
    if (!equalBytes(header.prevHeaderHash, last?.headerHash ?? genesisHeaderHash()))
      throw incomplete(`block ${height} does not name the block before it`)
    const { headerHash } = next
    if (typeof wanted === 'number' ? wanted === height : equalBytes(wanted, headerHash))
      found = { height, headerHash, header, before, isMerged: false }
    if (equalBytes(headerHash, confirmed.headerHash)) merged = height
    onHeader(height)
    last = next
    before = header
  }
  if (found === undefined) {
    const name = typeof wanted === 'number' ? String(wanted) : toHex(wanted)
    throw new CommandError('CLI_NO_SUCH_BLOCK', `Layer 1 has no block ${name}.`)
  }
  return { ...found, isMerged: merged !== undefined && found.height <= merged }
}

function headerOf({ headerHash, header }: NamedHeader, height: number): Header {
  if (!equalBytes(blake2b224(header), headerHash))
    throw incomplete(`the header of block ${height} does not have its hash`)
  try {
    return decodeHeader(header)
  } catch {
    throw incomplete(`the header of block ${height} cannot be read`)
  }
}

const incomplete = (reason: string): CommandError =>
  new CommandError(
    'CLI_ARCHIVE',
    `The archivist does not lead to the newest block of layer 1: ${reason}. ` +
      'Name another one with --archivist.',
  )
