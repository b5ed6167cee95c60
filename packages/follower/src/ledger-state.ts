import { join } from 'node:path'
import { setImmediate as pause } from 'node:timers/promises'
import {
  type Archive,
  type BlockBody,
  BlockError,
  type BlockRules,
  createOutputTrie,
  type Deposit,
  decodeHeader,
  faultOfDeposits,
  type Header,
  inPieces,
  isBlockError,
  judgeBlock,
  type OutputTrie,
  partsOfBody,
  type RightBody,
  verifyBody,
  type WritableArchive,
} from '@ratatosk/block'
import { CborReader, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeOutputReference,
  decodeTransactionOutput,
  encodeOutputReference,
  outputReferenceKey,
  type TransactionOutput,
  type UtxoView,
} from '@ratatosk/ledger'
import type { Log } from '@ratatosk/ports'
import { movedParts } from '@ratatosk/protocol/fraud'
import { createMemoryStore, rootOf, type TrieView } from '@ratatosk/trie'
import { openLmdbStore, openUndamaged } from '@ratatosk/trie/lmdb'
import { open } from 'lmdb'
import { FollowerError } from './errors.js'
import type { GenesisUtxo, InvalidBlock } from './types.js'

/** Revertible states; older ones are rebuilt from bodies. At least the size of an archived batch. */
const keptStates = 64
/** Bytes of references that are kept at most. */
const maxBytes = 64 * 1024 * 1024

/** The unspent outputs after the newest archived block, and the rules that the next block must keep. */
export interface LedgerState {
  /** Root of the unspent outputs, 32 bytes. */
  readonly root: Uint8Array
  /**
   * Verifies a body against a header and the state; see `verifyBody`.
   *
   * @returns the reading that the header commits to; with `FOLLOWER_GENESIS_MISMATCH`, the block may be valid
   * @throws {BlockError} `BLOCK_BODY_MISMATCH`
   */
  verify(body: BlockBody, header: Header): Promise<RightBody>
  /**
   * Judges a block and advances.
   *
   * @param due the deposits that layer 1 has for it; undefined if its header alone says which
   * @throws {BlockError} `BLOCK_INVALID`, with the state unchanged; the error of `verify`;
   *   {ScriptsNotRunError} when scripts could not be run
   */
  apply(right: RightBody, header: Header, due?: readonly Deposit[]): Promise<void>
  /** Advances without judging. @throws {BlockError} `BLOCK_INVALID`, unchanged, if the root differs */
  pass(body: BlockBody, header: Header): Promise<void>
  /** The states before and after an invalid block, to prove what they hold; until `align` is called. */
  accuse(body: BlockBody): Promise<Pick<InvalidBlock, 'before' | 'outputBefore' | 'afterTransactions'>>
  /** Moves to the kept state with a root, else to the archive's newest. Returns whether it has that root. */
  align(signal: AbortSignal, root?: Uint8Array): Promise<boolean>
  close(): Promise<void>
}

/** Options of {@link openLedgerState}. */
export interface LedgerStateOptions {
  readonly archive: Pick<WritableArchive, 'tip' | 'range' | 'body'>
  readonly genesis: readonly GenesisUtxo[]
  readonly rules: BlockRules
  /** Folder of the state; in memory without one. */
  readonly dir?: string | undefined
  readonly log: Log
}

interface SpentByBlock {
  /** Of the state after the block. */
  readonly root: Uint8Array
  /** One reference behind the other: each in an array of its own takes four times as much. */
  readonly outrefs: Uint8Array
}

interface Ledger extends LedgerStateOptions {
  readonly genesisRoot: Uint8Array
  readonly trie: OutputTrie
  readonly outputs: OutputStore
  /**
   * The blocks of the kept states, the oldest first, to delete later what they spent. Outputs that were spent
   * before a restart, or beyond the kept bytes, are never deleted.
   */
  readonly recent: SpentByBlock[]
}

