import { setTimeout as sleep } from 'node:timers/promises'
import type { SequencerContext } from '../context.js'
import { markCommitted } from './block-states.js'
import { countArrived, type QueueView } from './reconcile.js'

/**
 * Builds the next block, and records meanwhile which blocks before it enter the queue: their users need not
 * wait until it is built. What fails or is missed here is left to the next reconciliation.
 */
export async function recordingArrivals<T>(
  context: SequencerContext,
  view: QueueView,
  build: () => Promise<T>,
): Promise<T> {
  const built = new AbortController()
  const recorded = recordArrivals(context, view, built.signal).catch(() => undefined)
  try {
    return await build()
  } finally {
    built.abort()
    await recorded
  }
}

async function recordArrivals(
  context: SequencerContext,
  { tip, local }: QueueView,
  over: AbortSignal,
): Promise<void> {
  const { layer1, contracts, pollMs } = context
  const signal = AbortSignal.any([context.signal, over])
  let { hash } = tip
  let { unconfirmed } = local
  while (unconfirmed.length > 0) {
    await sleep(pollMs, undefined, { signal })
    const present = await layer1.tip({ signal })
    if (present.hash === hash) continue
    hash = present.hash
    const arrived = await countArrived({ layer1, contracts, signal }, unconfirmed)
    if (arrived > 0) await markCommitted(context, unconfirmed.slice(0, arrived))
    unconfirmed = unconfirmed.slice(arrived)
  }
}
