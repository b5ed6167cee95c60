import type { BlockSource, QueueReading } from '@ratatosk/audit'
import {
  BlockError,
  type BlockRules,
  decodeBlockBody,
  decodeHeader,
  encodedHeader,
  faultOfHeader,
  type Header,
  isBlockError,
  isGenesisHeaderHash,
  isInvalidBlock,
} from '@ratatosk/block'
import { equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { isFollowerError, type LedgerStateOptions, openLedgerState } from '@ratatosk/follower'
import { blake2b224 } from '@ratatosk/ledger'
import type { Deployment } from '@ratatosk/node'
import { CommandError, UsageError } from '../frame/errors.js'

/** A block whose header layer 1 vouches for. */
interface FoundBlock {
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

/** The judged properties of a block, in this order. */
export const judged = [
  'header: its hash, and the chain of hashes to the newest block on layer 1',
  'link: its times and outputs begin where the block before it ends',
  'state before: rebuilt from genesis and all bodies before it, with the root prev_utxos_root',
  'body: every byte, by transactions_root and deposits_root; what leaves, by withdrawals_root',
  'transactions: the rules of the ledger and of layer 2, signatures and scripts included',
  'state after: utxos_root',
] as const

/** The verdict on a block. `another body`: what the archivist serves does not belong to the header. */
export interface Verification {
  readonly verdict: 'valid' | 'invalid' | 'another body'
  readonly transactions: number
  /** Why it is not valid. */
  readonly reason?: string
  /** Of the transaction that breaks a rule, from 0. */
  readonly position?: number
  /** The rules that it breaks. */
  readonly failures?: readonly { readonly predicate: string; readonly message: string }[]
}

/**
 * Judges a block whose header layer 1 vouches for. All outputs before it are in memory. Its deposits are
 * those of the header's root: layer 1 no longer shows those of merged blocks.
 *
 * @throws CommandError if the bodies before it do not lead to it; {ScriptsNotRunError} where scripts could
 *   not be run
 */
export async function verifyBlock(
  block: FoundBlock,
  { archivist, genesis }: Pick<Deployment, 'genesis'> & { readonly archivist: BlockSource },
  rules: BlockRules,
  onBody: (height: number) => void,
): Promise<Verification> {
  const ignored = () => undefined
  const log = { info: ignored, warn: ignored, error: ignored }
  const state = await openLedgerState({
    archive: archiveBefore(block, archivist, onBody),
    genesis,
    rules,
    log,
  })
  await state.align(new AbortController().signal).catch((error: unknown) => {
    // `judgeLink` reports it.
    if (!isFollowerError(error) || error.code !== 'FOLLOWER_ARCHIVE_MISMATCH') throw error
  })
  const bytes = await archivist.body(block.headerHash, new AbortController().signal)
  if (bytes === undefined) throw missingBody(block.height)
  let transactions = 0
  try {
    const body = decodeBlockBody(bytes, undefined, rules.bridge !== undefined)
    transactions = body.transactions.length
    judgeLink(block, state.root)
    const fault = faultOfHeader(block.header, rules.bridge)
    if (fault !== undefined) throw fault
    await state.apply(await state.verify(body, block.header), block.header)
    return { verdict: 'valid', transactions }
  } catch (error) {
    if (!isBlockError(error)) throw error
    const { message, position, failures } = error
    return {
      verdict: isInvalidBlock(error) ? 'invalid' : 'another body',
      transactions,
      reason: message,
      ...(position !== undefined && { position }),
      ...(failures !== undefined && {
        failures: failures.map(({ predicate, message: text }) => ({ predicate, message: text })),
      }),
    }
  }
}

function judgeLink({ header, before, height }: FoundBlock, root: Uint8Array): void {
  if (before !== undefined && header.startTime !== before.endTime)
    throw new BlockError('BLOCK_INVALID', 'The block does not begin where the block before it ends')
  if (header.endTime <= header.startTime)
    throw new BlockError('BLOCK_INVALID', 'The block does not end after it begins')
  const claimed = before?.utxosRoot ?? root
  if (!equalBytes(header.prevUtxosRoot, claimed))
    throw new BlockError('BLOCK_INVALID', 'The block does not begin with the state after the previous block')
  if (!equalBytes(root, claimed))
    throw new CommandError(
      'CLI_ARCHIVE',
      `The bodies before block ${height} do not lead to its prev_utxos_root. The archivist serves other ` +
        'ones, GENESIS_FILE is not that of the deployment, or an earlier block is invalid: run `ratatosk ' +
        'audit`.',
    )
}

/** An archivist as the archive from which the outputs before a block are rebuilt. */
function archiveBefore(
  { height: wanted, before }: FoundBlock,
  archivist: BlockSource,
  onBody: (height: number) => void,
): LedgerStateOptions['archive'] {
  const signal = new AbortController().signal
  let bodies = 0
  return {
    async tip() {
      if (before === undefined) return undefined
      const { hash, bytes } = encodedHeader(before)
      return { headerHash: hash, header: bytes, height: BigInt(wanted - 1), merged: false }
    },
    async range(from, to) {
      const heights = Array.from({ length: Number(to - from) + 1 }, (_, n) => Number(from) + n)
      const headers = []
      for (const height of heights) {
        const block = await archivist.header(height, signal)
        if (block !== undefined) headers.push({ ...block, height: BigInt(height), merged: false })
      }
      return headers
    },
    async *body(headerHash) {
      const body = await archivist.body(headerHash, signal)
      if (body === undefined) throw missingBody(bodies + 1)
      onBody(++bodies)
      yield body
    },
  }
}

const missingBody = (height: number): CommandError =>
  new CommandError(
    'CLI_ARCHIVE',
    `The archivist does not have the body of block ${height}: name another one.`,
  )
