import { createNodeAudit } from './audit-node.js'
import { createHeldAudit, type HeldContext } from './held-outputs.js'
import { type Sources, Unavailable } from './sources.js'
import type { AuditOptions, Finding, QueueReading, Unchecked } from './types.js'

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
