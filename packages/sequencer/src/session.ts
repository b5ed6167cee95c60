import { setTimeout as sleep } from 'node:timers/promises'
import type { SlotConfig } from '@ratatosk/ledger'
import type { Log, Operation, OperationDetails, OperationResult } from '@ratatosk/ports'
import type { HeldLease } from '@ratatosk/store'
import { createContext, type Settings } from './context.js'
import { type Cycle, createCycle } from './cycle.js'
import { notActive, resultOf } from './errors.js'
import { createOperationRunner } from './run-operation.js'
import { createScheduler } from './scheduler.js'
import type { Step } from './types.js'

/** What a session needs. */
export interface SessionOptions {
  readonly settings: Settings
  readonly held: HeldLease
  readonly slots: SlotConfig
  readonly log: Log
  /** Aborts when the sequencer closes. */
  readonly closing: AbortSignal
  step(name: Step): void
}

/** The work under one lease: scheduled work, and operations in between. */
export interface Session {
  readonly cycle: Pick<Cycle, 'activity' | 'fault' | 'view'>
  run(operation: Operation, details?: OperationDetails): Promise<OperationResult>
  /** Works until the lease is lost or the sequencer closes. Resolves when the last step has ended. */
  loop(): Promise<void>
}

export function openSession({ settings, held, slots, log, closing, step }: SessionOptions): Session {
  const over = new AbortController()
  const ends = AbortSignal.any([held.lost, closing, over.signal])
  const lost = AbortSignal.any([held.lost, over.signal])
  const cycle = createCycle(createContext({ settings, held, slots, log, ends, lost, step }))
  const scheduler = createScheduler(cycle)
  const runOperation = createOperationRunner(cycle)
  let wakeUp = new AbortController()

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
      while (!ends.aborted) {
        wakeUp = new AbortController()
        const next = await (cycle.tryRunScheduled(scheduler.tick) ?? settings.pollMs)
        if (next === undefined) over.abort()
        else await sleep(next, undefined, { signal: wakeUp.signal }).catch(() => undefined)
      }
      await cycle.idle()
    },
  }
}
