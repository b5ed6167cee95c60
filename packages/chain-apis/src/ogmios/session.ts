import type { ConnectedClient } from '../client-signal.js'
import { isChainUnavailable } from '../errors.js'
import type { FaultOperation } from '../faults/faults.js'
import type { LongLists } from '../long-lists.js'
import type { OgmiosVersion } from '../versions.js'
import type { ChainView } from '../view/chain-view.js'
import type { BlockReader } from './block-reader.js'
import { createChainSync } from './chain-sync.js'
import type { MempoolFeed } from './mempool-feed.js'
import { createMempoolMonitor } from './mempool-monitor.js'
import { pointJson, queries, readPoint, unspentOutputs } from './queries.js'
import { failure, RpcError, type RpcRequest, type RpcResponse, success, unavailable } from './rpc.js'
import { evaluateTransaction, submitTransaction } from './transactions.js'

/** One connection: its methods, and the state that they share between requests. */
export interface Session {
  /** Never rejects: errors become error responses. */
  answer(request: RpcRequest): Promise<RpcResponse>
  close(): void
}

const operations: Readonly<Record<string, FaultOperation>> = {
  submitTransaction: 'submit',
  evaluateTransaction: 'evaluate',
  'queryLedgerState/utxo': 'utxos',
  'queryLedgerState/protocolParameters': 'parameters',
  'queryLedgerState/tip': 'tip',
  'queryNetwork/tip': 'tip',
  'queryNetwork/blockHeight': 'tip',
}

/** The operation of a method, for faults that apply to one operation only. */
export function operationOf(method: string): FaultOperation {
  return operations[method] ?? 'other'
}

interface SessionContext {
  readonly chain: ChainView
  readonly lists: LongLists
  readonly blocks: BlockReader
  readonly mempool: MempoolFeed
  readonly version: OgmiosVersion
}

/** @param onError called with unexpected errors, whose details the response omits */
export function createSession(
  { chain, lists, blocks, mempool, version }: SessionContext,
  onError: (error: unknown) => void,
  client: ConnectedClient,
): Session {
  const chainSync = createChainSync(chain, blocks)
  const monitor = createMempoolMonitor(chain, mempool, version)
  const methods: Readonly<Record<string, (params: RpcRequest['params']) => unknown>> = {
    submitTransaction: (params) => submitTransaction(chain, params),
    evaluateTransaction: (params) => evaluateTransaction(chain, params, client.signal),
    'queryLedgerState/utxo': (params) => unspentOutputs(chain, lists, params, client),
    findIntersection: (params) => chainSync.findIntersection(params),
    nextBlock: () => chainSync.nextBlock(),
    acquireLedgerState: ({ point }) => acquireLedgerState(chain, point),
    releaseLedgerState: () => ({ released: 'ledgerState' }),
    acquireMempool: () => monitor.acquireMempool(),
    nextTransaction: (params) => monitor.nextTransaction(params),
    hasTransaction: (params) => monitor.hasTransaction(params),
    sizeOfMempool: () => monitor.sizeOfMempool(),
    releaseMempool: () => monitor.releaseMempool(),
  }

  async function run({ method, params }: RpcRequest): Promise<unknown> {
    if (Object.hasOwn(methods, method)) return methods[method]?.(params)
    if (Object.hasOwn(queries, method)) return queries[method]?.(chain, params, version)
    throw new RpcError(-32601, `Method not found: "${method}".`)
  }

  return {
    async answer(request) {
      try {
        return success(request, await run(request))
      } catch (error) {
        if (error instanceof RpcError) return failure(request, error)
        if (isChainUnavailable(error)) return failure(request, { code: unavailable, message: error.message })
        onError(error)
        return failure(request, { code: -32603, message: 'Internal error.' })
      }
    },
    close() {
      chainSync.close()
      monitor.close()
    },
  }
}

/** Only the tip can be acquired: the chain keeps no older ledger states. */
async function acquireLedgerState(chain: ChainView, point: unknown): Promise<unknown> {
  const wanted = readPoint(point)
  const tip = await chain.tip()
  const atTip = wanted === 'origin' ? tip.height === 0 : wanted.hash === tip.hash
  if (!atTip) {
    throw new RpcError(2000, 'Failed to acquire the requested point.', 'Only the tip can be acquired.')
  }
  return { acquired: 'ledgerState', point: pointJson(tip) }
}
