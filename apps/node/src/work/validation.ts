import { createEvaluator } from '@ratatosk/ledger/plutus'
import { createValidationWorker, type ValidationWorker } from '@ratatosk/workers'
import type { NodeContext } from '../context.js'
import type { Storage } from '../storage/open-storage.js'

/** Starts to validate queued transactions; resolves once the worker accepts jobs. */
export async function startValidation(
  context: NodeContext,
  { queue, store }: Storage,
): Promise<ValidationWorker> {
  const { settings, network, parameters, clock, log, onClose } = context
  log.info('Start: starting the validation')
  const evaluator = createEvaluator()
  onClose(() => evaluator.close())
  const worker = createValidationWorker({
    queue,
    store,
    parameters,
    networkId: network.id,
    slots: network.slots,
    evaluator,
    log,
    now: clock,
    batchSize: settings.VALIDATION_BATCH_SIZE,
    // One batch is written while the signatures of the next are verified and a third is collected.
    concurrency: 3 * settings.VALIDATION_BATCH_SIZE,
    maxAttempts: settings.SUBMIT_MAX_ATTEMPTS,
  })
  onClose(() => worker.close())
  await worker.ready()
  pruneDeadLetters(context, store)
  return worker
}

/** Interval of dead-letter pruning in milliseconds. With nothing to prune, it reads two rows. */
const pruneEveryMs = 1000

/** Keeps the dead letters within the limits of the settings until the node closes. */
function pruneDeadLetters({ settings, log, onClose }: NodeContext, { rejections }: Storage['store']): void {
  const retention = {
    maxAgeMs: settings.DEAD_LETTER_MAX_AGE_MS,
    // Additions keep within the whole. The rest is room, so that few of them have to prune.
    maxBytes: Math.floor((settings.DEAD_LETTER_MAX_BYTES * 7) / 8),
  }
  let pruning: Promise<unknown> = Promise.resolve()
  let busy = false
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    pruning = rejections
      .prune(retention)
      .catch((err: unknown) => log.warn({ err }, 'Dead letters could not be pruned; trying again'))
      .finally(() => {
        busy = false
      })
  }, pruneEveryMs)
  onClose(async () => {
    clearInterval(timer)
    await pruning
  })
}
