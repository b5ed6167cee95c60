import { fromHex, toHex } from '@ratatosk/cbor'
import type { AuditedChain } from './chain.js'
import { createHeldAudit, type HeldContext } from './held-outputs.js'
import { inParts, type Sources, sideBySide, Unavailable } from './sources.js'
import type { AuditOptions, Finding, NodePlace, QueueReading, Unchecked } from './types.js'

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
function createNodeAudit(node: Node, chain: AuditedChain, pause: () => Promise<void>) {
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

/** Readings in which a node does not answer, after which it is not asked again. */
const mostFailures = 3

/** Compares the answers of a node: a missing one never stops the audit of the chain. */
export interface NodeRun {
  /** Asks again a node that did not answer at the reading before. */
  begin(): void
  /** Whether it is not asked again. */
  readonly isGivenUp: boolean
  compareBlock(height: number, transactionIds: readonly Uint8Array[]): Promise<void>
  /** @throws {Unavailable} */
  place(accepted: NonNullable<AuditOptions['accepted']>): Promise<number>
  /** The differences that remain. If the node answers, it awaits `beforePlaces` before it compares places. */
  compare(queue: QueueReading, beforePlaces: () => Promise<void>): Promise<readonly Finding[]>
  /** The parts that could not be compared at this reading. */
  unchecked(): readonly Unchecked[]
}

export function createNodeRun(node: NonNullable<Sources['node']>, context: HeldContext): NodeRun {
  const { chain, pause } = context
  const nodeAudit = createNodeAudit(node, chain, pause)
  const heldAudit = createHeldAudit(node, context)
  let failures = 0
  let failure: Unavailable | undefined

  /** Asks a node that has answered everything at this reading. */
  async function ask(question: () => Promise<void>): Promise<void> {
    if (failure !== undefined) return
    try {
      await question()
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      failure = error
      failures++
    }
  }

  const isDerived = () => chain.end === undefined && chain.agrees

  return {
    begin() {
      if (failures < mostFailures) failure = undefined
    },
    get isGivenUp() {
      return failures >= mostFailures
    },

    async compareBlock(height, transactionIds) {
      nodeAudit.keepBlock(height, transactionIds)
      await ask(() => nodeAudit.compareBlock(height))
    },

    place: (accepted) => nodeAudit.place(accepted),

    async compare(queue, beforePlaces) {
      const findings: Finding[] = []
      const report = (finding: Finding) => findings.push(finding)
      await ask(() => nodeAudit.compareQueue(queue, report))
      await ask(beforePlaces)
      await ask(() => nodeAudit.compare(report))
      // Where a node does not serve its outputs, everything else is compared nevertheless.
      if (isDerived()) await ask(async () => void findings.push(...(await heldAudit.compare())))
      return findings
    },

    unchecked() {
      if (failure !== undefined) {
        const { what, why } = failure
        const blocks = rangesOf(nodeAudit.openBlocks)
        return [
          { what: blocks === '' ? what : `${what}, and the blocks ${blocks} as the node shows them`, why },
        ]
      }
      const why = 'those of the chain could not be derived'
      return isDerived() ? [] : [{ what: 'The unspent outputs of the node', why }]
    },
  }
}

/** Heights in ascending order, such as `1-3, 7`. */
function rangesOf(heights: readonly number[]): string {
  const ranges: { from: number; to: number }[] = []
  for (const height of [...heights].sort((one, other) => one - other)) {
    const last = ranges.at(-1)
    if (last?.to === height - 1) last.to = height
    else ranges.push({ from: height, to: height })
  }
  return ranges.map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`)).join(', ')
}
