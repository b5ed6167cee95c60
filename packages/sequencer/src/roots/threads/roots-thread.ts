import {
  type BlockInterval,
  createDerivation,
  createOutputTrie,
  creditFees,
  type Deposit,
  type Derivation,
  decodeTransactionAt,
  type FeeTarget,
  fitOf,
  isBlockError,
  type OutputTrie,
  transactionsRoot,
} from '@ratatosk/block'
import type { SummonsQuestion } from '@ratatosk/contracts'
import type { ValidityInterval } from '@ratatosk/ledger'
import { answerAboutNode, type NodeAnswer } from '@ratatosk/protocol/fraud'
import { createMemoryStore, proofToCbor, rootOf } from '@ratatosk/trie'
import { openLmdbStore } from '@ratatosk/trie/lmdb'
import type { BlockRoots, Misfits, OutputProof, PaidRoots, RootsOptions } from '../types.js'
import {
  beginRebuild,
  type PackedBytes,
  type PackedOutputs,
  type Rebuild,
  unpack,
  unpackOutputs,
} from './packing.js'
import { serve } from './thread.js'

// The program of the thread that keeps the unspent outputs and computes the roots of blocks.

let trie: OutputTrie | undefined
let rebuild: Rebuild | undefined
let ahead: Ahead | undefined
let bridge: Uint8Array | undefined

/** Nodes that are freed at once: some 10 ms. */
const freedAtOnce = 3000

/** Bytes of transactions between two tests of a block against the trie: more than 10,000 transfers have. */
const bytesBetweenTests = 4 * 1024 * 1024

const handlers = {
  open({ path, history = 64, bridge: hash }: RootsOptions): void {
    bridge = hash
    const store = path === undefined ? createMemoryStore() : openLmdbStore({ path, freesLater: true })
    trie = createOutputTrie({ store, history })
  },

  root: () => Uint8Array.from(opened().root),

  apply: (block: BlockContent) => apply(contentOf(block)),

  applyWithin: (block: BlockContent & Conditions) => applyWithin(contentOf(block), block),

  prepare: (request: { readonly transactions: PackedBytes; readonly after: number }) =>
    prepare(request.transactions, request.after),

  /** Frees a piece; returns how many nodes are left. */
  free: () => opened().free(freedAtOnce),

  revert(root: Uint8Array): boolean {
    ahead = undefined
    return opened().revert(root)
  },

  prove({
    root,
    outref,
  }: {
    readonly root: Uint8Array
    readonly outref: Uint8Array
  }): OutputProof | undefined {
    const view = opened().at(root)
    if (view === undefined) return undefined
    const isUnspent = view.has(outref)
    return { isUnspent, proof: proofToCbor(isUnspent ? view.prove(outref) : view.proveAbsence(outref)) }
  },

  answer({
    root,
    question,
  }: {
    readonly root: Uint8Array
    readonly question: SummonsQuestion
  }): NodeAnswer | 'no such node' | 'not kept' {
    const trie = opened().at(root)
    return trie === undefined ? 'not kept' : (answerAboutNode(question, { trie }) ?? 'no such node')
  },

  /** Begins a rebuild with its first piece. Resolves when the trie can take the next piece. */
  addToRebuild(piece: PackedOutputs): Promise<void> {
    rebuild ??= beginRebuild(opened())
    return rebuild.add(unpackOutputs(piece))
  },

  endRebuild(): Promise<Uint8Array> {
    ahead = undefined
    const ending = rebuild ?? beginRebuild(opened())
    rebuild = undefined
    return ending.end()
  },

  async abandonRebuild(): Promise<void> {
    const abandoned = rebuild
    rebuild = undefined
    await abandoned?.abandon()
  },

  close: () => trie?.close(),
}

export type RootsHandlers = typeof handlers

serve(handlers)

function opened(): OutputTrie {
  if (trie === undefined) throw new Error('The trie is not open')
  return trie
}

