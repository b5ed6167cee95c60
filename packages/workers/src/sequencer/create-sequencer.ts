import { setTimeout as sleep } from 'node:timers/promises'
import { isLayer1Error } from '@ratatosk/layer1'
import type { SlotConfig } from '@ratatosk/ledger'
import type { Log } from '../validation/activity.js'
import { type HeldLease, holdLease } from './hold-lease.js'
import { notActive } from './refusal.js'
import { openSession, type Session } from './session.js'
import { settingsOf } from './settings.js'
import { snapshotOf } from './snapshot.js'
import type { Sequencer, SequencerOptions, Step } from './types.js'

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }

/**
 * Makes a sequencer: of all on one store, one is active, by lease. It commits the mempool's transactions in blocks, merges mature blocks,
 * and mends what a crash or a roll-back of layer 1 leaves.
 *
 * @example
 * const sequencer = createSequencer({ store, layer1, contracts, operator, administrator, roots, genesis, holder: 'node-1', log })
 * await sequencer.start()
 * const result = await sequencer.run('init') // { kind: 'initiated', … }
 * // …
 * await sequencer.close() // before roots, store and layer 1
 */
export function createSequencer(options: SequencerOptions): Sequencer {
  const settings = settingsOf(options)
  const { store, layer1, holder, leaseMs } = settings
  const { log = silent, observer } = options
  const closing = new AbortController()
  const listeners = new Set<(active: boolean) => void>()
  let present: { readonly session: Session; readonly held: HeldLease } | undefined
  let lastStep: Step | undefined
  let running: Promise<void> | undefined

  const active = (): boolean => present !== undefined && !present.held.lost.aborted
  let told = false
  const tell = (): void => {
    if (told === active()) return
    told = active()
    for (const listener of [...listeners]) listener(told)
  }

  /** Shorter when the sequencer closes. */
  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: closing.signal }).catch(() => undefined)
  }

  async function work(): Promise<void> {
    let complaint = ''
    let slots: SlotConfig | undefined
    while (!closing.signal.aborted) {
      try {
        slots ??= await layer1.slots({ signal: closing.signal })
        const held = await holdLease(store.leases, 'sequencer', holder, leaseMs)
        if (held !== undefined) await workWith(held, slots)
        complaint = ''
      } catch (error) {
        const said = isLayer1Error(error) ? `layer 1: ${error.message}` : String(error)
        if (said !== complaint && !closing.signal.aborted) log.warn({}, `the sequencer cannot begin: ${said}`)
        complaint = said
      }
      await pause(Math.min(leaseMs / 5, 1000))
    }
  }

  async function workWith(held: HeldLease, slots: SlotConfig): Promise<void> {
    const session = openSession({
      settings,
      held,
      slots,
      log,
      closing: closing.signal,
      step(name) {
        lastStep = name
        observer?.step(name)
      },
    })
    present = { session, held }
    held.lost.addEventListener('abort', tell, { once: true })
    log.info({ holder }, `${holder} is the active sequencer`)
    tell()
    try {
      await session.loop()
    } finally {
      held.lost.removeEventListener('abort', tell)
      if (held.lost.aborted) log.warn({ holder }, `${holder} has lost the lease of the sequencer`)
      present = undefined
      tell()
      await held.release()
    }
  }

  return {
    async start() {
      running ??= work()
    },
    get active() {
      return active()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async run(operation) {
      if (present !== undefined && active()) return present.session.run(operation)
      const { code, message } = notActive()
      return { kind: 'refused', code, message }
    },
    snapshot: () => snapshotOf({ settings, active: active(), present, lastStep }),
    async close() {
      closing.abort()
      await running
    },
  }
}
