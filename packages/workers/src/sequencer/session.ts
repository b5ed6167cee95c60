import { setTimeout as sleep } from 'node:timers/promises'
import type { SlotConfig } from '@ratatosk/ledger'
import type { Log } from '../validation/activity.js'
import { createByItself } from './by-itself.js'
import { createGate } from './gate.js'
import type { HeldLease } from './hold-lease.js'
import { newMemory, type Settings, type Work } from './life/work.js'
import { createOnDemand } from './on-demand.js'
import { notActive, resultOf } from './refusal.js'
import type { Operation, OperationResult, Step } from './types.js'
import { createWatch, type Watch } from './watch.js'

export interface SessionOptions {
  readonly settings: Settings
  readonly held: HeldLease
  readonly slots: SlotConfig
  readonly log: Log
  /** Aborts when the sequencer closes. */
  readonly closing: AbortSignal
  step(name: Step): void
}

/** The work under one lease: what is done by itself, and operations in between. */
export interface Session {
  readonly watch: Pick<Watch, 'doing' | 'fault' | 'standing'>
  run(operation: Operation): Promise<OperationResult>
  /** Works until the lease is lost or the sequencer closes; resolves when no step is under way any more. */
  loop(): Promise<void>
}

export function openSession({ settings, held, slots, log, closing, step }: SessionOptions): Session {
  const over = new AbortController()
  const ends = AbortSignal.any([held.lost, closing, over.signal])
  const work: Work = {
    ...settings,
    slots,
    log,
    step,
    memory: newMemory(),
    signal: AbortSignal.any([held.lost, over.signal]),
    get lease() {
      return held.lease
    },
    async pause(ms) {
      await sleep(ms, undefined, { signal: ends }).catch(() => {
        throw notActive()
      })
    },
  }
  const gate = createGate()
  const watch = createWatch(work)
  const byItself = createByItself(watch, gate)
  const onDemand = createOnDemand(watch, gate)
  let nudge = new AbortController()

  return {
    watch,

    async run(operation) {
      if (operation !== 'commit' && operation !== 'merge') byItself.initNoMore()
      try {
        return await onDemand(operation)
      } catch (error) {
        const result = resultOf(ends.aborted ? notActive() : error)
        if (result === undefined) throw error
        return result
      } finally {
        nudge.abort()
      }
    },

    async loop() {
      ends.addEventListener('abort', () => nudge.abort(), { once: true })
      while (!ends.aborted) {
        nudge = new AbortController()
        const next = await (gate.tryEnter(byItself.tick) ?? work.pollMs)
        if (next === undefined) over.abort()
        else await sleep(next, undefined, { signal: nudge.signal }).catch(() => {})
      }
      await gate.enter(async () => undefined)
    },
  }
}