export async function openLedgerState(options: LedgerStateOptions): Promise<LedgerState> {
  const { archive, genesis, rules, dir } = options
  const genesisRoot = await rootOf(
    genesis.map(({ reference, output }) => [encodeOutputReference(reference), output]),
  )
  const store = dir === undefined ? createMemoryStore() : openLmdbStore({ path: dir })
  const trie = createOutputTrie({ store, history: keptStates })
  const outputs = await openOutputs(dir).catch(async (error: unknown) => {
    await trie.close()
    throw error
  })
  const ledger: Ledger = { ...options, genesisRoot, trie, outputs, recent: [] }

  return {
    get root() {
      return trie.root
    },

    verify: (body, header) =>
      verifyBody(
        body,
        header,
        () => trie.outputHash,
        { read: movedParts, bridge: rules.bridge },
        faultOfStart(ledger, header),
      ),

    async apply({ body, outputs: block, error }, header, due) {
      if (error !== undefined) throw error
      const { transactions, deposits = [] } = body
      const fault = due && faultOfDeposits(deposits, due, header)
      if (fault !== undefined) throw fault
      const before = outputsBefore(ledger, block)
      await judgeBlock(transactions, header, before, rules, undefined, deposits)
      await pass(ledger, body, header)
    },

    pass: (body, header) => pass(ledger, body, header),

    async accuse(body) {
      const before = presentView(trie)
      const outputBefore = (key: Uint8Array) => outputOf(outputs, key, before.valueHash(key))
      try {
        await trie.applyDiff(body)
        return { before, outputBefore, afterTransactions: presentView(trie) }
      } catch (error) {
        if (!isBlockError(error)) throw error
        return { before, outputBefore }
      }
    },

    async align(signal, wanted) {
      if (wanted !== undefined && outputs.isComplete && (await revert(ledger, wanted))) return true
      const tip = await archive.tip()
      const root = tip === undefined ? genesisRoot : decodeHeader(tip.header).utxosRoot
      if (!outputs.isComplete || !(await revert(ledger, root)))
        await rebuild(ledger, tip?.height ?? 0n, root, signal)
      return false
    },

    async close() {
      await Promise.all([trie.close(), outputs.close()])
    },
  }
}

/** Why a block does not begin here, if it does not. */
function faultOfStart(
  { trie, genesisRoot }: Ledger,
  { prevUtxosRoot }: Pick<Header, 'prevUtxosRoot'>,
): BlockError | FollowerError | undefined {
  if (equalBytes(trie.root, prevUtxosRoot)) return undefined
  if (equalBytes(trie.root, genesisRoot))
    return new FollowerError(
      'FOLLOWER_GENESIS_MISMATCH',
      'The chain does not begin with the genesis outputs that were given: configure those of the chain',
    )
  return new BlockError('BLOCK_INVALID', 'The block does not begin with the state after the previous block')
}

async function pass(ledger: Ledger, body: BlockBody, header: Header): Promise<void> {
  const fault = faultOfStart(ledger, header)
  if (fault !== undefined) throw fault
  const { trie, outputs, recent } = ledger
  const before = Uint8Array.from(trie.root)
  const produced = body.produced.map(({ outref, output }) => [outref, output] as const)
  const oldest = recent.length > keptStates ? recent.shift() : undefined
  await outputs.update(
    separated(oldest?.outrefs).filter((outref) => !trie.has(outref)),
    produced,
  )
  await trie.applyBlock(body, header)
  // A block that changes nothing makes no state that displaces another.
  if (equalBytes(trie.root, before)) return
  recent.push({ root: trie.root, outrefs: new Uint8Array(Buffer.concat(body.spent)) })
  const bytes = (): number => recent.reduce((sum, { outrefs }) => sum + outrefs.length, 0)
  while (recent.length > 1 && bytes() > maxBytes) recent.shift()
}

async function revert({ trie, recent }: Ledger, root: Uint8Array): Promise<boolean> {
  if (!(await trie.revertInTurns(root))) return false
  while (recent.length > 0 && !equalBytes(recent.at(-1)?.root ?? root, root)) recent.pop()
  return true
}

