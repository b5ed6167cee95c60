import type { Deposit } from '@ratatosk/block'
import { BytesMap, BytesSet, equalBytes, toHex } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
import { encodeOutputReference } from '@ratatosk/ledger'
import type { Block, LedgerEntry, LedgerOutput, Store } from '@ratatosk/store'
import { Mutex } from 'async-mutex'
import { RootsError } from './errors.js'
import type { MapProof, MapsHandlers } from './threads/maps-thread.js'
import { packOutputs } from './threads/packing.js'
import { startThread, type Thread } from './threads/thread.js'
import type { Shown } from './types.js'

/** Transactions that are read from the store at a time. */
const readsAtATime = 32

/** Transactions that are applied at most, in place of reading all outputs after a later block. */
const maxMoved = 50_000n

export type OutputState = Pick<Block, 'headerHash' | 'height' | 'lastSequence' | 'utxosRoot'>

export interface OutputSource {
  outputsAfter(state: OutputState): AsyncIterable<readonly LedgerOutput[]>
  /** The nearest state whose outputs the store has, and the blocks from there to the block, oldest first. */
  wayTo(block: Block): Promise<{ readonly from: OutputState; readonly blocks: readonly Block[] }>
  /** Blocks of the store by ascending height, including both ends. */
  blocks(from: bigint, to: bigint): Promise<readonly Block[]>
  contentOf(headerHash: Uint8Array): Promise<BlockContent>
}

/** The content of a block, from which its maps follow. */
interface BlockContent {
  /** CBOR, in order. */
  readonly transactions: readonly Uint8Array[]
  readonly deposits: readonly Deposit[]
  /** Hash of the bridge's script, in a deployment that has one. */
  readonly bridge: Uint8Array | undefined
}

/** Where a block's map comes from. */
interface MapSource {
  content(): Promise<BlockContent>
  /** The origins of outputs that the block spends or reads, as far as the node has them. */
  producers(ids: readonly Uint8Array[]): Promise<Producers>
  readonly genesis: readonly (readonly [outref: Uint8Array, output: Uint8Array])[]
}

/** The origins of outputs. */
interface Producers {
  /** CBOR of each transaction. */
  readonly producers: readonly Uint8Array[]
  readonly credits: readonly Deposit[]
}

/** The transactions maps of blocks, on a thread of their own that starts when the first one is needed. */
export class TransactionsMaps {
  #thread: Thread<MapsHandlers> | undefined
  #closed = false
  /** The block after which the thread has the outputs. */
  #outputsAfter: OutputState | undefined
  /** One map at a time: two that are built together would need twice the memory. */
  readonly #calls = new Mutex()

  /** @param block names the block; its map is built if it is not there */
  prove(block: string, key: Uint8Array, source: MapSource): Promise<MapProof> {
    return this.#ofMap(block, source, (thread) => thread.ask('prove', { block, key }))
  }

  /** Answers a question about the block's transactions map. @param block as above */
  answer(block: string, question: SummonsQuestion, source: MapSource): Promise<Shown> {
    return this.#ofMap(block, source, (thread) => thread.ask('answer', { block, question }))
  }

  /** Answers a question about the outputs after a block. @throws Error if the store no longer has them */
  answerAboutOutputs(block: Block, question: SummonsQuestion, source: OutputSource): Promise<Shown> {
    const ask = () => this.#open().ask('answerAboutOutputs', { block: toHex(block.headerHash), question })
    return this.#calls.runExclusive(async () => {
      const known = await ask()
      if (known !== undefined) return known
      const before = this.#outputsAfter
      this.#outputsAfter = undefined
      if (before === undefined || !(await this.#follow(before, block, source))) {
        const { from, blocks } = await source.wayTo(block)
        await this.#rebuildOutputs(from, source)
        if (!(await this.#moveOutputs(blocks, block, source)))
          throw new Error('The kept bodies do not lead to the outputs after the block')
      }
      this.#outputsAfter = block
      return present(await ask())
    })
  }

  /** @returns whether the outputs are those after the block now */
  async #follow(from: OutputState, to: Block, source: OutputSource): Promise<boolean> {
    const transactions = to.lastSequence - from.lastSequence
    if (to.height <= from.height || transactions > maxMoved) return false
    const blocks = await source.blocks(from.height + 1n, to.height)
    const newest = blocks.at(-1)
    // A removed block is not the ledger's at its height.
    if (newest === undefined || !equalBytes(newest.headerHash, to.headerHash)) return false
    return this.#moveOutputs(blocks, to, source)
  }

