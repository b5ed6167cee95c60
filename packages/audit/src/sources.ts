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
  /** @param until ends the question, instead of the signal of the audit */
  readonly header: (id: number | Uint8Array, until?: AbortSignal) => ReturnType<BlockSource['header']>
  /** @param until as for `header` */
  readonly body: (headerHash: Uint8Array, until?: AbortSignal) => ReturnType<BlockSource['body']>
  readonly judge: (block: JudgedBlock) => Promise<RuleBreach | undefined>
  readonly node:
    | {
        readonly queue: () => ReturnType<NodeSource['queue']>
        readonly transactionsOf: (headerHash: string) => ReturnType<NodeSource['transactionsOf']>
        readonly placesOf: (transactionIds: readonly string[]) => ReturnType<NodeSource['placesOf']>
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
    header: (id, until = signal) =>
      ask(`The header of block ${typeof id === 'number' ? id : toHex(id)}`, () =>
        archivist.header(id, until),
      ),
    body: (hash, until = signal) => ask('The body of a block', () => archivist.body(hash, until)),
    judge: (block) => ask('The rules of a block', async () => judge?.(block, signal)),
    node: node && {
      queue: () => ask('The state queue of the node', () => node.queue(signal)),
      transactionsOf: (hash) => ask('A block of the node', () => node.transactionsOf(hash, signal)),
      placesOf: (ids) =>
        ask('The places of transactions in the node', async () => {
          const places = await node.placesOf(ids, signal)
          if (places.length === ids.length) return places
          throw new Error(`it named ${places.length} places of ${ids.length} transactions`)
        }),
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

/**
 * Does work for each item, for as many at a time as `most`. After a failure it begins nothing.
 *
 * @throws what the first failure threw, once nothing runs any more
 */
export async function sideBySide<T>(
  items: Iterable<T> | AsyncIterable<T>,
  most: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  try {
    for await (const item of items) {
      const one: Promise<void> = work(item)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(one))
      running.add(one)
      if (running.size >= most) await Promise.race(running)
      if (failures.length > 0) break
    }
  } finally {
    await Promise.all(running)
  }
  if (failures.length > 0) throw failures[0]
}

/** Cuts a list into parts with as many items as `most`; the last one may have fewer. */
export async function* inParts<T>(
  items: Iterable<T> | AsyncIterable<T>,
  most: number,
): AsyncGenerator<readonly T[], void> {
  let part: T[] = []
  for await (const item of items) {
    part.push(item)
    if (part.length < most) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}
