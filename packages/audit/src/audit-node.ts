import { fromHex, toHex } from '@ratatosk/cbor'
import type { AuditedChain } from './chain.js'
import { inParts, sideBySide } from './side-by-side.js'
import { type Sources, Unavailable } from './sources.js'
import type { AuditOptions, Finding, NodePlace, QueueReading } from './types.js'

type Node = NonNullable<Sources['node']>

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

/** Transactions whose places are asked for at once, and how many such questions at a time. */
const mostAsked = 100
const concurrency = 4

/** Questions in a row without an answer after which a node is not asked for further places. */
const mostSilent = 2 * concurrency
const idBytes = 32

/** Transactions in no or in two places after which no further one is asked for. */
const mostSuspects = 10_000

/** Height of the block of a transaction; 0 if it is in none. */
export const blockOf = (chain: AuditedChain, id: string): number =>
  /^[0-9a-f]{64}$/.test(id) ? chain.blockOf(fromHex(id)) : 0

/** Compares the answers of a node with the derived state. Values that change meanwhile are compared later. */
export function createNodeAudit(node: Node, chain: AuditedChain, pause: () => Promise<void>) {
  /** Joined ids of the open blocks, by height. */
  const blocks = new Map<number, Uint8Array>()
  const suspects = new Set<string>()
  let waitingCount = 0
  let silent = 0

  /** Forgets the block if the node shows it as it is. */
  async function findingOfBlock(height: number): Promise<Finding | undefined> {
    const [hash, joined] = [chain.hashAt(height), blocks.get(height)]
    const finding = hash && joined && (await compareIds(node, height, toHex(hash), idsIn(joined)))
    if (finding === undefined) blocks.delete(height)
    return finding
  }

  /** An answer that is wrong or incomplete now may be right at the next reading. */
  async function ask(ids: readonly string[]): Promise<void> {
    try {
      for (const [position, place] of (await node.placesOf(ids)).entries()) {
        const id = ids[position] ?? ''
        if (judgePlace(chain, id, place) !== undefined) suspects.add(id)
        else if (blockOf(chain, id) === 0) waitingCount++
      }
      silent = 0
    } catch (error) {
      if (!(error instanceof Unavailable) || ++silent >= mostSilent) throw error
      for (const id of ids) suspects.add(id)
    }
  }

  return {
    /** Heights of blocks that the node has not shown yet, or shows with other transactions. */
    get openBlocks(): readonly number[] {
      return [...blocks.keys()]
    },

    /** Keeps the transactions of a block that was audited, until the node shows the same. */
    keepBlock(height: number, transactionIds: readonly Uint8Array[]): void {
      blocks.set(height, Buffer.concat(transactionIds))
    },

    /** Asks for a block that is kept. @throws {Unavailable} */
    async compareBlock(height: number): Promise<void> {
      await findingOfBlock(height)
    },

    /**
     * Places accepted transactions, and returns how many are in no block.
     * @throws {Unavailable} if too many are in no place, or the node does not answer
     */
    async place(accepted: NonNullable<AuditOptions['accepted']>): Promise<number> {
      await sideBySide(inParts(accepted, mostAsked), concurrency, async (ids) => {
        await pause()
        if (suspects.size >= mostSuspects)
          throw new Unavailable('Accepted transactions', `${suspects.size} of them are in no place or in two`)
        await ask(ids.map((id) => id.toLowerCase()))
      })
      return waitingCount
    },

    /** @throws {Unavailable} */
    async compareQueue(queue: QueueReading, report: (finding: Finding) => void): Promise<void> {
      const expected = queue.blocks.map(({ headerHash }) => toHex(headerHash)).join(' ')
      const found = (await node.queue()).join(' ')
      const message = 'The node shows another state queue than layer 1'
      if (expected !== found) report({ kind: 'node-queue', message, expected, found })
    },

    /** Compares the open and the wrong parts. Throws {@link Unavailable} after it reports comparable ones. */
    async compare(report: (finding: Finding) => void): Promise<void> {
      for (const height of [...blocks.keys()]) {
        const finding = await findingOfBlock(height)
        if (finding !== undefined) report(finding)
      }
      for await (const ids of inParts([...suspects], mostAsked))
        for (const [position, place] of (await node.placesOf(ids)).entries()) {
          const id = ids[position] ?? ''
          const finding = judgePlace(chain, id, place)
          if (finding === undefined) suspects.delete(id)
          else report(finding)
        }
    },
  }
}

async function compareIds(
  node: Node,
  height: number,
  headerHash: string,
  ids: readonly string[],
): Promise<Finding | undefined> {
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

function judgePlace(chain: AuditedChain, id: string, { status, block }: NodePlace): Finding | undefined {
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

const idsIn = (joined: Uint8Array): readonly string[] =>
  Array.from({ length: joined.length / idBytes }, (_, index) =>
    toHex(joined.subarray(index * idBytes, (index + 1) * idBytes)),
  )
