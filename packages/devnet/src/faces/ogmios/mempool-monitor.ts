import type { ChainTransaction } from '../../chain/types.js'
import type { Devnet } from '../../types.js'
import { invalidParams, RpcError, type RpcRequest } from './rpc.js'
import { transactionJson } from './transaction-json.js'

/** Mempool monitoring of one connection: a picture of the mempool, looked at one transaction after another. */
export interface MempoolMonitor {
  acquireMempool(): Promise<unknown>
  nextTransaction(params: RpcRequest['params']): unknown
  hasTransaction(params: RpcRequest['params']): unknown
  sizeOfMempool(): unknown
  releaseMempool(): unknown
}

export function createMempoolMonitor(devnet: Devnet): MempoolMonitor {
  let picture: readonly ChainTransaction[] | undefined
  let position = 0

  function acquired(): readonly ChainTransaction[] {
    if (picture === undefined) throw new RpcError(4000, 'You must acquire a mempool snapshot first.')
    return picture
  }

  return {
    /** A second one in a row waits until the mempool is another than in the first. */
    async acquireMempool() {
      while (picture !== undefined && same(picture, devnet.mempool())) {
        await new Promise<void>((resolve) => {
          const unsubscribe = devnet.subscribe(() => {
            unsubscribe()
            resolve()
          })
        })
      }
      picture = devnet.mempool()
      position = 0
      return { acquired: 'mempool', slot: devnet.currentSlot() }
    },
    nextTransaction({ fields }) {
      const next = acquired()[position++]
      if (next === undefined) return { transaction: null }
      return { transaction: fields === 'all' ? transactionJson(next.transaction) : { id: next.hash } }
    },
    hasTransaction({ id }) {
      if (typeof id !== 'string') throw invalidParams('"id" must be a text.')
      return acquired().some(({ hash }) => hash === id)
    },
    sizeOfMempool() {
      const transactions = acquired()
      const bytes = transactions.reduce((sum, { transaction }) => sum + transaction.bytes.length, 0)
      return {
        maxCapacity: { bytes: 2 * devnet.maxBlockSize },
        currentSize: { bytes },
        transactions: { count: transactions.length },
      }
    },
    releaseMempool() {
      acquired()
      picture = undefined
      return { released: 'mempool' }
    },
  }
}

function same(a: readonly ChainTransaction[], b: readonly ChainTransaction[]): boolean {
  return a.length === b.length && a.every(({ hash }, index) => hash === b[index]?.hash)
}
