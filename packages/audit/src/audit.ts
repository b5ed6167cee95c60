import { toHex } from '@ratatosk/cbor'
import { type AuditedChain, createChain } from './chain.js'
import { createFindings, difference, type FindingList } from './findings.js'
import { textOf } from './grammar/output.js'
import { type AuditedLedger, createLedger } from './ledger.js'
import { createRun } from './run.js'
import { sourcesOf } from './sources.js'
import { createTreasury } from './treasury.js'
import type { AuditOptions, AuditReport, Unchecked } from './types.js'

/**
 * Audits a rollup: derives its ledger from genesis by the bodies of an archive, and compares it with the
 * headers, with the state queue on layer 1 and with a node. It shares no code with what it audits but the
 * CBOR reader and the trie. Bad data are findings. Signatures, scripts, operators' turns, and whether
 * layer 1 has had the deposits that are spent there are not audited.
 *
 * Lets other work run every 10 ms, except while one body is encoded again and one block goes into the trie.
 * In memory are all unspent outputs (the bytes of each and about 1,000 more), at most 90 bytes for each
 * transaction and 32 more while the node does not show its block, 28 for each block, the largest body and
 * what follows from it, 16 MiB of the next bodies and one body more, 300 for each deposit, and the changes
 * of the 256 newest blocks.
 *
 * @throws TypeError if the genesis cannot be read, or `bridge` is no script
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
  const bridge = hashOfBridge(options.bridge)
  const chain = createChain({ ledger, findings, judge: sources.judge, bridge, pause })
  const treasury =
    bridge && createTreasury({ ledger, chain, sources, bridge, backed: options.backed ?? 0n, pause })
  const run = createRun(options, { sources, ledger, chain, treasury, pause, signal })
  let outcome = await run.read()
  for (let reading = 1; reading < readings && !outcome.isSettled; reading++) {
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
    lovelace: {
      genesis: ledger.genesisValue.lovelace,
      fees: ledger.fees,
      paid: ledger.paid,
      deposited: ledger.deposited,
      withdrawn: ledger.withdrawn,
      unspent: root.lovelace,
    },
    ...(outcome.treasury && { treasury: outcome.treasury }),
    mintedAssets: ledger.mintedAssets,
    utxosRoot: toHex(root.root),
  }
}

/** The hash of a bridge's script; undefined without one. @param bridge the hash, or its enterprise address */
function hashOfBridge(bridge: Uint8Array | undefined): Uint8Array | undefined {
  if (bridge === undefined || bridge.length === hashLength) return bridge
  const [header = 0] = bridge
  if (bridge.length === hashLength + 1 && header >> 4 === enterpriseScript) return bridge.subarray(1)
  throw new TypeError('@ratatosk/audit: `bridge` is neither the hash nor the address of a script')
}

const hashLength = 28
/** CIP-19: a script without a stake part. */
const enterpriseScript = 7

async function recount(ledger: AuditedLedger, findings: FindingList, pause: () => Promise<void>) {
  const { found, expected, root } = await ledger.recount(pause)
  const { lovelace } = found
  if (!found.add(expected, -1n).isZero)
    findings.add({
      kind: 'supply',
      message:
        'The unspent outputs do not hold genesis, mints, deposits and fee outputs less fees and withdrawals',
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

/** Milliseconds of work between two turns of the event loop. */
const longestTurnMs = 10

/** Returns a function that lets the event loop run once enough time has passed, and ends an aborted audit. */
function createPause(signal: AbortSignal): () => Promise<void> {
  let since = performance.now()
  return async () => {
    signal.throwIfAborted()
    if (performance.now() - since < longestTurnMs) return
    await new Promise((resolve) => setImmediate(resolve))
    since = performance.now()
  }
}
