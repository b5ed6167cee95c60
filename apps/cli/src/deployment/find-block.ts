import type { BlockSource, QueueReading } from '@ratatosk/audit'
import { decodeHeader, type Header, isGenesisHeaderHash } from '@ratatosk/block'
import { equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b224 } from '@ratatosk/ledger'
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
 * Follows an archivist's headers back from layer 1's newest: each has the hash that the next one names, so
 * layer 1 vouches for all.
 * @throws CommandError if a header is missing, or the block is not on the way
 */
export async function findBlock(
  wanted: number | Uint8Array,
  { fault, confirmed, blocks }: QueueReading,
  archivist: BlockSource,
  onHeader: (count: number) => void,
): Promise<FoundBlock> {
  if (fault !== undefined || confirmed === undefined)
    throw new CommandError('CLI_BROKEN_QUEUE', `The state queue is broken: ${fault ?? 'it has no root'}`)
  const newest = blocks.at(-1)?.headerHash ?? confirmed.headerHash
  /** The newest first. */
  const hashes: Uint8Array[] = []
  for (let hash = newest; !isGenesisHeaderHash(hash); ) {
    const { prevHeaderHash } = await headerOf(hash, archivist)
    hashes.push(hash)
    onHeader(hashes.length)
    hash = prevHeaderHash
  }
  const placeOf = (hash: Uint8Array): number => hashes.findIndex((each) => equalBytes(each, hash))
  const place = typeof wanted === 'number' ? hashes.length - wanted : placeOf(wanted)
  const headerHash = hashes[place]
  if (headerHash === undefined) {
    const name = typeof wanted === 'number' ? String(wanted) : toHex(wanted)
    throw new CommandError('CLI_NO_SUCH_BLOCK', `Layer 1 has no block ${name}.`)
  }
  const before = hashes[place + 1]
  const merged = placeOf(confirmed.headerHash)
  return {
    height: hashes.length - place,
    headerHash,
    header: await headerOf(headerHash, archivist),
    before: before && (await headerOf(before, archivist)),
    isMerged: merged >= 0 && merged <= place,
  }
}

async function headerOf(hash: Uint8Array, archivist: BlockSource): Promise<Header> {
  const named = await archivist.header(hash, new AbortController().signal)
  const name = `the block ${toHex(hash)}`
  if (named === undefined) throw incomplete(`it does not have ${name}`)
  if (!equalBytes(blake2b224(named.header), hash)) throw incomplete(`it has another header for ${name}`)
  try {
    return decodeHeader(named.header)
  } catch {
    throw incomplete(`the header of ${name} cannot be read`)
  }
}

const incomplete = (reason: string): CommandError =>
  new CommandError(
    'CLI_ARCHIVE',
    `The archivist does not lead from the newest block of layer 1 to the first: ${reason}. ` +
      'Name another one with --archivist.',
  )
