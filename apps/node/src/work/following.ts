import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { Evidence } from '@ratatosk/block'
import type { Follower } from '@ratatosk/follower'
import type { Watcher } from '@ratatosk/follower/watcher'
import type { NodeContext } from '../context.js'
import type { Settlement } from '../layer1/settlement.js'
import { watches } from '../roles.js'
import type { Storage } from '../storage/open-storage.js'
import { startFollower } from './follower.js'
import { openWatcher } from './watcher.js'

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
