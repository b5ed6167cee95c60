import { equalBytes, toHex } from '@ratatosk/cbor'
import { blockOf, createNodeRun, type NodeRun } from './audit-node.js'
import { type AuditedChain, undoableBlocks } from './chain.js'
import { blockAt, difference } from './findings.js'
import { blake2b224 } from './header.js'
import type { AuditedLedger } from './ledger.js'
import { type Sources, Unavailable } from './sources.js'
import { headerOf, type RootedQueue, readAhead, type Trace, traceBack } from './trace.js'
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

/** Where accepted transactions are: how many are in no block, and what of it is not known. */
interface Places {
  readonly waiting: number
  readonly unchecked: readonly Unchecked[]
}

type Accepted = NonNullable<AuditOptions['accepted']>

/** All readings so far. */
interface Run extends RunContext {
  readonly options: Pick<AuditOptions, 'accepted' | 'onProgress'>
  readonly nodeRun: NodeRun | undefined
  readonly genesisRoot: Uint8Array
  /** The list of accepted transactions can be read once. */
  places: Places | undefined
  /** A block after the newest one of layer 1, when it was first seen. */
  extra: NamedHeader | undefined
  isFirst: boolean
  /** Height of the newest known block of layer 1. */
  top: number
}

/** Reads all sources, as often as it is asked to. */
export function createRun(options: AuditOptions, context: RunContext) {
  const { sources, ledger, chain, pause } = context
  const nodeContext = { ledger, chain, pause, newerBodies: () => newerBodies(context) }
  const nodeRun = sources.node && createNodeRun(sources.node, nodeContext)
  const run: Run = {
    ...context,
    options,
    nodeRun,
    genesisRoot: ledger.root,
    places: undefined,
    extra: undefined,
    isFirst: true,
    top: 0,
  }
  return {
    async read(): Promise<Outcome> {
      nodeRun?.begin()
      try {
        return await compare(run)
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error
        const { what, why } = error
        const unchecked = [{ what, why }, ...unjudged(run), ...(nodeRun?.unchecked() ?? [])]
        return { findings: [], unchecked, merged: 0, isSettled: false }
      }
    },

    /** Where accepted transactions are. Without a node, they may wait unseen. */
    async places(): Promise<Places> {
      if (run.places !== undefined) return run.places
      const places = await placed(run, (ids) => countWaiting(chain, ids))
      if (places.waiting === 0) return places
      const what = `${places.waiting} accepted transactions`
      const why = 'they are in no block, and no node said where they are'
      return { ...places, unchecked: [{ what, why }] }
    },
  }
}

/** Undoes the newest blocks that layer 1 does not have. */
function align(chain: AuditedChain, trace: Trace): void {
  let keep = trace.base
  while (keep < Math.min(chain.height, trace.height) && isAt(keep + 1, chain, trace)) keep++
  while (chain.height > keep) {
    if (chain.undo()) continue
    throw new Unavailable(
      `Blocks from ${keep + 1} on`,
      `layer 1 removed more than ${undoableBlocks} blocks meanwhile: audit again`,
    )
  }
}

function isAt(height: number, chain: AuditedChain, trace: Trace): boolean {
  const [hash, expected] = [chain.hashAt(height), trace.hashAt(height)]
  return hash !== undefined && expected !== undefined && equalBytes(hash, expected)
}

/** Audits the blocks that layer 1 vouches for and the archive has at their heights. */
async function extend({ sources, chain, nodeRun, options, signal }: Run, trace: Trace): Promise<void> {
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
      options.onProgress?.({ height: chain.height, transactions: chain.transactions })
    }
  } finally {
    await comparing
  }
}

/** The block after the chain that was there at the first reading, if it is still there. */
async function findExtra(run: Run): Promise<NamedHeader | undefined> {
  const { isFirst, extra, sources, chain } = run
  if (!isFirst && extra === undefined) return undefined
  const next = await sources.header(chain.height + 1)
  if (isFirst) run.extra = next
  else if (!extra || !next || !equalBytes(next.headerHash, extra.headerHash)) run.extra = undefined
  run.isFirst = false
  return run.extra
}

