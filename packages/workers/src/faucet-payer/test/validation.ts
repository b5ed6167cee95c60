import { createSubmissionQueue, type SubmissionQueue } from '@ratatosk/queue'
import { documentFees, slots } from '@ratatosk/test-kit'
import { onTestFinished } from 'vitest'
import { createValidationWorker, type ValidationWorker, type ValidationWorkerOptions } from '../../index.js'
import type { Services } from './services.js'

export interface RunningWorker extends Services {
  readonly worker: ValidationWorker
  readonly submissions: SubmissionQueue
}

/** A validation worker that tries each transaction once; closed after the test. */
export function validate(services: Services, options: Partial<ValidationWorkerOptions> = {}): RunningWorker {
  const { store, queue } = services
  const worker = createValidationWorker({
    queue,
    store,
    parameters: documentFees,
    networkId: 0,
    slots,
    maxAttempts: 1,
    ...options,
  })
  onTestFinished(() => worker.close())
  return { ...services, worker, submissions: createSubmissionQueue(queue) }
}
