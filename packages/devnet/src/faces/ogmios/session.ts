import type { Operation } from '../../faults/types.js'
import type { Devnet } from '../../types.js'
import { createChainSync } from './chain-sync.js'
import { createMempoolMonitor } from './mempool-monitor.js'
import { pointJson, queries, readPoint } from './queries.js'
import { failure, RpcError, type RpcRequest, type RpcResponse, success } from './rpc.js'
import { evaluateTransaction, submitTransaction } from './transactions.js'

/** What one connection can ask, with what is remembered between its requests. */
export interface Session {
  answer(request: RpcRequest): Promise<RpcResponse>
  close(): void
}

const operations: Readonly<Record<string, Operation>> = {
  submitTransaction: 'submit',
  evaluateTransaction: 'evaluate',
  'queryLedgerState/utxo': 'utxos',
  'queryLedgerState/protocolParameters': 'parameters',
  'queryLedgerState/tip': 'tip',
  'queryNetwork/tip': 'tip',
  'queryNetwork/blockHeight': 'tip',
}

export function operationOf(method: string): Operation {
  return operations[method] ?? 'other'
}

export function createSession(devnet: Devnet, onFailure: (error: unknown) => void): Session {
  const chainSync = createChainSync(devnet)
  const monitor = createMempoolMonitor(devnet)
  const methods: Readonly<Record<string, (params: RpcRequest['params']) => unknown>> = {
    submitTransaction: (params) => submitTransaction(devnet, params),
    evaluateTransaction: (params) => evaluateTransaction(devnet, params),
    findIntersection: (params) => chainSync.findIntersection(params),
    nextBlock: () => chainSync.nextBlock(),
    acquireLedgerState: ({ point }) => acquireLedgerState(devnet, point),
    releaseLedgerState: () => ({ released: 'ledgerState' }),
    acquireMempool: () => monitor.acquireMempool(),
    nextTransaction: (params) => monitor.nextTransaction(params),
    hasTransaction: (params) => monitor.hasTransaction(params),
    sizeOfMempool: () => monitor.sizeOfMempool(),
    releaseMempool: () => monitor.releaseMempool(),
  }

  async function run({ method, params }: RpcRequest): Promise<unknown> {
    if (Object.hasOwn(methods, method)) return methods[method]?.(params)
    if (Object.hasOwn(queries, method)) return queries[method]?.(devnet, params)
    throw new RpcError(-32601, `The devnet does not know the method "${method}".`)
  }

  return {
    async answer(request) {
      try {
        return success(request, await run(request))
      } catch (error) {
        if (error instanceof RpcError) return failure(request, error)
        onFailure(error)
        return failure(request, { code: -32603, message: 'Internal error.' })
      }
    },
    close: () => chainSync.close(),
  }
}

/** The devnet answers about its tip only. */
function acquireLedgerState(devnet: Devnet, point: unknown): unknown {
  const wanted = readPoint(point)
  const tip = devnet.tip()
  const atTip = wanted === 'origin' ? tip.height === 0 : wanted.hash === tip.hash
  if (!atTip)
    throw new RpcError(2000, 'Failed to acquire the requested point.', 'Only the tip can be acquired.')
  return { acquired: 'ledgerState', point: pointJson(tip) }
}