interface BlockContent {
  readonly transactions: PackedBytes
  readonly deposits: readonly Deposit[]
}

/** The conditions of a block that this node builds. */
interface Conditions {
  readonly interval: BlockInterval
  readonly feesTo: FeeTarget | undefined
}

/** Derived from a block's transactions, which are not kept: collecting them takes longer than decoding. */
interface Content {
  /** The validity intervals, by position. */
  readonly intervals: ValidityInterval[]
  readonly derivation: Derivation
}

/** The expected beginning of the next block. The trie has prepared it. */
interface Ahead extends Content {
  readonly packed: PackedBytes[]
}

/** The content of a block; what was prepared is used if the block begins with it. */
function contentOf({ transactions, deposits }: BlockContent): Content {
  const prepared = ahead !== undefined && beginsWith(transactions, ahead.packed) ? ahead : undefined
  ahead = undefined
  const content = prepared ?? { intervals: [], derivation: createDerivation({ bridge }) }
  for (const deposit of deposits) content.derivation.deposit(deposit)
  addTo(content, unpack(transactions).slice(content.intervals.length))
  return content
}

function addTo({ intervals, derivation }: Content, items: readonly Uint8Array[]): void {
  let untested = 0
  for (const cbor of items) {
    const transaction = decodeTransactionAt(cbor, intervals.length)
    intervals.push(transaction.body.validityInterval)
    derivation.add(transaction)
    untested += cbor.length
    if (untested < bytesBetweenTests) continue
    // A block of another operator may spend millions of outputs that do not exist: it is refused at the first
    // ones, because a derivation takes some forty times the bytes of inputs.
    opened().prepareDerivation(derivation)
    untested = 0
  }
}

/** Whether the first byte strings are those of the pieces. */
function beginsWith({ bytes, ends }: PackedBytes, pieces: readonly PackedBytes[]): boolean {
  let item = 0
  let start = 0
  for (const piece of pieces) {
    const { length } = piece.bytes
    if (Buffer.compare(bytes.subarray(start, start + length), piece.bytes) !== 0) return false
    for (const end of piece.ends) if (ends[item++] !== start + end) return false
    start += length
  }
  return true
}

function prepare(packed: PackedBytes, after: number): number {
  const content =
    after === 0 ? { intervals: [], derivation: createDerivation({ bridge }), packed: [] } : ahead
  ahead = undefined
  if (content?.intervals.length !== after) return 0
  try {
    addTo(content, unpack(packed))
    opened().prepareDerivation(content.derivation)
  } catch (error) {
    // `apply` reports it.
    if (isBlockError(error)) return 0
    throw error
  }
  content.packed.push(packed)
  ahead = content
  return content.intervals.length
}

async function apply({ derivation }: Content): Promise<BlockRoots> {
  const trie = opened()
  const before = Uint8Array.from(trie.root)
  const derived = trie.applyDerivation(derivation)
  try {
    return {
      utxosRoot: Uint8Array.from(trie.root),
      transactionsRoot: await transactionsRoot(derived),
      depositsRoot: Uint8Array.from(await rootOf(derived.deposits())),
      withdrawalsRoot: Uint8Array.from(await rootOf(derived.withdrawals())),
    }
  } catch (error) {
    trie.revert(before)
    throw error
  }
}

async function applyWithin(content: Content, { interval, feesTo }: Conditions): Promise<PaidRoots | Misfits> {
  const expired: number[] = []
  const notBegun: number[] = []
  for (const [position, validity] of content.intervals.entries()) {
    const fit = fitOf(validity, interval)
    if (fit === 'not begun') notBegun.push(position)
    else if (fit !== 'within') expired.push(position)
  }
  if (expired.length + notBegun.length > 0) return { expired, notBegun }
  const fees = feesTo && creditFees(content.derivation, feesTo)
  return { ...(await apply(content)), ...(fees && { fees }) }
}
