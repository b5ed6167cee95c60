import { equalBytes, toHex } from '@ratatosk/cbor'
import { blockOf, createNodeAudit } from './audit-node.js'
import { type AuditedChain, createChain, undoableBlocks } from './chain.js'
import { compareQueue } from './compare-queue.js'
import { createFindings, difference, type FindingList } from './findings.js'
import { createHeldAudit } from './held-outputs.js'
import { type AuditedLedger, createLedger } from './ledger.js'
import { createPause } from './pause.js'
import { type Sources, sourcesOf, Unavailable } from './sources.js'
import { type Trace, traceBack } from './trace.js'
import type { AuditOptions, AuditReport, Finding, NamedHeader, Unchecked } from './types.js'
import { textOf } from './value.js'

/**
 * Audits a rollup: derives its ledger from genesis by the bodies of an archive, and compares it with the
 * headers, with the state queue on layer 1 and with a node. It shares no code with what it audits but the
 * CBOR reader and the trie. Bad data are findings. Signatures, scripts and operators' turns are not audited.
 *
 * Lets other work run every 10 ms, except while one body is encoded again and one block goes into the trie.
 * In memory are all unspent outputs (the bytes of each and about 1,000 more), at most 90 bytes for each
 * transaction, 28 for each block, the largest body and what follows from it, and the changes of the 256
 * newest blocks.
 *
 * @throws TypeError if the genesis cannot be read
 * @throws the reason of the signal
 * @example
 * const report = await audit({ layer1, archivist: openArchivist(url), genesis })
 * if (report.verdict !== 'clean') console.log(report.findings, report.unchecked)
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  const { maxFindings = 1000, readings = 10, settleMs = 1000 } = options
  const signal = options.signal ?? new AbortController().signal
  const pause = createPause(signal)
  const findings = createFindings(maxFindings)
  const ledger = createLedger(options.genesis)
  const sources = sourcesOf(options, signal)
  const chain = createChain({ ledger, findings, judge: sources.judge, pause })
  const run = createRun(options, { sources, ledger, chain, pause, signal })
  let outcome = await run.read()
  for (let reading = 1; reading < readings && !isSettled(outcome); reading++) {
    await sleep(settleMs, signal)
    outcome = await run.read()
  }
  const places = await run.places()
  for (const finding of outcome.findings) findings.add(finding)
  const root = await recount(ledger, findings, pause)
  const unchecked = [...outcome.unchecked, ...places.unchecked, ...uncheckedOf(chain)]
  return {
    verdict: findings.list.length > 0 ? 'defective' : unchecked.length > 0 ? 'incomplete' : 'clean',
    findings: findings.list,
    omittedFindings: findings.omitted,
    unchecked,
    counts: {
      blocks: chain.height,
      merged: outcome.merged,
      transactions: chain.transactions,
      waiting: places.waiting,
      unspentOutputs: ledger.size,
      bodyBytes: chain.bodyBytes,
    },
    lovelace: { genesis: ledger.genesisLovelace, fees: ledger.fees, unspent: root.lovelace },
    mintedAssets: ledger.mintedAssets,
    utxosRoot: toHex(root.root),
  }
}

/** What one reading of all sources gave, besides what is wrong with blocks. */
interface Outcome {
  readonly findings: readonly Finding[]
  readonly unchecked: readonly Unchecked[]
  readonly merged: number
}

const isSettled = ({ findings, unchecked }: Outcome): boolean =>
  findings.length === 0 && unchecked.length === 0

interface RunContext {
  readonly sources: Sources
  readonly ledger: AuditedLedger
  readonly chain: AuditedChain
  readonly pause: () => Promise<void>
  readonly signal: AbortSignal
}

