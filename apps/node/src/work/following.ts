import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { archiveOfBlocks } from '@ratatosk/archivist'
import type { EventSource, Evidence, Header } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import {
  createFollower,
  type Follower,
  type FollowerOptions,
  layer1Chain,
  openEvidence,
} from '@ratatosk/follower'
import { createWatcher, type Watcher } from '@ratatosk/follower/watcher'
import { openWallet } from '@ratatosk/layer1'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import type { Log } from '@ratatosk/ports'
import { isProtocolError, openEventSource } from '@ratatosk/protocol'
import { type NodeContext, present } from '../context.js'
import { blockRules, type Settlement } from '../layer1/settlement.js'
import { watches } from '../roles.js'
import { shortWindow } from '../settings/derived.js'
import { openRebuildable, type Storage } from '../storage/open-storage.js'

/** A follower, with what removes the invalid blocks that it finds. */
interface Parts {
  readonly follower: Follower
  readonly watcher: Watcher | undefined
}

/** The follower of layer 1's blocks in this process. */
export interface Following {
  /** Invalid blocks that the follower has found, for archivists to serve. */
  readonly evidence: Evidence | undefined
  /** The parts at work; undefined while another process of the same store has the watcher's lease. */
  now(): Parts | undefined
  /** Why the parts could not be opened at the last attempt; undefined if they were. */
  fault(): string | undefined
}

/** Follows layer 1's blocks. Of a sequencer's processes, one watches: they share store and wallet. */
export async function startFollowing(
  context: NodeContext,
  storage: Storage,
  settlement: Settlement,
  directory: string | undefined,
): Promise<Following | undefined> {
  const { settings, duties } = context
  const open = async (context: NodeContext) => {
    const watcher = watches(settings) ? openWatcher(context, storage, settlement) : undefined
    const { follower, evidence } = await startFollower(context, storage, settlement, directory, watcher)
    return { follower, watcher, evidence }
  }
  if (duties.bodies === 'archive') {
    const parts = await open(context)
    return { evidence: parts.evidence, now: () => parts, fault: () => undefined }
  }
  return watches(settings) ? followInTurn(context, storage, open) : undefined
}

/** Opens the parts whenever this process gets the lease, and closes them when it loses it. */
function followInTurn(
  context: NodeContext,
  { store }: Storage,
  open: (context: NodeContext) => Promise<Parts>,
): Following {
  const { settings, log, onClose } = context
  const ttlMs = settings.SEQUENCER_LEASE_MS
  const holder = `${hostname()}/${process.pid}/${randomBytes(3).toString('hex')}`
  const closing = new AbortController()
  let parts: Parts | undefined
  let fault: string | undefined

  async function work(lost: AbortSignal): Promise<void> {
    const closers: (() => Promise<unknown>)[] = []
    async function closeAll(): Promise<void> {
      for (const close of closers.splice(0).reverse())
        await close().catch((err: unknown) => log.warn({ err }, 'A part of the watcher failed to close'))
    }
    const ended = new Promise<void>((resolve) => {
      for (const signal of [lost, closing.signal]) {
        signal.addEventListener('abort', () => resolve(), { once: true })
        if (signal.aborted) resolve()
      }
    })
    // Also while they open: only the holder of the lease may use the wallet.
    const closed = ended.then(closeAll)
    try {
      parts = await open({ ...context, onClose: (close) => closers.push(close) })
      fault = undefined
      log.info({ holder }, 'This process watches the blocks of other operators')
      await closed
    } finally {
      parts = undefined
      await closeAll()
    }
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      // If it fails, the readiness of the database says why.
      const held = await store.leases.hold('watcher', holder, ttlMs).catch(() => undefined)
      if (held === undefined) fault = undefined
      else
        await work(held.lost)
          .finally(() => held.release())
          .catch((error: unknown) => {
            const reason = error instanceof Error ? error.message : String(error)
            if (reason !== fault) log.error({ err: error }, `The watcher cannot start: ${reason}`)
            fault = reason
          })
      await pause(ttlMs / 5, undefined, { signal: closing.signal }).catch(() => undefined)
    }
  }

  const running = run()
  onClose(async () => {
    closing.abort()
    await running
  })
  return { evidence: undefined, now: () => parts, fault: () => fault }
}

/**
 * Archives layer 1's blocks with the peers' bodies; beside a sequencer, the store's blocks first. Without
 * `directory`, outputs are in memory and invalid blocks are not kept.
 */
