import type { ProtocolParameters } from '@ratatosk/ledger'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { createValidationWorker, type ValidationWorker } from '@ratatosk/workers'
import type { Logger } from 'pino'
import type { Network } from '../network/networks.js'
import type { Settings } from '../settings/schema.js'
import type { ClosingStack } from './closing-stack.js'
import type { Parts } from './open-parts.js'

export interface ValidationOptions {
  readonly settings: Settings
  readonly parts: Parts
  readonly parameters: ProtocolParameters
  readonly network: Network
  /** POSIX milliseconds of now. */
  readonly clock: () => number
  readonly log: Logger
}

/** Starts to validate what is in the queue; resolves when the worker takes jobs. */
export async function startValidation(
  options: ValidationOptions,
  closing: ClosingStack,
): Promise<ValidationWorker> {
  const { settings, parts, parameters, network, clock, log } = options
  const evaluator = createEvaluator()
  closing.defer(() => evaluator.close())
  const worker = createValidationWorker({
    queue: parts.queue,
    store: parts.store,
    parameters,
    networkId: network.id,
    slots: network.slots,
    evaluator,
    log,
    now: clock,
    batchSize: settings.VALIDATION_BATCH_SIZE,
    // While one batch is written, the next is gathered and a third waits for its signatures.
    concurrency: 3 * settings.VALIDATION_BATCH_SIZE,
    maxAttempts: settings.SUBMIT_MAX_ATTEMPTS,
  })
  closing.defer(() => worker.close())
  await worker.ready()
  return worker
}
