import type { OgmiosVersion } from '../versions.js'
import type { ChainView } from '../view/chain-view.js'
import { transactionJson } from './json/transaction-json.js'
import type { MempoolFeed, MempoolSnapshot } from './mempool-feed.js'
import { invalidParams, RpcError, type RpcRequest } from './rpc.js'

/** Mempool monitoring of one connection: a snapshot of the mempool, read one transaction at a time. */
interface MempoolMonitor {
  /** Takes a snapshot. If the connection already has one, waits until the mempool differs from it. */
  acquireMempool(): Promise<unknown>
  nextTransaction(params: RpcRequest['params']): Promise<unknown>
  hasTransaction(params: RpcRequest['params']): unknown
  sizeOfMempool(): unknown
  releaseMempool(): unknown
  close(): void
}

export function createMempoolMonitor(
  chain: ChainView,
  mempool: MempoolFeed,
  version: OgmiosVersion = '6',
): MempoolMonitor {
  let snapshot: MempoolSnapshot | undefined
  let position = 0
  let wake: (() => void) | undefined
  let closed = false
  let unsubscribe: (() => void) | undefined

  function acquired(): MempoolSnapshot {
    if (snapshot === undefined) throw new RpcError(4000, 'You must acquire a mempool snapshot first.')
    return snapshot
  }

  return {
    async acquireMempool() {
      unsubscribe ??= mempool.subscribe(() => wake?.())
      while (!closed) {
        const changed = new Promise<void>((resolve) => {
          wake = resolve
        })
        const current = await mempool.read()
        if (snapshot !== current) {
          snapshot = current
          position = 0
          return { acquired: 'mempool', slot: chain.currentSlot() }
        }
        await changed
      }
      return undefined
    },
    async nextTransaction({ fields }) {
      const next = acquired().entries[position++]
      if (next === undefined) return { transaction: null }
      if (fields !== 'all') return { transaction: { id: next.hash } }
      const found = await chain.transaction(next.hash)
      return {
        transaction:
          found === undefined ? { id: next.hash } : transactionJson(found.transaction.transaction, version),
      }
    },
    hasTransaction({ id }) {
      if (typeof id !== 'string') throw invalidParams('"id" must be a string.')
      return acquired().entries.some(({ hash }) => hash === id)
    },
    sizeOfMempool() {
      const { entries, bytes } = acquired()
      return {
        maxCapacity: { bytes: 2 * chain.maxBlockSize },
        currentSize: { bytes },
        transactions: { count: entries.length },
      }
    },
    releaseMempool() {
      acquired()
      snapshot = undefined
      return { released: 'mempool' }
    },
    close() {
      closed = true
      unsubscribe?.()
      wake?.()
    },
  }
}
