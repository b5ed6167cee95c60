import { setTimeout as sleep } from 'node:timers/promises'
import { isLayer1Error } from '@ratatosk/layer1'
import type { SlotConfig } from '@ratatosk/ledger'
import type { Log } from '@ratatosk/ports'
import type { HeldLease } from '@ratatosk/store'
import { settingsOf } from './context.js'
import { notActive } from './errors.js'
import { openSession, type Session } from './session.js'
import { snapshotOf } from './snapshot.js'
import type { Sequencer, SequencerOptions, Step } from './types.js'

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }

/**
 * Creates a sequencer. Of all sequencers on one store, one is active at a time, elected by a lease. The
 * active sequencer commits the mempool's transactions in blocks, merges mature blocks, and recovers from
 * crashes and from roll-backs of layer 1.
 *
 * @example
 * const sequencer = createSequencer({ store, layer1, contracts, operator, administrator, roots, genesis,
 * holder: 'node-1', log }) await sequencer.start() const result = await sequencer.run('init') // { kind:
 * 'initiated', … } // … await sequencer.close() // before roots, store and layer 1
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

  const isActive = (): boolean => present !== undefined && !present.held.lost.aborted
  let announced = false
  const announce = (): void => {
    if (announced === isActive()) return
    announced = isActive()
    for (const listener of [...listeners]) listener(announced)
  }

  /** Ends early when the sequencer closes. */
  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: closing.signal }).catch(() => undefined)
  }

  /** Tries to take the lease, and works while it is held. */
  async function loop(): Promise<void> {
    let reported = ''
    let slots: SlotConfig | undefined
    while (!closing.signal.aborted) {
      try {
        slots ??= await layer1.slots({ signal: closing.signal })
        const held = await store.leases.hold('sequencer', holder, leaseMs)
        if (held !== undefined) await workUnder(held, slots)
        reported = ''
      } catch (error) {
        const reason = isLayer1Error(error) ? `layer 1: ${error.message}` : String(error)
        if (reason !== reported && !closing.signal.aborted)
          log.warn({}, `The sequencer cannot start: ${reason}`)
        reported = reason
      }
      await pause(Math.min(leaseMs / 5, 1000))
    }
  }

  async function workUnder(held: HeldLease, slots: SlotConfig): Promise<void> {
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
    held.lost.addEventListener('abort', announce, { once: true })
    log.info({ holder }, `${holder} is the active sequencer`)
    announce()
    try {
      await session.loop()
    } finally {
      held.lost.removeEventListener('abort', announce)
      if (held.lost.aborted) log.warn({ holder }, `${holder} lost the lease of the sequencer`)
      present = undefined
      announce()
      await held.release()
    }
  }

  return {
    async start() {
      running ??= loop()
    },
    get active() {
      return isActive()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async run(operation, details) {
      if (present !== undefined && isActive()) return present.session.run(operation, details)
      const { code, message } = notActive()
      return { kind: 'refused', code, message }
    },
    snapshot: () => snapshotOf({ settings, active: isActive(), present, lastStep }),
    async close() {
      closing.abort()
      await running
    },
  }
}