async function startFollower(
  context: NodeContext,
  storage: Storage,
  { layer1, contracts }: Settlement,
  directory: string | undefined,
  watcher: Watcher | undefined,
): Promise<{ readonly follower: Follower; readonly evidence: Evidence | undefined }> {
  const { settings, duties, network, genesis, keys, bodyBudget, log, onClose } = context
  const evaluator = createEvaluator()
  onClose(() => evaluator.close())
  const bridge = contracts.bridge?.place.script.hash
  const maxBytes = settings.EVIDENCE_MAX_BYTES
  const evidence =
    directory === undefined || maxBytes === 0
      ? undefined
      : openEvidence({ dir: join(directory, 'invalid-blocks'), maxBytes })
  const options: FollowerOptions = {
    chain: layer1Chain(layer1, contracts),
    peers: settings.ARCHIVIST_PEERS ?? [],
    budget: bodyBudget,
    archive: storage.store.archive,
    genesis: genesis?.outputs ?? [],
    rules: { ...blockRules(context, contracts), evaluator },
    ...(contracts.bridge && { events: eventsOf({ layer1, contracts }) }),
    log: beforeInit(log),
    // As often as a devnet makes a block.
    pollMs: network.isDevnet ? 1000 : 5000,
    // One body at a time beside those that the sequencer holds.
    ...(duties.sequences && {
      own: archiveOfBlocks(storage.store.blocks, { cacheBytes: 0, bridge }),
      concurrency: 1,
    }),
    ...(evidence && { evidence }),
    ...(watcher && {
      watch: watcher.watch,
      unavailable: othersOnly(watcher, keys.operator?.payment.hash),
      available: watcher.available,
    }),
  }
  const open = (trieDir: string) => createFollower({ ...options, trieDir })
  const follower =
    directory === undefined
      ? await createFollower(options)
      : await openRebuildable(join(directory, 'archive-outputs'), open, log)
  onClose(() => follower.close())
  return { follower, evidence }
}

/** The deposits on layer 1, whose slots are read when they are first needed. */
function eventsOf({ layer1, contracts }: Pick<Settlement, 'layer1' | 'contracts'>): EventSource {
  let source: EventSource | undefined
  return {
    async between(start, end, signal) {
      source ??= openEventSource(contracts, layer1, await layer1.slots(signal && { signal }))
      return source.between(start, end, signal)
    },
  }
}

/** A log to which it is no failure that the sequencer has not begun the state queue yet. */
export function beforeInit(log: Log): Log {
  const told = (name: 'warn' | 'error') => (fields: object, message: string) => {
    const { err, ...others } = fields as { readonly err?: unknown }
    const isFirst = isProtocolError(err) && err.message.startsWith('Layer 1 has no state queue')
    if (isFirst) log.info(others, message)
    else log[name](fields, message)
  }
  return {
    info: (fields, message) => log.info(fields, message),
    warn: told('warn'),
    error: told('error'),
  }
}

/** An operator never asks itself: what its store has lost for a while, silence would make a verdict. */
function othersOnly({ unavailable }: Watcher, operator: Uint8Array | undefined): Watcher['unavailable'] {
  const isOwn = ({ operatorVkey }: Header) => operator !== undefined && equalBytes(operatorVkey, operator)
  return async (block, signal) => (isOwn(block.header) ? undefined : unavailable(block, signal))
}

/** Opens the watcher, which removes invalid blocks and asks for bodies. Does not wait for layer 1. */
function openWatcher(context: NodeContext, { store }: Storage, { layer1, contracts }: Settlement): Watcher {
  const { settings, duties, network, parameters, keys, log, onClose } = context
  const short = shortWindow(settings)
  if (short !== undefined) log.warn({ code: 'WATCHER_SHORT_WINDOW' }, short)
  const evaluator = createEvaluator()
  onClose(() => evaluator.close())
  const most = settings.WATCHER_MAX_LOVELACE_PER_HOUR
  const watcher = createWatcher({
    contracts,
    rules: { parameters, networkId: network.id, slots: network.slots },
    layer1,
    wallet: openWallet({ layer1, keys: present(keys.watcher, 'wallet of a watcher'), evaluator }),
    verdicts: store.verdicts,
    archive: store.archive,
    evaluator,
    log: beforeInit(log),
    ...(settings.WATCHER_PATIENCE_MS !== undefined && { patienceMs: settings.WATCHER_PATIENCE_MS }),
    // Processes of a sequencer open a watcher in turn; see `startFollowing`.
    ...(duties.bodies === 'archive' &&
      settings.DATABASE_URL !== undefined && {
        lease: { leases: store.leases, ttlMs: settings.SEQUENCER_LEASE_MS },
      }),
    ...(most > 0 && { maxLovelacePerHour: BigInt(most) }),
    // Requests to a devnet cost nothing, and it makes a block every second.
    pollMs: network.isDevnet ? 200 : 5000,
  })
  onClose(() => watcher.close())
  return watcher
}