/** Bodies of the blocks that layer 1 has had since, as far as the archive has them. */
async function* newerBodies({ sources, chain, signal }: RunContext): AsyncGenerator<Uint8Array, void> {
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
async function derive(run: Run): Promise<QueueReading> {
  const { sources, chain } = run
  for (let round = 1; ; round++) {
    const reading = await sources.queue()
    const queue = rooted(reading)
    const trace = queue && (await traceBack(queue, chain, sources))
    if (trace === undefined) return reading
    run.top = trace.height
    align(chain, trace)
    const before = chain.height
    await extend(run, trace)
    if (chain.height <= before + fewBlocks || round === mostRounds) return reading
  }
}

async function compare(run: Run): Promise<Outcome> {
  const { chain, nodeRun } = run
  const reading = await derive(run)
  const queue = rooted(reading)
  if (queue === undefined) {
    const message = 'The state queue on layer 1 is broken'
    const found = reading.fault ?? 'no confirmed state'
    const findings = [{ kind: 'queue-broken', message, found }] as const
    return { findings, unchecked: [], merged: 0, isSettled: false }
  }
  const found = await compareQueue(queue, run, await findExtra(run))
  const merged = chain.heightOf(queue.confirmed.headerHash)
  const bridged = await compareTreasury(run, queue, merged)
  const askPlaces = async ({ place }: NodeRun) => {
    run.places ??= await placed(run, place)
  }
  const shown = nodeRun ? await nodeRun.compare(queue, () => askPlaces(nodeRun)) : []
  const unchecked = nodeRun?.unchecked() ?? []
  const findings = [...found, ...bridged.findings, ...shown]
  return {
    findings,
    unchecked: [...bridged.unchecked, ...unchecked],
    merged: merged ?? 0,
    ...(bridged.treasury && { treasury: bridged.treasury }),
    isSettled: findings.length === 0 && (unchecked.length === 0 || nodeRun?.isGivenUp === true),
  }
}

async function compareTreasury(
  { treasury }: RunContext,
  { bridge, blocks }: RootedQueue,
  merged: number | undefined,
): Promise<TreasuryOutcome> {
  if (treasury === undefined || bridge === undefined || merged === undefined)
    return { findings: [], unchecked: [] }
  return treasury(bridge, merged, merged + blocks.length)
}

async function placed(
  { options: { accepted = [] }, signal }: Run,
  count: (ids: Accepted) => Promise<number>,
): Promise<Places> {
  try {
    return { waiting: await count(accepted), unchecked: [] }
  } catch (error) {
    signal.throwIfAborted()
    const unread = { what: 'The places of accepted transactions', why: reasonOf(error) }
    return { waiting: 0, unchecked: [unread] }
  }
}

async function countWaiting(chain: AuditedChain, ids: Accepted): Promise<number> {
  let count = 0
  for await (const id of ids) if (blockOf(chain, id.toLowerCase()) === 0) count++
  return count
}

/** The blocks of layer 1 that another reading would have judged. */
function unjudged({ chain, top }: Run): readonly Unchecked[] {
  if (chain.height >= top || chain.end !== undefined) return []
  const from = chain.height + 1
  const what = from === top ? `Block ${top}` : `Blocks ${from} to ${top}`
  return [{ what, why: 'not judged, because a source did not answer' }]
}

/**
 * Compares the chain of an archive with the state queue of layer 1.
 *
 * @param extra an archive's block after the newest of layer 1
 */
async function compareQueue(
  { confirmed, blocks }: RootedQueue,
  { chain, sources, genesisRoot }: Run,
  extra: NamedHeader | undefined,
): Promise<readonly Finding[]> {
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
