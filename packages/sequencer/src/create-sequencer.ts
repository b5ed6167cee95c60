import { setTimeout as sleep } from 'node:timers/promises'
import { hexOrNull, toHex } from '@ratatosk/cbor'
import { isLayer1Error } from '@ratatosk/layer1'
import type { SlotConfig } from '@ratatosk/ledger'
import type { Operation, OperationDetails, OperationResult } from '@ratatosk/ports'
import type { Contracts } from '@ratatosk/protocol'
import type { Block, HeldLease, Lease } from '@ratatosk/store'
import { createContext, type Resources, type SequencerSettings, settingsOf } from './context.js'
import { type Cycle, createCycle } from './cycle.js'
import { notActive, resultOf } from './errors.js'
import { createOperationRunner } from './run-operation.js'
import { createScheduler } from './scheduler.js'
import { createAnswerer } from './summons/answerer.js'
import { openQuestionBook, type QuestionBook } from './summons/questions.js'
import { canAnswer } from './summons/send-answer.js'
import type { BlockSnapshot, Sequencer, SequencerOptions, SequencerSnapshot, Step } from './types.js'

/**
 * Creates a sequencer. Of all sequencers on one store, one is active at a time, elected by a lease. The
 * active sequencer commits the mempool's transactions in blocks, merges mature blocks, and recovers from
 * crashes and from roll-backs of layer 1.
 *
 * @example
 * const options = { store, submissions, layer1, contracts, operator, roots, genesis, holder: 'node-1' }
 * const sequencer = createSequencer(options)
 * await sequencer.start()
 * const result = await sequencer.run('init') // { kind: 'initiated', … }
 * await sequencer.close() // before roots, store and layer 1
 */
export function createSequencer(given: SequencerOptions): Sequencer {
  const { resources, options } = settingsOf(given)
  const { store, layer1, contracts, log } = resources
  const { holder, leaseMs } = options
  let closing = new AbortController()
  const book = openQuestionBook()
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
      resources,
      options,
      book,
      held,
      slots,
      closing: closing.signal,
      step(name) {
        lastStep = name
        given.observer?.step(name)
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
      // Another process may answer now.
      book.see([])
      announce()
      await held.release()
    }
  }

  return {
    async start() {
      if (closing.signal.aborted) await running
      // Another call may have started it meanwhile.
      if (closing.signal.aborted) {
        closing = new AbortController()
        running = undefined
      }
      running ??= loop()
    },
    get active() {
      return isActive()
    },
    get overdueMs() {
      return isActive() ? present?.session.cycle.context.commits.overdueMs : undefined
    },
    get faultMs() {
      return isActive() ? (present?.session.cycle.faultMs ?? 0) : 0
    },
    questions: book,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async run(operation, details) {
      if (present !== undefined && isActive()) return present.session.run(operation, details)
      const { code, message } = notActive()
      return { kind: 'refused', code, message }
    },
    snapshot() {
      const { session, held } = present ?? {}
      const active = isActive()
      const lease = active ? held?.lease : undefined
      return snapshotOf({ options, contracts, active, lease, cycle: session?.cycle, lastStep })
    },
    async close() {
      closing.abort()
      await running
    },
  }
}

interface SessionOptions {
  readonly resources: Resources
  readonly options: SequencerSettings
  readonly book: QuestionBook
  readonly held: HeldLease
  readonly slots: SlotConfig
  /** Aborts when the sequencer closes. */
  readonly closing: AbortSignal
  step(name: Step): void
}

/** The work under one lease: scheduled work, and operations in between. */
interface Session {
  readonly cycle: Pick<Cycle, 'activity' | 'context' | 'fault' | 'faultMs' | 'view'>
  run(operation: Operation, details?: OperationDetails): Promise<OperationResult>
  /** Works until the lease is lost or the sequencer closes. Resolves when the last step has ended. */
  loop(): Promise<void>
}

function openSession({ resources, options, book, held, slots, closing, step }: SessionOptions): Session {
  const over = new AbortController()
  const ends = AbortSignal.any([held.lost, closing, over.signal])
  const lost = AbortSignal.any([held.lost, over.signal])
  const cycle = createCycle(createContext({ resources, options, held, slots, ends, lost, step }))
  const scheduler = createScheduler(cycle)
  const answerer = canAnswer(cycle.context) ? createAnswerer(cycle.context, book, ends) : undefined
  const runOperation = createOperationRunner(cycle)
  let wakeUp = new AbortController()

  async function work(): Promise<void> {
    while (!ends.aborted) {
      wakeUp = new AbortController()
      const next = await (cycle.tryRunScheduled(scheduler.tick) ?? options.pollMs)
      if (next === undefined) over.abort()
      else await sleep(next, undefined, { signal: wakeUp.signal }).catch(() => undefined)
    }
    await cycle.idle()
  }

  /** Beside all other work: neither waits for the other. */
  async function answerQuestions(): Promise<void> {
    while (answerer !== undefined && !ends.aborted)
      await sleep(await answerer.tick(), undefined, { signal: ends }).catch(() => undefined)
  }

  return {
    cycle,

    async run(operation, details) {
      if (operation !== 'commit' && operation !== 'merge') scheduler.cancelInit()
      try {
        return await runOperation(operation, details)
      } catch (error) {
        const result = resultOf(ends.aborted ? notActive() : error)
        if (result === undefined) throw error
        return result
      } finally {
        wakeUp.abort()
      }
    },

    async loop() {
      ends.addEventListener('abort', () => wakeUp.abort(), { once: true })
      await Promise.all([work(), answerQuestions()])
    },
  }
}

interface SnapshotSources {
  readonly options: SequencerSettings
  readonly contracts: Contracts
  readonly active: boolean
  readonly lease: Lease | undefined
  readonly cycle: Pick<Cycle, 'activity' | 'fault' | 'view'> | undefined
  readonly lastStep: Step | undefined
}

function snapshotOf(sources: SnapshotSources): SequencerSnapshot {
  const { options, contracts, active, lease, cycle, lastStep } = sources
  const { fault, activity, view } = cycle ?? {}
  const local = view?.local
  const blocks = new Map(
    [...(local?.oldestUnmerged ?? []), ...(local?.unconfirmed ?? [])].map((block) => [block.height, block]),
  )
  return {
    holder: options.holder,
    active,
    leaseExpiresAt: lease?.expiresAt.toISOString() ?? null,
    activity: activity ?? null,
    lastStep: lastStep ?? null,
    fault: fault ? { code: fault.code, message: fault.message } : null,
    utxosRoot: hexOrNull(local?.newest?.utxosRoot),
    confirmed: hexOrNull(local?.confirmed?.headerHash),
    unmerged: [...blocks.values()].map(toSnapshot),
    rootUnit: contracts.scripts.queue.unit,
    settings: Object.fromEntries(
      Object.entries(options).filter(
        (entry): entry is [string, number | boolean] =>
          typeof entry[1] === 'number' || typeof entry[1] === 'boolean',
      ),
    ),
  }
}

function toSnapshot(block: Block): BlockSnapshot {
  const { height, headerHash, state, transactions, commitTransaction, mergeTransaction } = block
  return {
    height: Number(height),
    headerHash: toHex(headerHash),
    state,
    transactions,
    commitTransaction: hexOrNull(commitTransaction?.id),
    mergeTransaction: hexOrNull(mergeTransaction?.id),
  }
}