async function rebuild(ledger: Ledger, height: bigint, root: Uint8Array, signal: AbortSignal): Promise<void> {
  const { archive, genesis, log, outputs, recent, trie } = ledger
  if (height > 0n)
    log.info({ height: Number(height) }, 'Rebuilding the unspent outputs from the archived bodies')
  const unspent = await rebuildUtxos({ archive, genesis, height, signal })
  const entries = function* (): Generator<readonly [Uint8Array, Uint8Array], void> {
    for (const [outref, output] of unspent) yield [fromHex(outref), output]
  }
  outputs.replace(entries())
  recent.length = 0
  if (!equalBytes(await trie.rebuild(entries()), root))
    throw new FollowerError(
      'FOLLOWER_ARCHIVE_MISMATCH',
      `The bodies up to block ${height} do not lead to its utxos_root: ` +
        'restore the archive or the genesis outputs, or start with an empty archive',
    )
}

function presentView(trie: OutputTrie): TrieView {
  const present = trie.at(trie.root)
  if (present === undefined) throw new TypeError('The present state is not kept')
  return present
}

/** The outputs before a block, which has the hashes of those that it spends. */
const outputsBefore = ({ trie, outputs }: Ledger, block: RightBody['outputs']): UtxoView => ({
  get(key): TransactionOutput | undefined {
    const moved = block?.get(key)
    const outref = moved?.outref ?? outrefOf(key)
    const isKnown = moved?.createdBy === undefined && moved?.outputHash.some((byte) => byte !== 0)
    const output = outputOf(outputs, outref, isKnown ? moved?.outputHash : trie.outputHash(outref))
    return output && decodeTransactionOutput(output)
  },
})

/** The CBOR of an output; `hash` is undefined if it is not unspent. */
function outputOf(
  outputs: OutputStore,
  outref: Uint8Array,
  hash: Uint8Array | undefined,
): Uint8Array | undefined {
  if (hash === undefined) return undefined
  const output = outputs.get(outref)
  if (output !== undefined && equalBytes(blake2b256(output), hash)) return output
  const key = outputReferenceKey(decodeOutputReference(outref))
  throw new FollowerError(
    'FOLLOWER_STATE_INCOMPLETE',
    `The folder of the unspent outputs lacks ${key}: remove the folder to rebuild it from the archive`,
  )
}

/** CBOR of the reference with an `outputReferenceKey`. */
function outrefOf(key: string): Uint8Array {
  const separator = key.indexOf('#')
  const transactionId = fromHex(key.slice(0, separator))
  return encodeOutputReference({ transactionId, index: Number(key.slice(separator + 1)) })
}

async function openOutputs(dir: string | undefined): Promise<OutputStore> {
  return dir === undefined ? createMemoryOutputs() : openOutputStore(join(dir, 'outputs'))
}

function separated(outrefs: Uint8Array = new Uint8Array()): readonly Uint8Array[] {
  const reader = new CborReader(outrefs)
  const list: Uint8Array[] = []
  while (reader.position < outrefs.length) {
    const start = reader.position
    reader.skip()
    list.push(reader.since(start))
  }
  return list
}

/**
 * CBOR of outputs by the CBOR of their references. Outputs never change: writes are idempotent, a crash
 * leaves nothing inconsistent, and spent ones may remain. The output trie determines which are unspent.
 */
interface OutputStore {
  /** Whether the store has every output that the trie beside it holds. */
  readonly isComplete: boolean
  get(outref: Uint8Array): Uint8Array | undefined
  /** Deletes outputs, then adds others, durably; other work runs meanwhile. */
  update(
    deleted: Iterable<Uint8Array>,
    outputs: Iterable<readonly [outref: Uint8Array, output: Uint8Array]>,
  ): Promise<void>
  /** Replaces all outputs and sets `isComplete`. */
  replace(outputs: Iterable<readonly [outref: Uint8Array, output: Uint8Array]>): void
  close(): Promise<void>
}

/** Outputs that one transaction changes: a block of 10,000 transfers takes two. */
const changedAtOnce = 16_384

/** Outputs in an LMDB folder. @throws TrieError `TRIE_STORE_CORRUPT` if the folder is damaged */
export function openOutputStore(path: string): OutputStore {
  return openUndamaged(path, () => openFolder(path))
}

