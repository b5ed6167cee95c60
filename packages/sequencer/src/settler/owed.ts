import { createDerivation, createPauses, decodeHeader } from '@ratatosk/block'
import { BytesMap, compareBytes, equalBytes } from '@ratatosk/cbor'
import type { Layer1 } from '@ratatosk/layer1'
import { blake2b256, decodeTransactionOutput, type OutputReference } from '@ratatosk/ledger'
import { byPosition, decodeAnyData, isPlutusDataError } from '@ratatosk/ledger/plutus-data'
import {
  readWithdrawal,
  type Settlement,
  type TakenWithdrawals,
  takeOwed,
  type Withdrawal,
  withdrawalFault,
} from '@ratatosk/protocol'
import type { Block, Blocks } from '@ratatosk/store'
import { createMemoryStore, createTrie, isTrieError, type Trie } from '@ratatosk/trie'
import type { SettlerOptions } from './types.js'

/** Transactions of a block that are read at a time. */
const page = 1000
/** Versions of a map that can be gone back to: more than payouts in flight delete entries. */
const history = 1024

export type OwedContext = Pick<SettlerOptions, 'layer1' | 'contracts' | 'blocks'>

/** A withdrawal in the map of its block. */
export interface OwedEntry {
  /** CBOR of its reference: its key in the map. */
  readonly outref: Uint8Array
  /** CBOR. */
  readonly output: Uint8Array
  /** Blake2b-256 of `outref`. */
  readonly path: Uint8Array
  /** Undefined: no one can pay it. */
  readonly withdrawal: Withdrawal | undefined
  /** Why a payer would pay more than it gets: nodes admit no such output, but a block may have it. */
  readonly fault?: string
}

/** The withdrawals of a block, and which of them are left at a settlement's root. */
export interface Owed {
  /** Goes to the map of a settlement. @returns why that is not possible; undefined if it was */
  goTo(settlement: Settlement, signal?: AbortSignal): Promise<string | undefined>
  /** How many are left. */
  readonly size: number
  /** Those that are left, in ascending order of their paths. */
  left(): Iterable<OwedEntry>
  /** One of those that are left. @param outref CBOR of its reference */
  find(outref: Uint8Array): OwedEntry | undefined
  /** Takes entries out of the map, one after another. */
  take(entries: readonly OwedEntry[]): TakenWithdrawals
}

/** Reads the withdrawals of a block from the store. @returns the reason if that is not possible */
export async function openOwed(context: OwedContext, headerHash: Uint8Array): Promise<Owed | string> {
  const block = await context.blocks.byHash(headerHash)
  if (block === undefined) return 'its block is not in the store'
  const entries = await withdrawalsOf(context, headerHash)
  const owed = new BlockOwed(context, block, entries)
  const root = await owed.reset()
  if (equalBytes(root, decodeHeader(block.header).withdrawalsRoot)) return owed
  return 'its block in the store does not have the withdrawals of its header'
}

async function withdrawalsOf(
  { blocks, contracts, layer1 }: OwedContext,
  headerHash: Uint8Array,
): Promise<readonly OwedEntry[]> {
  const derivation = createDerivation({ bridge: contracts.bridge.place.script.hash })
  const pauseIfDue = createPauses()
  for (let offset = 0; ; offset += page) {
    const transactions = await blocks.transactionsOf(headerHash, { offset, limit: page })
    for (const { cbor } of transactions) {
      await pauseIfDue()
      derivation.add(cbor)
    }
    if (transactions.length < page) break
  }
  const derived = await derivation.deriveInTurns(() => undefined)
  const { coinsPerUtxoByte } = await layer1.parameters()
  const entries = Array.from(derived.withdrawals(), ([key, value]): OwedEntry => {
    const [outref, output] = [Uint8Array.from(key), Uint8Array.from(value)]
    const withdrawal = readWithdrawal(contracts, outref, output)
    const fault = withdrawal && withdrawalFault(contracts, decodeTransactionOutput(output), coinsPerUtxoByte)
    return { outref, output, path: blake2b256(outref), withdrawal, ...(fault !== undefined && { fault }) }
  })
  return entries.sort((a, b) => compareBytes(a.path, b.path))
}

