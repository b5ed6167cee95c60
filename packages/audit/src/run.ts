import { equalBytes, toHex } from '@ratatosk/cbor'
import { blockOf } from './audit-node.js'
import { type AuditedChain, undoableBlocks } from './chain.js'
import { blockAt, difference } from './findings.js'
import { blake2b224 } from './header.js'
import type { AuditedLedger } from './ledger.js'
import { createNodeRun } from './node-run.js'
import { readAhead } from './read-ahead.js'
import { type Sources, Unavailable } from './sources.js'
import { headerOf, type RootedQueue, type Trace, traceBack } from './trace.js'
import type { createTreasury, TreasuryOutcome } from './treasury.js'
import type { AuditOptions, Finding, NamedHeader, QueueReading, Unchecked } from './types.js'

/** The result of one reading of all sources, besides the findings about blocks. */
export interface Outcome {
  readonly findings: readonly Finding[]
  readonly unchecked: readonly Unchecked[]
  readonly merged: number
  readonly treasury?: TreasuryOutcome['treasury']
  /** Whether another reading is of no use. */
  readonly isSettled: boolean
}

interface RunContext {
  readonly sources: Sources
  readonly ledger: AuditedLedger
  readonly chain: AuditedChain
  /** Compares the treasury of a bridge. */
  readonly treasury: ReturnType<typeof createTreasury> | undefined
  readonly pause: () => Promise<void>
  readonly signal: AbortSignal
}

/** Blocks that the last round adds at most, and how many rounds there are. */
const [fewBlocks, mostRounds] = [4, 10]

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** A queue that is sound and has a confirmed state. */
const rooted = ({ fault, confirmed, blocks, bridge }: QueueReading): RootedQueue | undefined =>
  fault === undefined && confirmed !== undefined
    ? { confirmed, blocks, ...(bridge && { bridge }) }
    : undefined

