import type { ChainView } from '../view/chain-view.js'
import { invalidParams, RpcError, type RpcRequest } from './rpc.js'
import { transactionJson } from './transaction-json.js'

/** Mempool monitoring of one connection: a snapshot of the mempool, read one transaction at a time. */
export interface MempoolMonitor {
  /** Takes a snapshot. If the connection already has one, waits until the mempool differs from it. */
  acquireMempool(): Promise<unknown>
  nextTransaction(params: RpcRequest['params']): Promise<unknown>
  hasTransaction(params: RpcRequest['params']): unknown
  sizeOfMempool(): unknown
  releaseMempool(): unknown
  close(): void
}

/** One transaction of a snapshot. The transaction itself is read when it is asked for. */
interface Entry {
  readonly hash: string
  readonly bytes: number
}

/** The most transactions of a snapshot; the oldest ones. */
const maxEntries = 10_000
/** How many are read at a time. */
const pageSize = 500

export function createMempoolMonitor(chain: ChainView): MempoolMonitor {
  let snapshot: readonly Entry[] | undefined
  let position = 0
  let wake: (() => void) | undefined

  let unsubscribe: (() => void) | undefined

  function acquired(): readonly Entry[] {
    if (snapshot === undefined) throw new RpcError(4000, 'You must acquire a mempool snapshot first.')
    return snapshot
  }

  async function readMempool(): Promise<readonly Entry[]> {
    const entries: Entry[] = []
    while (entries.length < maxEntries) {
      const page = await chain.mempool({ offset: entries.length, limit: pageSize })
      for (const { hash, transaction } of page) entries.push({ hash, bytes: transaction.bytes.length })
      if (page.length < pageSize) break
    }
    return entries
  }

  return {
    async acquireMempool() {
      unsubscribe ??= chain.subscribe(() => wake?.())
      for (;;) {
        const changed = new Promise<void>((resolve) => {
          wake = resolve
        })
        const current = await readMempool()
        if (snapshot === undefined || !same(snapshot, current)) {
          snapshot = current
          position = 0
          return { acquired: 'mempool', slot: chain.currentSlot() }
        }
        await changed
      }
    },
    async nextTransaction({ fields }) {
      const next = acquired()[position++]
      if (next === undefined) return { transaction: null }
      if (fields !== 'all') return { transaction: { id: next.hash } }
      const found = await chain.transaction(next.hash)
      return {
        transaction: found === undefined ? { id: next.hash } : transactionJson(found.transaction.transaction),
      }
    },
    hasTransaction({ id }) {
      if (typeof id !== 'string') throw invalidParams('"id" must be a string.')
      return acquired().some(({ hash }) => hash === id)
    },
    sizeOfMempool() {
      const transactions = acquired()
      return {
        maxCapacity: { bytes: 2 * chain.maxBlockSize },
        currentSize: { bytes: transactions.reduce((sum, { bytes }) => sum + bytes, 0) },
        transactions: { count: transactions.length },
      }
    },
    releaseMempool() {
      acquired()
      snapshot = undefined
      return { released: 'mempool' }
    },
    close: () => unsubscribe?.(),
  }
}

function same(a: readonly Entry[], b: readonly Entry[]): boolean {
  return a.length === b.length && a.every(({ hash }, index) => hash === b[index]?.hash)
}
