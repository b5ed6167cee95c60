import { toHex } from '@ratatosk/cbor'
import { transactionsOfBody } from './body.js'
import { sideBySide } from './side-by-side.js'
import type { Sources } from './sources.js'
import { Unavailable } from './sources.js'
import { type AuditedTransaction, readTransaction, reasonOf } from './transaction.js'

/** Transactions that a node has beyond the chain. A mempool has fewer. */
export const mostPending = 100_000

/** Bytes of them that are read at a time. */
const mostPendingBytes = 256 << 20

const concurrency = 8

/** Transactions by id, 64 hex digits. */
export type PendingTransactions = Map<string, AuditedTransaction>

/** Adds the transactions of bodies to those that are known: the id of each says that it is the right one. */
export async function learn(
  bodies: AsyncIterable<Uint8Array>,
  known: PendingTransactions,
  pause: () => Promise<void>,
): Promise<void> {
  let bytes = 0
  for await (const body of bodies) {
    bytes += body.length
    if (bytes > mostPendingBytes) return
    for (const cbor of readable(body)) {
      await pause()
      if (known.size >= mostPending) return
      const transaction = readTransaction(cbor)
      // The id says nothing about witnesses, which may be the archive's fault.
      if (transaction.fault === undefined) known.set(toHex(transaction.id), transaction)
    }
  }
}

/** The transactions of a body; none if it cannot be read, which its audit reports. */
function readable(body: Uint8Array): readonly Uint8Array[] {
  try {
    return transactionsOfBody(body)
  } catch (error) {
    reasonOf(error)
    return []
  }
}

interface PendingContext {
  readonly node: Pick<NonNullable<Sources['node']>, 'transaction'>
  /** Those that were read before, to which more are added. */
  readonly known: PendingTransactions
  /** Whether the chain has a transaction, so that it is not asked for. */
  readonly isDerived: (id: string) => boolean
  /** Called for one that the node does not have, or has with another id. */
  readonly onMissing: (id: string) => void
  readonly pause: () => Promise<void>
}

/** The transactions that made outputs, those that made what these spend, until the chain has them. */
export async function readPending(
  keys: Iterable<string>,
  { node, known, isDerived, onMissing, pause }: PendingContext,
): Promise<PendingTransactions> {
  const found: PendingTransactions = new Map()
  const asked = new Set<string>()
  let waiting: string[] = []
  let bytes = 0
  const want = (key: string): void => {
    const id = key.slice(0, key.indexOf('#'))
    if (asked.has(id) || isDerived(id)) return
    asked.add(id)
    waiting.push(id)
  }

  async function ask(id: string): Promise<void> {
    const transaction = known.get(id) ?? (await read(id))
    if (transaction === undefined) return onMissing(id)
    known.set(id, transaction)
    found.set(id, transaction)
  }

  async function read(id: string): Promise<AuditedTransaction | undefined> {
    const cbor = await node.transaction(id)
    bytes += cbor?.length ?? 0
    if (bytes > mostPendingBytes)
      throw new Unavailable(
        'The unspent outputs of the node',
        `newer transactions have more than ${mostPendingBytes} bytes`,
      )
    const transaction = cbor && readTransaction(cbor)
    return transaction && toHex(transaction.id) === id ? transaction : undefined
  }

  for (const key of keys) want(key)
  while (waiting.length > 0) {
    if (asked.size > mostPending)
      throw new Unavailable(
        'The unspent outputs of the node',
        `more than ${mostPending} transactions are newer`,
      )
    const ids = waiting
    waiting = []
    await sideBySide(ids, concurrency, async (id) => {
      await pause()
      await ask(id)
    })
    for (const id of ids) for (const { key } of found.get(id)?.inputs ?? []) want(key)
  }
  return found
}
