import { equalBytes } from '@ratatosk/cbor'
import { blockOf } from './audit-node.js'
import { type AuditedChain, undoableBlocks } from './chain.js'
import { compareQueue } from './compare-queue.js'
import type { AuditedLedger } from './ledger.js'
import { createNodeRun } from './node-run.js'
import { type Sources, Unavailable } from './sources.js'
import { type Trace, traceBack } from './trace.js'
import type { AuditOptions, Finding, NamedHeader, Unchecked } from './types.js'

/** The result of one reading of all sources, besides the findings about blocks. */
export interface Outcome {
  readonly findings: readonly Finding[]
  readonly unchecked: readonly Unchecked[]
  readonly merged: number
  /** Whether another reading is of no use. */
  readonly isSettled: boolean
}

interface RunContext {
  readonly sources: Sources
  readonly ledger: AuditedLedger
  readonly chain: AuditedChain
  readonly pause: () => Promise<void>
  readonly signal: AbortSignal
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Reads all sources, as often as it is asked to. */
export function createRun(
  { accepted, onProgress }: AuditOptions,
  { sources, ledger, chain, pause, signal }: RunContext,
) {
  const nodeRun = sources.node && createNodeRun(sources.node, { ledger, chain, pause })
  const genesisRoot = ledger.root
  let waiting = 0
  let isPlaced = false
  let placesUnread: Unchecked | undefined
  /** A block after the newest one of layer 1, when it was first seen. */
  let extra: NamedHeader | undefined
  let isFirst = true
  /** Height of the newest known block of layer 1. */
  let top = 0

  /** Undoes the newest blocks that layer 1 does not have. */
  function align(trace: Trace): void {
    let keep = trace.base
    while (keep < Math.min(chain.height, trace.height) && isAt(keep + 1, trace)) keep++
    while (chain.height > keep) {
      if (chain.undo()) continue
      throw new Unavailable(
        `Blocks from ${keep + 1} on`,
        `layer 1 removed more than ${undoableBlocks} blocks meanwhile: audit again`,
      )
    }
  }

  function isAt(height: number, trace: Trace): boolean {
    const [hash, expected] = [chain.hashAt(height), trace.hashAt(height)]
    return hash !== undefined && expected !== undefined && equalBytes(hash, expected)
  }

  /** Audits the blocks that layer 1 vouches for and the archive has at their heights. */
  async function extend(trace: Trace): Promise<void> {
    while (chain.height < trace.height && chain.end === undefined) {
      const next = await sources.header(chain.height + 1)
      const expected = trace.hashAt(chain.height + 1)
      if (next === undefined || expected === undefined || !equalBytes(next.headerHash, expected)) return
      const ids = await chain.append(next, () => sources.body(next.headerHash))
      await nodeRun?.compareBlock(chain.height, ids)
      onProgress?.({ height: chain.height, transactions: chain.transactions })
    }
  }

  /** The block after the chain that was there at the first reading, if it is still there. */
  async function findExtra(): Promise<NamedHeader | undefined> {
    if (!isFirst && extra === undefined) return undefined
    const next = await sources.header(chain.height + 1)
    if (isFirst) extra = next
    else if (!extra || !next || !equalBytes(next.headerHash, extra.headerHash)) extra = undefined
    isFirst = false
    return extra
  }

  async function compare(): Promise<Outcome> {
    const { fault, confirmed, blocks } = await sources.queue()
    if (fault !== undefined || confirmed === undefined)
      return {
        findings: [
          {
            kind: 'queue-broken',
            message: 'The state queue on layer 1 is broken',
            found: fault ?? 'no confirmed state',
          },
        ],
        unchecked: [],
        merged: 0,
        isSettled: false,
      }
    const queue = { confirmed, blocks }
    const trace = await traceBack(queue, chain, sources)
    if (trace !== undefined) {
      top = trace.height
      align(trace)
      await extend(trace)
    }
    const found = await compareQueue(queue, chain, sources, genesisRoot, await findExtra())
    const shown = nodeRun ? await nodeRun.compare(queue, () => place((ids) => nodeRun.place(ids))) : []
    const unchecked = nodeRun?.unchecked() ?? []
    return {
      findings: [...found, ...shown],
      unchecked,
      merged: chain.heightOf(confirmed.headerHash) ?? 0,
      isSettled: found.length + shown.length === 0 && (unchecked.length === 0 || nodeRun?.isGivenUp === true),
    }
  }

  /** The list of accepted transactions can be read once. */
  async function place(count: (ids: NonNullable<typeof accepted>) => Promise<number>): Promise<void> {
    if (isPlaced) return
    isPlaced = true
    if (accepted === undefined) return
    try {
      waiting = await count(accepted)
    } catch (error) {
      signal.throwIfAborted()
      placesUnread = { what: 'The places of accepted transactions', why: reasonOf(error) }
    }
  }

  async function countWaiting(ids: NonNullable<typeof accepted>): Promise<number> {
    let count = 0
    for await (const id of ids) if (blockOf(chain, id.toLowerCase()) === 0) count++
    return count
  }

  /** The blocks of layer 1 that another reading would have judged. */
  function unjudged(): readonly Unchecked[] {
    if (chain.height >= top || chain.end !== undefined) return []
    const from = chain.height + 1
    const what = from === top ? `Block ${top}` : `Blocks ${from} to ${top}`
    return [{ what, why: 'not judged, because a source did not answer' }]
  }

  return {
    async read(): Promise<Outcome> {
      nodeRun?.begin()
      try {
        return await compare()
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error
        const { what, why } = error
        const unchecked = [{ what, why }, ...unjudged(), ...(nodeRun?.unchecked() ?? [])]
        return { findings: [], unchecked, merged: 0, isSettled: false }
      }
    },

    /** Where accepted transactions are. Without a node, they may wait unseen. */
    async places(): Promise<{ readonly waiting: number; readonly unchecked: readonly Unchecked[] }> {
      const wasAsked = isPlaced
      await place(countWaiting)
      const unseen: Unchecked = {
        what: `${waiting} accepted transactions`,
        why: 'they are in no block, and no node said where they are',
      }
      const unchecked = placesUnread ? [placesUnread] : !wasAsked && waiting > 0 ? [unseen] : []
      return { waiting, unchecked }
    },
  }
}