function createRun(
  { accepted, onProgress }: AuditOptions,
  { sources, ledger, chain, pause, signal }: RunContext,
) {
  const { node } = sources
  const nodeAudit = node && createNodeAudit(node, chain, pause)
  const heldAudit = node && createHeldAudit(node, { ledger, chain, pause })
  const genesisRoot = ledger.root
  let waiting = 0
  let isPlaced = false
  let placesUnread: Unchecked | undefined
  /** A block after the newest one of layer 1, when it was first seen. */
  let extra: NamedHeader | undefined
  let isFirst = true

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

  /** Whether the chain has the block of a trace at a height. */
  function isAt(height: number, trace: Trace): boolean {
    const [hash, expected] = [chain.hashAt(height), trace.hashAt(height)]
    return hash !== undefined && expected !== undefined && equalBytes(hash, expected)
  }

  /** Audits the blocks that layer 1 vouches for, as far as the archive has them at their heights. */
  async function extend(trace: Trace): Promise<void> {
    while (chain.height < trace.height && chain.end === undefined) {
      const next = await sources.header(chain.height + 1)
      const expected = trace.hashAt(chain.height + 1)
      if (next === undefined || expected === undefined || !equalBytes(next.headerHash, expected)) return
      const ids = await chain.append(next, () => sources.body(next.headerHash))
      await nodeAudit?.compareBlock(chain.height, ids)
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
      }
    const queue = { confirmed, blocks }
    const trace = await traceBack(queue, chain, sources)
    if (trace !== undefined) {
      align(trace)
      await extend(trace)
    }
    const found = await compareQueue(queue, chain, sources, genesisRoot, await findExtra())
    if (nodeAudit && !isPlaced) await place((ids) => nodeAudit.place(ids))
    const shown = (await nodeAudit?.compare(queue)) ?? []
    const held = await compareHeld()
    return {
      findings: [...found, ...shown, ...held.findings],
      unchecked: held.unchecked,
      merged: chain.heightOf(confirmed.headerHash) ?? 0,
    }
  }

  /** Where a node does not serve its outputs, everything else is compared nevertheless. */
  async function compareHeld(): Promise<Pick<Outcome, 'findings' | 'unchecked'>> {
    if (heldAudit === undefined) return { findings: [], unchecked: [] }
    const what = 'The unspent outputs of the node'
    if (chain.end !== undefined || !chain.agrees)
      return { findings: [], unchecked: [{ what, why: 'those of the chain could not be derived' }] }
    try {
      return { findings: await heldAudit.compare(), unchecked: [] }
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      return { findings: [], unchecked: [{ what: error.what, why: error.why }] }
    }
  }

  /** The list of accepted transactions can be read once. */
  async function place(count: (ids: NonNullable<typeof accepted>) => Promise<number>): Promise<void> {
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

  return {
    async read(): Promise<Outcome> {
      try {
        return await compare()
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error
        const { what, why } = error
        return { findings: [], unchecked: [{ what, why }], merged: 0 }
      }
    },

    /** Where accepted transactions are. Without a node, they may wait unseen. */
    async places(): Promise<{ readonly waiting: number; readonly unchecked: readonly Unchecked[] }> {
      if (!isPlaced) await place(countWaiting)
      const unseen: Unchecked = {
        what: `${waiting} accepted transactions`,
        why: 'they are in no block, and no node was asked',
      }
      const unchecked = placesUnread ? [placesUnread] : !nodeAudit && waiting > 0 ? [unseen] : []
      return { waiting, unchecked }
    },
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

async function recount(ledger: AuditedLedger, findings: FindingList, pause: () => Promise<void>) {
  const { found, expected, root } = await ledger.recount(pause)
  const { lovelace } = found
  if (!found.add(expected, -1n).isZero)
    findings.add({
      kind: 'supply',
      message: 'The unspent outputs do not hold genesis and mints less fees',
      expected: textOf(expected),
      found: `a difference of ${textOf(found)}`,
    })
  const other = difference(root, ledger.root)
  if (other !== undefined)
    findings.add({
      kind: 'utxos-root',
      message: 'The unspent outputs, put together block by block, have another root than all at once',
      ...other,
    })
  return { lovelace, root }
}

function uncheckedOf(chain: AuditedChain): readonly Unchecked[] {
  const unchecked: Unchecked[] = []
  if (chain.end !== undefined) unchecked.push({ what: `Blocks after ${chain.height}`, why: chain.end })
  if (!chain.agrees)
    unchecked.push({
      what: 'The root of the unspent outputs of the newest block',
      why: 'an earlier block led to other outputs',
    })
  return unchecked
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal.addEventListener('abort', stop, { once: true })
  })
}