function openFolder(path: string): OutputStore {
  const root = open({ path, noSubdir: false, maxDbs: 2, overlappingSync: false })
  const outputs = root.openDB<Buffer, Buffer>({ name: 'outputs', encoding: 'binary', keyEncoding: 'binary' })
  const meta = root.openDB<boolean, string>({ name: 'meta' })
  const put = (entries: Iterable<readonly [Uint8Array, Uint8Array]>): void => {
    for (const [outref, output] of entries) outputs.putSync(asBuffer(outref), asBuffer(output))
  }
  return {
    get isComplete() {
      return meta.get('complete') ?? false
    },
    get: (outref) => outputs.get(asBuffer(outref)),
    async update(deleted, entries) {
      for (const part of inPieces(deleted, changedAtOnce)) {
        root.transactionSync(() => {
          for (const outref of part) outputs.removeSync(asBuffer(outref))
        })
        await pause()
      }
      for (const part of inPieces(entries, changedAtOnce)) {
        root.transactionSync(() => put(part))
        await pause()
      }
    },
    replace: (entries) =>
      root.transactionSync(() => {
        outputs.clearSync()
        put(entries)
        meta.putSync('complete', true)
      }),
    close: () => root.close(),
  }
}

function createMemoryOutputs(): OutputStore {
  const outputs = new Map<string, Uint8Array>()
  const keyOf = (outref: Uint8Array): string => asBuffer(outref).toString('latin1')
  let isComplete = false
  return {
    get isComplete() {
      return isComplete
    },
    get: (outref) => outputs.get(keyOf(outref)),
    async update(deleted, entries) {
      for (const outref of deleted) outputs.delete(keyOf(outref))
      // A copy: the bytes are views of a whole body.
      for (const [outref, output] of entries) outputs.set(keyOf(outref), Uint8Array.from(output))
    },
    replace(entries) {
      outputs.clear()
      for (const [outref, output] of entries) outputs.set(keyOf(outref), output)
      isComplete = true
    },
    async close() {
      outputs.clear()
    },
  }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Options of {@link rebuildUtxos}. */
export interface RebuildOptions {
  readonly archive: Pick<Archive, 'range' | 'body'>
  /** The genesis outputs of the ledger. */
  readonly genesis: readonly GenesisUtxo[]
  /** Height of the block after which the outputs are wanted; 0 for genesis. */
  readonly height: bigint
  /** Aborts the rebuild. */
  readonly signal?: AbortSignal
}

/** Headers read at a time. */
const pageSize = 100n

/**
 * Derives the unspent outputs after a block from archived bodies alone. Holds all of them in memory.
 *
 * @returns CBOR of each output by the hex of its reference's CBOR
 * @throws Error when the archive lacks a block
 * @example
 * const utxos = await rebuildUtxos({ archive: store.archive, genesis, height: 500n })
 */
export async function rebuildUtxos({
  archive,
  genesis,
  height,
  signal,
}: RebuildOptions): Promise<Map<string, Uint8Array>> {
  const utxos = new Map<string, Uint8Array>()
  for (const { reference, output } of genesis) utxos.set(toHex(encodeOutputReference(reference)), output)
  for (let from = 1n; from <= height; from += pageSize) {
    const to = from + pageSize - 1n < height ? from + pageSize - 1n : height
    const blocks = await archive.range(from, to)
    if (blocks.length !== Number(to - from) + 1)
      throw new Error(`The archive lacks blocks from ${from} to ${to}`)
    for (const { headerHash } of blocks) {
      signal?.throwIfAborted()
      for await (const parts of partsOfBody(archive.body(headerHash), Number.POSITIVE_INFINITY)) {
        for (const part of parts) {
          if (part.kind === 'spent') utxos.delete(toHex(part.outref))
          // A copy, because the part is a view that would keep the whole chunk in memory.
          else if (part.kind === 'produced') utxos.set(toHex(part.outref), Uint8Array.from(part.output))
        }
      }
    }
  }
  return utxos
}
