import { toHex } from '@ratatosk/cbor'
import type {
  AuditOptions,
  BlockSource,
  HeldOutput,
  JudgedBlock,
  NodeSource,
  QueueSource,
  RuleBreach,
} from './types.js'

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
  readonly judge: (block: JudgedBlock) => Promise<RuleBreach | undefined>
  readonly node:
    | {
        readonly queue: () => ReturnType<NodeSource['queue']>
        readonly transactionsOf: (headerHash: string) => ReturnType<NodeSource['transactionsOf']>
        readonly placeOf: (transactionId: string) => ReturnType<NodeSource['placeOf']>
        readonly unspentOutputs: (derived: Iterable<Uint8Array>) => AsyncGenerator<HeldOutput, void>
        readonly transaction: (transactionId: string) => ReturnType<NodeSource['transaction']>
        readonly spenderOf: (key: string) => ReturnType<NodeSource['spenderOf']>
      }
    | undefined
}

export function sourcesOf({ layer1, archivist, judge, node }: AuditOptions, signal: AbortSignal): Sources {
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
      ask(`The header of block ${typeof id === 'number' ? id : toHex(id)}`, () =>
        archivist.header(id, signal),
      ),
    body: (hash) => ask('The body of a block', () => archivist.body(hash, signal)),
    judge: (block) => ask('The rules of a block', async () => judge?.(block, signal)),
    node: node && {
      queue: () => ask('The state queue of the node', () => node.queue(signal)),
      transactionsOf: (hash) => ask('A block of the node', () => node.transactionsOf(hash, signal)),
      placeOf: (id) => ask('The place of a transaction in the node', () => node.placeOf(id, signal)),
      async *unspentOutputs(derived) {
        const outputs = node.unspentOutputs(derived, signal)[Symbol.asyncIterator]()
        for (;;) {
          const next = await ask('The unspent outputs of the node', () => outputs.next())
          if (next.done === true) return
          yield next.value
        }
      },
      transaction: (id) => ask('A transaction of the node', () => node.transaction(id, signal)),
      spenderOf: (key) => ask('The spender of an output', () => node.spenderOf(key, signal)),
    },
  }
}