  /** @returns whether the outputs are those after the last block now */
  async #moveOutputs(blocks: readonly Block[], to: Block, source: OutputSource): Promise<boolean> {
    let root = to.utxosRoot
    for (const { headerHash } of blocks) {
      const request = { block: toHex(headerHash), ...(await source.contentOf(headerHash)) }
      // If a block does not follow, as after a removal, the outputs are rebuilt.
      const after = await this.#open()
        .ask('moveOutputs', request)
        .catch(() => undefined)
      if (after === undefined) return false
      root = after
    }
    return equalBytes(root, to.utxosRoot)
  }

  async #rebuildOutputs(block: OutputState, source: OutputSource): Promise<void> {
    try {
      for await (const piece of source.outputsAfter(block))
        await this.#open().ask('addOutputs', ...packOutputs(piece))
      if (!equalBytes(await this.#open().ask('endOutputs', toHex(block.headerHash)), block.utxosRoot))
        throw new Error('The store no longer has the outputs after the block')
    } catch (error) {
      await this.#open()
        .ask('abandonOutputs')
        .catch(() => undefined)
      throw error
    }
  }

  #ofMap<Answer>(
    block: string,
    source: MapSource,
    ask: (thread: Thread<MapsHandlers>) => Promise<Answer | undefined>,
  ): Promise<Answer> {
    return this.#calls.runExclusive(async () => {
      const known = await ask(this.#open())
      if (known !== undefined) return known
      const ids = await this.#open().ask('begin', { block, ...(await source.content()) })
      const producers = await source.producers(ids)
      await this.#open().ask('finish', { block, ...producers, genesis: source.genesis })
      return present(await ask(this.#open()))
    })
  }

  /** Ends the thread when its work is done, until something else is asked. */
  rest(): Promise<void> {
    return this.#calls.runExclusive(async () => {
      await this.#thread?.terminate()
      this.#thread = undefined
      this.#outputsAfter = undefined
    })
  }

  /** Ends the thread. Proofs that are being made reject. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#thread?.terminate()
  }

  #open(): Thread<MapsHandlers> {
    if (this.#closed) throw new RootsError('ROOTS_CLOSED', 'The maps of blocks are closed')
    if (this.#thread === undefined || this.#thread.ended) this.#thread = startThread<MapsHandlers>('maps')
    return this.#thread
  }
}

function present<Answer>(answer: Answer | undefined): Answer {
  if (answer === undefined) throw new Error('The map was not kept')
  return answer
}

/** The parts of a store that the maps of its blocks come from. */
export interface MapStore extends Pick<Store, 'transaction'> {
  readonly blocks: Pick<Store['blocks'], 'byHash' | 'creditsOf' | 'depositsById'> & {
    transactionsOf(headerHash: Uint8Array): Promise<readonly { readonly cbor: Uint8Array }[]>
  }
}

/** @param bridge hash of the bridge's script, in a deployment that has one */
export function mapSources(
  store: MapStore,
  genesis: readonly LedgerEntry[],
  bridge?: Uint8Array,
): (headerHash: Uint8Array) => MapSource {
  const entries = genesis.map(({ reference, output }) => [encodeOutputReference(reference), output] as const)

  async function producersOf(headerHash: Uint8Array, ids: readonly Uint8Array[]): Promise<Producers> {
    const producers: Uint8Array[] = []
    const others: Uint8Array[] = []
    for (let start = 0; start < ids.length; start += readsAtATime) {
      const some = ids.slice(start, start + readsAtATime)
      const found = await Promise.all(some.map((id) => store.transaction(id)))
      for (const [place, cbor] of found.entries())
        if (cbor === undefined) others.push(some[place] as Uint8Array)
        else producers.push(cbor)
    }
    if (bridge === undefined || others.length === 0) return { producers, credits: [] }
    return { producers, credits: await creditedUpTo(store, headerHash, others) }
  }

  return (headerHash) => ({
    content: async () => ({
      transactions: (await store.blocks.transactionsOf(headerHash)).map(({ cbor }) => cbor),
      deposits: await store.blocks.creditsOf(headerHash),
      bridge,
    }),
    producers: (ids) => producersOf(headerHash, ids),
    genesis: entries,
  })
}

/** The credits with these ids of a block and of those before it. */
export async function creditedUpTo(
  { blocks }: Pick<MapStore, 'blocks'>,
  headerHash: Uint8Array,
  ids: readonly Uint8Array[],
): Promise<readonly Deposit[]> {
  const found = await blocks.depositsById(ids)
  const credits = new BytesMap(found.map((credit) => [credit.id, credit] as const))
  const others = found.filter(({ id, output }) => !equalBytes(output, credits.get(id)?.output ?? output))
  const unclear = new BytesSet(others.map(({ id }) => id))
  for (let place = headerHash; unclear.size > 0; ) {
    for (const credit of found)
      if (equalBytes(credit.headerHash, place) && unclear.delete(credit.id)) credits.set(credit.id, credit)
    const block = await blocks.byHash(place)
    // Those of merged blocks are in the ledger, which counts where an id is there twice.
    if (block === undefined || block.state === 'merged') break
    place = block.previousHeaderHash
  }
  return [...credits.values()]
}
