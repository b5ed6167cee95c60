import { Mutex } from 'async-mutex'
import { RootsError } from './errors.js'
import type { MapProof, MapsHandlers } from './threads/maps-thread.js'
import { startThread, type Thread } from './threads/thread.js'

/** Where a block's map comes from. */
interface MapSource {
  /** CBOR of the block's transactions, in order. */
  transactions(): Promise<readonly Uint8Array[]>
  /** CBOR of each of these transactions that the node has. */
  producers(ids: readonly Uint8Array[]): Promise<readonly Uint8Array[]>
  readonly genesis: readonly (readonly [outref: Uint8Array, output: Uint8Array])[]
}

/** The transactions maps of blocks, on a thread of their own that starts when the first one is needed. */
export class TransactionsMaps {
  #thread: Thread<MapsHandlers> | undefined
  #closed = false
  /** One map at a time: two that are built together would need twice the memory. */
  readonly #calls = new Mutex()

  /** @param block names the block; its map is built if it is not there */
  prove(block: string, key: Uint8Array, source: MapSource): Promise<MapProof> {
    return this.#calls.runExclusive(async () => {
      const known = await this.#open().ask('prove', { block, key })
      if (known !== undefined) return known
      const ids = await this.#open().ask('begin', { block, transactions: await source.transactions() })
      const producers = await source.producers(ids)
      await this.#open().ask('finish', { block, producers, genesis: source.genesis })
      const built = await this.#open().ask('prove', { block, key })
      if (built === undefined) throw new Error('The transactions map was not kept')
      return built
    })
  }

  /** Ends the thread. Proofs that are being made reject. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#thread?.terminate()
  }

  #open(): Thread<MapsHandlers> {
    if (this.#closed) throw new RootsError('ROOTS_CLOSED', 'The prover is closed')
    if (this.#thread === undefined || this.#thread.ended) this.#thread = startThread<MapsHandlers>('maps')
    return this.#thread
  }
}
