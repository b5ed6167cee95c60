import { setTimeout as sleep } from 'node:timers/promises'
import { hexOrNull, toHex } from '@ratatosk/cbor'
import { isLayer1Error } from '@ratatosk/layer1'
import type { SlotConfig } from '@ratatosk/ledger'
import type { Operation, OperationDetails, OperationResult } from '@ratatosk/ports'
import type { Block, HeldLease } from '@ratatosk/store'
import { createContext, type Resources, type SequencerSettings, settingsOf } from './context.js'
import { Cycle } from './cycle.js'
import { notActive, resultOf } from './errors.js'
import { runOperation } from './run-operation.js'
import { createScheduler } from './scheduler.js'
import { canAnswer } from './summons/answer-wallet.js'
import { answerDue, createAnswerer } from './summons/answerer.js'
import { openQuestionBook, type QuestionBook } from './summons/questions.js'
import type { BlockSnapshot, Sequencer, SequencerOptions, SequencerSnapshot, Step } from './types.js'

/** The work under one lease: scheduled work, and operations in between. */
interface Session {
  readonly held: HeldLease
  readonly cycle: Cycle
  run(operation: Operation, details?: OperationDetails): Promise<OperationResult>
  /** Works until the lease is lost or the sequencer closes. Resolves when the last step has ended. */
  loop(): Promise<void>
}

interface State {
  readonly resources: Resources
  readonly options: SequencerSettings
  readonly observer: SequencerOptions['observer']
  readonly book: QuestionBook
  readonly listeners: Set<(active: boolean) => void>
  /** Aborts when the sequencer closes; another one after a new start. */
  closing: AbortController
  running: Promise<void> | undefined
  session: Session | undefined
  /** Whether it is active, as the listeners know. */
  announced: boolean
  lastStep: Step | undefined
}

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
  const state: State = {
    ...settingsOf(given),
    observer: given.observer,
    book: openQuestionBook(),
    listeners: new Set(),
    closing: new AbortController(),
    running: undefined,
    session: undefined,
    announced: false,
    lastStep: undefined,
  }
  return {
    async start() {
      if (state.closing.signal.aborted) await state.running
      // Another call may have started it meanwhile.
      if (state.closing.signal.aborted) {
        state.closing = new AbortController()
        state.running = undefined
      }
      state.running ??= loop(state)
    },
    get active() {
      return activeSession(state) !== undefined
    },
    operatorKey: toHex(given.operator.keys.payment.hash),
    get overdueMs() {
      return activeSession(state)?.cycle.context.commits.overdueMs
    },
    get faultMs() {
      return activeSession(state)?.cycle.faultMs ?? 0
    },
    questions: state.book,
    subscribe(listener) {
      state.listeners.add(listener)
      return () => state.listeners.delete(listener)
    },
    async run(operation, details) {
      const session = activeSession(state)
      if (session !== undefined) return session.run(operation, details)
      const { code, message } = notActive()
      return { kind: 'refused', code, message }
    },
    snapshot: () => snapshotOf(state),
    async close() {
      state.closing.abort()
      await state.running
    },
  }
}

/** The session, as long as its lease is held. */
const activeSession = ({ session }: State): Session | undefined =>
  session?.held.lost.aborted ? undefined : session

function announce(state: State): void {
  const isActive = activeSession(state) !== undefined
  if (state.announced === isActive) return
  state.announced = isActive
  for (const listener of [...state.listeners]) listener(isActive)
}

/** Tries to take the lease, and works while it is held. */
async function loop(state: State): Promise<void> {
  const { store, layer1, log } = state.resources
  const { holder, leaseMs } = state.options
  const { signal } = state.closing
  let reported = ''
  let slots: SlotConfig | undefined
  while (!signal.aborted) {
    try {
      slots ??= await layer1.slots({ signal })
      const held = await store.leases.hold('sequencer', holder, leaseMs)
      if (held !== undefined) await workUnder(state, held, slots)
      reported = ''
    } catch (error) {
      const reason = isLayer1Error(error) ? `layer 1: ${error.message}` : String(error)
      if (reason !== reported && !signal.aborted) log.warn({}, `The sequencer cannot start: ${reason}`)
      reported = reason
    }
    await sleep(Math.min(leaseMs / 5, 1000), undefined, { signal }).catch(() => undefined)
  }
}

async function workUnder(state: State, held: HeldLease, slots: SlotConfig): Promise<void> {
  const { log } = state.resources
  const { holder } = state.options
  const session = openSession(state, held, slots)
  state.session = session
  const lose = () => announce(state)
  held.lost.addEventListener('abort', lose, { once: true })
  log.info({ holder }, `${holder} is the active sequencer`)
  announce(state)
  try {
    await session.loop()
  } finally {
    held.lost.removeEventListener('abort', lose)
    if (held.lost.aborted) log.warn({ holder }, `${holder} lost the lease of the sequencer`)
    state.session = undefined
    // Another process may answer now.
    state.book.see([])
    announce(state)
    await held.release()
  }
}

function openSession(state: State, held: HeldLease, slots: SlotConfig): Session {
  const { resources, options, book, closing } = state
  const over = new AbortController()
  const ends = AbortSignal.any([held.lost, closing.signal, over.signal])
  const lost = AbortSignal.any([held.lost, over.signal])
  function step(name: Step): void {
    state.lastStep = name
    state.observer?.step(name)
  }
  const cycle = new Cycle(createContext({ resources, options, held, slots, ends, lost, step }))
  const scheduler = createScheduler(cycle)
  const answerer = canAnswer(cycle.context) ? createAnswerer(cycle.context, book, ends) : undefined
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
      await sleep(await answerDue(answerer), undefined, { signal: ends }).catch(() => undefined)
  }

  return {
    held,
    cycle,

    async run(operation, details) {
      if (operation !== 'commit' && operation !== 'merge') scheduler.cancelInit()
      try {
        return await runOperation(cycle, operation, details)
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

function snapshotOf(state: State): SequencerSnapshot {
  const { resources, options, lastStep } = state
  const { fault, activity, view } = state.session?.cycle ?? {}
  const active = activeSession(state)
  const local = view?.local
  const blocks = new Map(
    [...(local?.oldestUnmerged ?? []), ...(local?.unconfirmed ?? [])].map((block) => [block.height, block]),
  )
  return {
    holder: options.holder,
    active: active !== undefined,
    leaseExpiresAt: active?.held.lease.expiresAt.toISOString() ?? null,
    activity: activity ?? null,
    lastStep: lastStep ?? null,
    fault: fault ? { code: fault.code, message: fault.message } : null,
    utxosRoot: hexOrNull(local?.newest?.utxosRoot),
    confirmed: hexOrNull(local?.confirmed?.headerHash),
    unmerged: [...blocks.values()].map(toSnapshot),
    rootUnit: resources.contracts.scripts.queue.unit,
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
