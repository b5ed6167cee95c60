import { isChainUnavailable } from '../errors.js'
import type { FaultOperation } from '../faults/faults.js'
import {
  InvalidInputError,
  type JsonObject,
  maxPoints,
  quoted,
  readFields,
  readHex,
  readList,
} from '../input.js'
import type { ConnectedClient, LongLists } from '../long-lists.js'
import type { OgmiosVersion } from '../options.js'
import type { ChainBlock, ChainChange, ChainTip, ChainView, Point } from '../view/chain-view.js'
import type { BlockReader } from './block-reader.js'
import { transactionJson } from './json/transaction-json.js'
import type { MempoolFeed, MempoolSnapshot } from './mempool-feed.js'
import { pointJson, type Query, queries, readPoint, tipJson, unspentOutputs } from './queries.js'
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
  const methods: Readonly<Record<string, Method>> = {
    submitTransaction: [['transaction'], (params) => submitTransaction(chain, params, version)],
    evaluateTransaction: [
      ['transaction', 'additionalUtxo'],
      (params) => evaluateTransaction(chain, params, version, client.signal),
    ],
    'queryLedgerState/utxo': [
      ['outputReferences', 'addresses'],
      (params) => unspentOutputs(chain, lists, params, client),
    ],
    findIntersection: [['points'], (params) => chainSync.findIntersection(params)],
    nextBlock: [[], () => chainSync.nextBlock()],
    acquireLedgerState: [['point'], ({ point }) => acquireLedgerState(chain, point)],
    releaseLedgerState: [[], () => ({ released: 'ledgerState' })],
    acquireMempool: [[], () => monitor.acquireMempool()],
    nextTransaction: [['fields'], (params) => monitor.nextTransaction(params)],
    hasTransaction: [['id'], (params) => monitor.hasTransaction(params)],
    sizeOfMempool: [[], () => monitor.sizeOfMempool()],
    releaseMempool: [[], () => monitor.releaseMempool()],
  }

  async function run({ method, params }: RpcRequest): Promise<unknown> {
    if (Object.hasOwn(methods, method)) {
      const [names, answer] = methods[method] as Method
      return answer(paramsOf(params, names))
    }
    if (Object.hasOwn(queries, method)) {
      const [names, answer] = queries[method] as Query
      return answer(chain, paramsOf(params, names), version)
    }
    throw new RpcError(-32601, `Method not found: ${quoted(method)}.`)
  }

  return {
    async answer(request) {
      try {
        return success(request, await run(request))
      } catch (error) {
        if (error instanceof RpcError) return failure(request, error)
        if (error instanceof InvalidInputError) {
          return failure(request, { code: -32602, message: `Invalid parameters: ${error.message}` })
        }
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

/** The names of the parameters of a method, and its answer. */
type Method = readonly [names: readonly string[], answer: (params: JsonObject) => unknown]

/**
 * The parameters of a request; null stands for none where there are no others.
 *
 * @throws {InvalidInputError} they are not an object, or it has other fields
 */
function paramsOf(params: unknown, names: readonly string[]): JsonObject {
  const given = names.length === 0 ? (params ?? undefined) : params
  return given === undefined ? {} : readFields(given, 'params', names)
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

/** Mempool monitoring of one connection: a snapshot of the mempool, read one transaction at a time. */
interface MempoolMonitor {
  /** Takes a snapshot. If the connection already has one, waits for another transaction or block. */
  acquireMempool(): Promise<unknown>
  nextTransaction(params: JsonObject): Promise<unknown>
  hasTransaction(params: JsonObject): unknown
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
      if (fields !== undefined && fields !== 'all') throw new InvalidInputError('fields must be "all".')
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
      const wanted = readHex(id, 'id', 32)
      return acquired().entries.some(({ hash }) => hash === wanted)
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

/** Chain synchronization of one connection: its cursor, and a wait for the next block. */
interface ChainSync {
  findIntersection(params: JsonObject): Promise<unknown>
  nextBlock(): Promise<unknown>
  close(): void
}

function createChainSync(chain: ChainView, blocks: BlockReader): ChainSync {
  const origin: ChainTip = { height: 0, slot: 0n, hash: chain.genesisHash }
  let cursor = origin
  // True at the start and after an intersection or roll-back: the next response says where the cursor is.
  let movedBack = true
  let wake: (() => void) | undefined
  let closed = false

  let unsubscribe: (() => void) | undefined
  const listen = () => {
    unsubscribe ??= chain.subscribe(follow)
  }

  function follow(event: ChainChange): void {
    if (event.type === 'roll-back' && event.to !== undefined && event.to.height < cursor.height) {
      cursor = event.to
      movedBack = true
    }
    if (event.type === 'roll-back' || event.type === 'block') wake?.()
  }

  /** The newest block that is delivered: not an open one. */
  const newest = async () => tipJson(await chain.blockUntil((await chain.tip()).slot))

  /** Where synchronization continues: at the point, or before a block that is open, or was at the point. */
  async function find(wanted: 'origin' | Point): Promise<ChainTip | undefined> {
    if (wanted === 'origin') return origin
    const block = await chain.block(wanted.hash)
    if (block === undefined) return undefined
    if (block.open !== true && block.hash === wanted.hash)
      return block.slot === wanted.slot ? tipOf(block) : undefined
    const previous = await chain.block(block.previous)
    return previous === undefined ? origin : tipOf(previous)
  }

  return {
    async findIntersection({ points = ['origin'] }) {
      const wanted = readList(points, 'points', maxPoints).map(readPoint)
      listen()
      const tip = await newest()
      for (const point of wanted) {
        if (closed) break
        const found = await find(point)
        if (found === undefined) continue
        cursor = found
        movedBack = true
        return { intersection: pointJson(found), tip }
      }
      throw new RpcError(1000, 'No intersection found.', { tip })
    },
    async nextBlock() {
      listen()
      while (!closed) {
        const changed = new Promise<void>((resolve) => {
          wake = resolve
        })
        if (movedBack) {
          const tip = await newest()
          movedBack = false
          return { direction: 'backward', point: pointJson(cursor), tip }
        }
        const block = await chain.blockAfter(cursor.height)
        if (block !== undefined && block.open !== true && !movedBack) {
          const body = await blocks.read(block, () => !closed)
          // After the block, so that it is never behind.
          const tip = await newest()
          // A block that was removed while it was read is not delivered.
          if (body !== undefined && !movedBack) {
            cursor = tipOf(block)
            return { direction: 'forward', block: body, tip }
          }
          continue
        }
        if (!movedBack) await changed
      }
      return undefined
    },
    close() {
      closed = true
      unsubscribe?.()
      wake?.()
    },
  }
}

function tipOf({ height, slot, hash }: ChainBlock): ChainTip {
  return { height, slot, hash }
}