class BlockOwed implements Owed {
  readonly #context: OwedContext
  readonly #block: Block
  /** Ascending by path. */
  readonly #all: readonly OwedEntry[]
  readonly #trie: Trie = createTrie({ store: createMemoryStore(), history })
  /** The newest output of the settlement whose map was found, and its root. */
  #known: { readonly reference: OutputReference; readonly root: Uint8Array } | undefined
  /** None before this one is left. */
  #first = 0

  constructor(context: OwedContext, block: Block, all: readonly OwedEntry[]) {
    this.#context = context
    this.#block = block
    this.#all = all
  }

  get size(): number {
    return this.#trie.size
  }

  /** Goes to the map of the block. @returns its root */
  async reset(): Promise<Uint8Array> {
    this.#first = 0
    const pauseIfDue = createPauses()
    return this.#trie.rebuild(
      this.#all.map(({ outref, output }) => [outref, output] as const),
      pauseIfDue,
    )
  }

  *left(): Generator<OwedEntry, void> {
    for (let index = this.#first; index < this.#all.length; index++) {
      const entry = this.#all[index] as OwedEntry
      if (this.#trie.has(entry.outref)) yield entry
      else if (index === this.#first) this.#first += 1
    }
  }

  find(outref: Uint8Array): OwedEntry | undefined {
    if (!this.#trie.has(outref)) return undefined
    const path = blake2b256(outref)
    let [low, high] = [0, this.#all.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareBytes((this.#all[middle] as OwedEntry).path, path) < 0) low = middle + 1
      else high = middle
    }
    return this.#all[low]
  }

  take(taken: readonly OwedEntry[]): TakenWithdrawals {
    return takeOwed(this.#trie, taken)
  }

  async goTo({ root, utxo }: Settlement, signal?: AbortSignal): Promise<string | undefined> {
    const isFound =
      this.#revert(root) ||
      (await this.#followKnown(root, signal)) ||
      (await this.#deleteInOrder(root)) ||
      (await this.#followFromMerge(root, signal))
    if (!isFound) return 'layer 1 does not show which of its withdrawals are left'
    this.#known = { reference: utxo.reference, root }
    return undefined
  }

  #revert(root: Uint8Array): boolean {
    if (equalBytes(this.#trie.root, root)) return true
    try {
      this.#trie.revert(root)
    } catch (error) {
      if (isTrieError(error) && error.code === 'TRIE_ROOT_UNKNOWN') return false
      throw error
    }
    this.#first = 0
    return true
  }

  /** Whether all are left, or those behind the first ones that this settler would pay. */
  async #deleteInOrder(root: Uint8Array): Promise<boolean> {
    const pauseIfDue = createPauses()
    if (equalBytes(await this.reset(), root)) return true
    for (const { outref, withdrawal } of this.#all) {
      if (withdrawal === undefined) continue
      await pauseIfDue()
      this.#trie.delete(outref)
      if (equalBytes(this.#trie.root, root)) return true
    }
    return false
  }

  /** Follows the payouts from the newest settlement whose map was known. */
  async #followKnown(root: Uint8Array, signal?: AbortSignal): Promise<boolean> {
    const known = this.#known
    return known !== undefined && this.#revert(known.root) && this.#deletePaid(known.reference, root, signal)
  }

  async #followFromMerge(root: Uint8Array, signal?: AbortSignal): Promise<boolean> {
    const { layer1, blocks } = this.#context
    for await (const first of firstSettlements(layer1, blocks, this.#block, signal)) {
      await this.reset()
      if (await this.#deletePaid(first, root, signal)) return true
    }
    return false
  }

  /** Deletes what payouts in blocks of layer 1 have paid, until the map has a root. */
  async #deletePaid(first: OutputReference, root: Uint8Array, signal?: AbortSignal): Promise<boolean> {
    for await (const { outrefs } of payoutsFrom(this.#context.layer1, first, signal)) {
      for (const outref of outrefs) {
        if (!this.#trie.has(outref)) return false
        this.#trie.delete(outref)
      }
      if (equalBytes(this.#trie.root, root)) return true
    }
    return false
  }
}

/** The constructor of `pay` among the redeemers of the bridge. */
const payAction = 1n
/** Where a merge puts the settlement. */
const settlementIndex = 2
/** Changes of a block's element before its merge that are followed. */
const maxChanges = 64
/** Withdrawals of a block whose payouts are named. */
const maxNamed = 10_000

type Spendings = Pick<Layer1, 'spending'>

/** A transaction that pays withdrawals. */
interface Payout {
  readonly transactionId: Uint8Array
  /** CBOR of the references of the withdrawals. */
  readonly outrefs: readonly Uint8Array[]
}

/** The payouts of a settlement, from one of its outputs on, oldest first. In blocks of layer 1 only. */
async function* payoutsFrom(
  layer1: Spendings,
  settlement: OutputReference,
  signal: AbortSignal | undefined,
): AsyncGenerator<Payout, void> {
  let reference = settlement
  for (;;) {
    const spending = await layer1.spending(reference, signal && { signal })
    const outrefs = spending?.redeemer && paidBy(spending.redeemer)
    if (spending === undefined || outrefs === undefined) return
    const { transactionId } = spending
    yield { transactionId, outrefs }
    reference = { transactionId, index: 0 }
  }
}

/** Ids of the payouts of a merged block, by the CBOR of each withdrawal's reference. */
export async function payoutsOf(
  { layer1, blocks }: { readonly layer1: Spendings; readonly blocks: Pick<Blocks, 'byHash'> },
  headerHash: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<BytesMap<Uint8Array>> {
  const block = await blocks.byHash(headerHash)
  if (block?.state === 'merged')
    for await (const first of firstSettlements(layer1, blocks, block, signal)) {
      const found = await namedFrom(layer1, first, signal)
      if (found.size > 0) return found
    }
  return new BytesMap()
}

/** The payouts from an output on. Behind the last one, anyone may spend an output as if it were another. */
async function namedFrom(
  layer1: Spendings,
  first: OutputReference,
  signal: AbortSignal | undefined,
): Promise<BytesMap<Uint8Array>> {
  const found = new BytesMap<Uint8Array>()
  for await (const { transactionId, outrefs } of payoutsFrom(layer1, first, signal)) {
    // Each payout pays something, and nothing twice.
    if (outrefs.length === 0 || outrefs.some((each) => found.has(each))) break
    for (const outref of outrefs) found.set(outref, transactionId)
    if (found.size >= maxNamed) break
  }
  return found
}

/** The references that a settlement's redeemer lists, as the script reads it; undefined if it pays none. */
function paidBy(redeemer: Uint8Array): readonly Uint8Array[] | undefined {
  try {
    const { at, bytesOf, constructorOf, fieldsOf, itemsOf } = byPosition
    const action = decodeAnyData(redeemer)
    if (constructorOf(action) !== payAction) return undefined
    return itemsOf(at(fieldsOf(action), 0)).map((entry) => {
      const [outref] = itemsOf(entry)
      return outref ? bytesOf(outref) : new Uint8Array()
    })
  } catch (error) {
    if (isPlutusDataError(error)) return undefined
    throw error
  }
}

/** The outputs that may be the settlement of a block, as its merge made it. Others are among them. */
async function* firstSettlements(
  layer1: Spendings,
  blocks: Pick<Blocks, 'byHash'>,
  block: Block,
  signal: AbortSignal | undefined,
): AsyncGenerator<OutputReference, void> {
  const { mergeTransaction } = block
  if (mergeTransaction) yield { transactionId: mergeTransaction.id, index: settlementIndex }
  // Another process may have merged it.
  let element = await elementOf(layer1, blocks, block, signal)
  for (let changes = 0; element !== undefined && changes < maxChanges; changes++) {
    const spending = await layer1.spending(element, signal && { signal })
    if (spending === undefined) return
    const { transactionId } = spending
    yield { transactionId, index: settlementIndex }
    // A commit behind it, or the end of one, which changes its link.
    element = { transactionId, index: 0 }
  }
}

/** The output of a block's commit that holds it. Another operator's commit spends the block before. */
async function elementOf(
  layer1: Spendings,
  blocks: Pick<Blocks, 'byHash'>,
  { commitTransaction, previousHeaderHash }: Block,
  signal: AbortSignal | undefined,
): Promise<OutputReference | undefined> {
  if (commitTransaction) return { transactionId: commitTransaction.id, index: 1 }
  const previous = (await blocks.byHash(previousHeaderHash))?.commitTransaction
  if (previous === undefined) return undefined
  const spending = await layer1.spending({ transactionId: previous.id, index: 1 }, signal && { signal })
  return spending && { transactionId: spending.transactionId, index: 1 }
}
