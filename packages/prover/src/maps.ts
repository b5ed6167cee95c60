import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Answer, Exchanges, Kind, MapProof, Question } from './maps-protocol.js'

/** From source, as in tests, the thread needs the compiled program: Node.js cannot load the other. */
const program = import.meta.url.endsWith('.ts')
  ? new URL('../dist/maps-thread.js', import.meta.url)
  : new URL('./maps-thread.js', import.meta.url)

/** Where a block's map comes from. */
export interface MapSource {
  /** CBOR of the block's transactions, in order. */
  transactions(): Promise<readonly Uint8Array[]>
  /** CBOR of each of these transactions that the node has. */
  producers(ids: readonly Uint8Array[]): Promise<readonly Uint8Array[]>
  readonly genesis: readonly (readonly [outref: Uint8Array, output: Uint8Array])[]
}

/** The transactions maps of blocks, on a thread of their own that starts when the first one is needed. */
export class TransactionsMaps {
  #worker: Worker | undefined
  #closed = false
  #next = 0
  readonly #waiting = new Map<
    number,
    { resolve(answer: Exchanges[Kind]['answer']): void; reject(error: Error): void }
  >()

  /** @param block names the block; its map is built if it is not there */
  async prove(block: string, key: Uint8Array, source: MapSource): Promise<MapProof> {
    const known = await this.#ask('prove', { block, key })
    if (known !== undefined) return known
    const { producers } = await this.#ask('begin', { block, transactions: await source.transactions() })
    await this.#ask('finish', {
      block,
      producers: await source.producers(producers),
      genesis: source.genesis,
    })
    const built = await this.#ask('prove', { block, key })
    if (built === undefined) throw new Error('The transactions map was not kept')
    return built
  }

  async close(): Promise<void> {
    this.#closed = true
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  #ask<K extends Kind>(kind: K, request: Exchanges[K]['request']): Promise<Exchanges[K]['answer']> {
    if (this.#closed) throw new Error('The prover is closed')
    const id = this.#next++
    const answer = new Promise<Exchanges[Kind]['answer']>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
    })
    this.#thread().postMessage({ id, kind, request } satisfies Question)
    return answer as Promise<Exchanges[K]['answer']>
  }

  #thread(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const worker = new Worker(program, { name: 'transactions maps' })
    this.#worker = worker
    worker.on('message', (message: Answer) => {
      const asked = this.#waiting.get(message.id)
      this.#waiting.delete(message.id)
      if ('answer' in message) asked?.resolve(message.answer)
      else asked?.reject(new Error(message.error))
    })
    const end = (error: unknown) => {
      if (this.#worker === worker) this.#worker = undefined
      for (const { reject } of this.#waiting.values())
        reject(new Error('The thread of transactions maps has ended', { cause: error }))
      this.#waiting.clear()
    }
    once(worker, 'exit').then(end, end)
    return worker
  }
}
