import { toHex } from '@ratatosk/cbor'
import type { AuditOptions, BlockSource, NodeSource, QueueSource } from './types.js'

/** A source that did not answer. It says nothing about the rollup. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'

  constructor(
    readonly what: string,
    readonly why: string,
  ) {
    super(`${what}: ${why}`)
  }
}

/** The sources of an audit. They reject with {@link Unavailable}, or with the reason of the signal. */
export interface Sources {
  readonly queue: () => ReturnType<QueueSource['read']>
  readonly header: (id: number | Uint8Array) => ReturnType<BlockSource['header']>
  readonly body: (headerHash: Uint8Array) => ReturnType<BlockSource['body']>
  readonly node:
    | {
        readonly queue: () => ReturnType<NodeSource['queue']>
        readonly transactionsOf: (headerHash: string) => ReturnType<NodeSource['transactionsOf']>
        readonly placeOf: (transactionId: string) => ReturnType<NodeSource['placeOf']>
      }
    | undefined
}

export function sourcesOf({ layer1, archivist, node }: AuditOptions, signal: AbortSignal): Sources {
  async function ask<T>(what: string, question: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    try {
      return await question()
    } catch (error) {
      signal.throwIfAborted()
      throw new Unavailable(what, error instanceof Error ? error.message : String(error))
    }
  }
  return {
    queue: () => ask('The state queue on layer 1', () => layer1.read(signal)),
    header: (id) =>
      ask(`The header of block ${typeof id === 'number' ? id : toHex(id)}`, () => archivist.header(id, signal)),
    body: (hash) => ask('The body of a block', () => archivist.body(hash, signal)),
    node: node && {
      queue: () => ask('The state queue of the node', () => node.queue(signal)),
      transactionsOf: (hash) => ask("The node's transactions", () => node.transactionsOf(hash, signal)),
      placeOf: (id) => ask("The node's status of a transaction", () => node.placeOf(id, signal)),
    },
  }
}