/** Reads all sources, as often as it is asked to. */
export function createRun(
  { accepted, onProgress }: AuditOptions,
  { sources, ledger, chain, treasury, pause, signal }: RunContext,
) {
  const nodeRun = sources.node && createNodeRun(sources.node, { ledger, chain, pause, newerBodies })
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
    let comparing = Promise.resolve()
    try {
      for await (const { header, body } of readAhead(trace, chain.height + 1, sources, signal)) {
        if (chain.end !== undefined) return
        const next = await header
        const expected = trace.hashAt(chain.height + 1)
        if (next === undefined || expected === undefined || !equalBytes(next.headerHash, expected)) return
        const ids = await chain.append(next, () => body)
        await comparing
        // While the next block is judged.
        if (nodeRun) comparing = nodeRun.compareBlock(chain.height, ids)
        comparing.catch(() => undefined)
        onProgress?.({ height: chain.height, transactions: chain.transactions })
      }
    } finally {
      await comparing
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

  /** Bodies of the blocks that layer 1 has had since, as far as the archive has them. */
  async function* newerBodies(): AsyncGenerator<Uint8Array, void> {
    try {
      const queue = rooted(await sources.queue())
      const trace = queue && (await traceBack(queue, chain, sources))
      if (trace === undefined) return
      for await (const block of readAhead(trace, chain.height + 1, sources, signal)) {
        const body = await block.body
        if (body === undefined) return
        yield body
      }
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
    }
  }

  /** Reads layer 1, and the archive as far as layer 1 has blocks. Those that come meanwhile are read too. */
  async function derive(): Promise<QueueReading> {
    for (let round = 1; ; round++) {
      const reading = await sources.queue()
      const queue = rooted(reading)
      const trace = queue && (await traceBack(queue, chain, sources))
      if (trace === undefined) return reading
      top = trace.height
      align(trace)
      const before = chain.height
      await extend(trace)
      if (chain.height <= before + fewBlocks || round === mostRounds) return reading
    }
  }

  async function compare(): Promise<Outcome> {
    const reading = await derive()
    const queue = rooted(reading)
    if (queue === undefined)
      return {
        findings: [
          {
            kind: 'queue-broken',
            message: 'The state queue on layer 1 is broken',
            found: reading.fault ?? 'no confirmed state',
          },
        ],
        unchecked: [],
        merged: 0,
        isSettled: false,
      }
    const found = await compareQueue(queue, chain, sources, genesisRoot, await findExtra())
    const merged = chain.heightOf(queue.confirmed.headerHash)
    const bridged = await compareTreasury(queue, merged)
    const shown = nodeRun ? await nodeRun.compare(queue, () => place((ids) => nodeRun.place(ids))) : []
    const unchecked = nodeRun?.unchecked() ?? []
    return {
      findings: [...found, ...bridged.findings, ...shown],
      unchecked: [...bridged.unchecked, ...unchecked],
      merged: merged ?? 0,
      ...(bridged.treasury && { treasury: bridged.treasury }),
      isSettled:
        found.length + shown.length + bridged.findings.length === 0 &&
        (unchecked.length === 0 || nodeRun?.isGivenUp === true),
    }
  }

  async function compareTreasury(
    { bridge, blocks }: RootedQueue,
    merged: number | undefined,
  ): Promise<TreasuryOutcome> {
    if (treasury === undefined || bridge === undefined || merged === undefined)
      return { findings: [], unchecked: [] }
    return treasury(bridge, merged, merged + blocks.length)
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

/**
 * Compares the chain of an archive with the state queue of layer 1. `genesisRoot` is that of the unspent
 * outputs before the first block; `extra` is an archive's block after the newest of layer 1.
 */
async function compareQueue(
  queue: RootedQueue,
  chain: AuditedChain,
  sources: Pick<Sources, 'header'>,
  genesisRoot: Uint8Array,
  extra: NamedHeader | undefined,
): Promise<readonly Finding[]> {
  const { confirmed, blocks } = queue
  const merged = chain.heightOf(confirmed.headerHash)
  if (merged === undefined)
    return [
      {
        kind: 'block-missing',
        message: 'The archive does not have the block of the confirmed state',
        expected: toHex(confirmed.headerHash),
        found: `${chain.height} other blocks`,
      },
    ]
  const findings: Finding[] = []
  const confirmedHeader = merged === 0 ? undefined : await headerOf(confirmed.headerHash, sources)
  const root = merged === 0 ? genesisRoot : confirmedHeader?.utxosRoot
  const at = { block: blockAt(merged, confirmed.headerHash) }
  const otherRoot = root && difference(root, confirmed.utxosRoot)
  if (otherRoot !== undefined)
    findings.push({
      kind: 'confirmed-state',
      message: 'The confirmed state has another root of the unspent outputs than its block',
      ...otherRoot,
      ...at,
    })
  if (confirmedHeader !== undefined && confirmedHeader.endTime !== confirmed.endTime)
    findings.push({
      kind: 'confirmed-state',
      message: 'The confirmed state ends at another time than its block',
      expected: String(confirmedHeader.endTime),
      found: String(confirmed.endTime),
      ...at,
    })

  let equal = 0
  for (const [place, { headerHash, header: cbor }] of blocks.entries()) {
    const height = merged + place + 1
    const block = blockAt(height, headerHash)
    const otherHash = difference(headerHash, blake2b224(cbor))
    if (otherHash !== undefined)
      findings.push({
        kind: 'header',
        message: 'The header on layer 1 does not have the hash that names it',
        ...otherHash,
        block,
      })
    const derived = chain.hashAt(height)
    if (derived !== undefined && equalBytes(derived, headerHash)) equal++
    else
      findings.push({
        kind: 'block-missing',
        message: 'Layer 1 has a block that the archive does not have at its height',
        expected: block.headerHash,
        found: derived === undefined ? 'none' : toHex(derived),
        block,
      })
  }
  const surplus = (height: number, headerHash: Uint8Array): void => {
    const block = blockAt(height, headerHash)
    const message = 'The archive has a block that layer 1 does not have'
    findings.push({ kind: 'block-extra', message, expected: 'none', found: block.headerHash, block })
  }
  for (let height = merged + equal + 1; height <= chain.height; height++) {
    const hash = chain.hashAt(height)
    if (hash !== undefined) surplus(height, hash)
  }
  if (extra !== undefined) surplus(chain.height + 1, extra.headerHash)
  return findings
}
