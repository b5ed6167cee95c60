import { fromHex, toHex } from '@ratatosk/cbor'
import type { AuditedChain } from './chain.js'
import { type Sources, Unavailable } from './sources.js'
import type { AuditOptions, Finding, NodePlace, QueueReading } from './types.js'

type Node = NonNullable<Sources['node']>

/** Compares what a node shows with what is derived. What moves meanwhile is compared again later. */
interface NodeAudit {
  /** Compares the transactions of a block that was audited. */
  compareBlock(height: number, transactionIds: readonly Uint8Array[]): Promise<void>
  /**
   * Where accepted transactions are.
   *
   * @returns how many are in no block
   * @throws {Unavailable} if too many are in no place
   */
  place(accepted: NonNullable<AuditOptions['accepted']>): Promise<number>
  /** What is still wrong: compares the state queue, and what was wrong before. */
  compare(queue: QueueReading): Promise<readonly Finding[]>
}

/** Statuses of a transaction that is in no block, or in one that layer 1 does not have yet. */
const waiting: ReadonlySet<string> = new Set([
  'queued',
  'validating',
  'mempool',
  'built',
  'submitted',
  'removed',
  'rejected',
])

const concurrency = 8

/** Transactions in no or in two places after which no further one is asked for. */
const mostSuspects = 10_000

/** Height of the block of a transaction; 0 if it is in none. */
export const blockOf = (chain: AuditedChain, id: string): number =>
  /^[0-9a-f]{64}$/.test(id) ? chain.blockOf(fromHex(id)) : 0

export function createNodeAudit(node: Node, chain: AuditedChain, pause: () => Promise<void>): NodeAudit {
  /** Ids of blocks that the node shows with others, by height. */
  const blocks = new Map<number, readonly string[]>()
  const suspects = new Set<string>()

  async function findingOfBlock(height: number, ids: readonly string[]): Promise<Finding | undefined> {
    const hash = chain.hashAt(height)
    if (hash === undefined) return undefined
    const headerHash = toHex(hash)
    const shown = await node.transactionsOf(headerHash)
    const place = ids.findIndex((id, position) => shown[position] !== id)
    if (place < 0 && shown.length === ids.length) return undefined
    const position = place < 0 ? ids.length : place
    return {
      kind: 'node-block',
      message: 'The node shows other transactions of the block',
      block: { height, headerHash },
      expected: `${ids.length} transactions, at position ${position} ${ids[position] ?? 'none'}`,
      found: `${shown.length} transactions, at position ${position} ${shown[position] ?? 'none'}`,
    }
  }

  function judgePlace(id: string, { status, block }: NodePlace): Finding | undefined {
    const height = blockOf(chain, id)
    const derived = chain.hashAt(height)
    const found = block === undefined ? status : `${status} in block ${block.height} ${block.headerHash}`
    const at = { transaction: { id }, found }
    if (derived === undefined) {
      const isOnItsWay = block !== undefined && block.height > chain.height
      if (waiting.has(status) || isOnItsWay) return undefined
      const message = `The accepted transaction ${id} is in no place`
      return { kind: 'lost', message, ...at, expected: 'a block, the mempool, the queue or a dead letter' }
    }
    const headerHash = toHex(derived)
    if (block?.headerHash === headerHash) return undefined
    const message = `The transaction ${id} is in a block, and the node shows it in another place`
    return { kind: 'two-places', message, ...at, expected: `block ${height}`, block: { height, headerHash } }
  }

  let waitingCount = 0

  /** An answer that is wrong or missing now may be right at the next reading. */
  async function ask(id: string): Promise<void> {
    try {
      const finding = judgePlace(id, await node.placeOf(id))
      if (finding !== undefined) suspects.add(id)
      else if (blockOf(chain, id) === 0) waitingCount++
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      suspects.add(id)
    }
  }

  return {
    async compareBlock(height, transactionIds) {
      const ids = transactionIds.map(toHex)
      if ((await findingOfBlock(height, ids)) !== undefined) blocks.set(height, ids)
    },

    async place(accepted) {
      let asked: Promise<void>[] = []
      for await (const id of accepted) {
        await pause()
        if (suspects.size >= mostSuspects)
          throw new Unavailable('Accepted transactions', `${suspects.size} of them are in no place or in two`)
        asked.push(ask(id.toLowerCase()))
        if (asked.length < concurrency) continue
        await Promise.all(asked)
        asked = []
      }
      await Promise.all(asked)
      return waitingCount
    },

    async compare(queue) {
      const findings: Finding[] = []
      const [expected, found] = [
        queue.blocks.map(({ headerHash }) => toHex(headerHash)).join(' '),
        (await node.queue()).join(' '),
      ]
      if (expected !== found)
        findings.push({
          kind: 'node-queue',
          message: 'The node shows another state queue than layer 1',
          expected,
          found,
        })
      for (const [height, ids] of blocks) {
        const finding = await findingOfBlock(height, ids)
        if (finding === undefined) blocks.delete(height)
        else findings.push(finding)
      }
      for (const id of suspects) {
        const finding = judgePlace(id, await node.placeOf(id))
        if (finding === undefined) suspects.delete(id)
        else findings.push(finding)
      }
      return findings
    },
  }
}
