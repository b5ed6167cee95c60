import { createSubmissionQueue, type SubmissionQueue } from '@ratatosk/queue'
import type { Settings } from '../settings/schema.js'
import type { Storage } from './open-storage.js'

/** The clients' queue. The store notes failures of a queue in its database: the disk is the same. */
export function openSubmissions(
  settings: Settings,
  { queue, store }: Pick<Storage, 'queue' | 'store'>,
): SubmissionQueue {
  const submissions = createSubmissionQueue(queue, {
    maxWaiting: settings.QUEUE_MAX_WAITING,
    maxWaitingBytes: settings.QUEUE_MAX_WAITING_BYTES,
  })
  if (settings.REDIS_URL !== undefined) return submissions
  return {
    ...submissions,
    async add(cbor) {
      try {
        return await submissions.add(cbor)
      } catch (error) {
        store.noteFailure(error)
        throw error
      }
    },
  }
}
