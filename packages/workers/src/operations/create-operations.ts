import { setTimeout as sleep } from 'node:timers/promises'
import type { JobEvents, JobQueue } from '@ratatosk/queue'
import type { Operation } from '../sequencer/types.js'
import { OPERATIONS, type OperationJob, type OperationJobResult } from './operation-job.js'
import type { CreateOperationsOptions, Operations, RemoteResult } from './types.js'

/** Results are kept so long for whoever waits for them, in seconds. */
const keptFor = 300

const lookEveryMs = 500

/**
 * Runs operations where the active sequencer is: in this process, or in another one that is reached through the queue.
 *
 * @example
 * const operations = createOperations({ queue, timeoutMs: 60_000 })
 * const result = await operations.run('commit')
 * if (result.kind === 'timed-out') console.log(result.message)
 */
export function createOperations({
  queue,
  sequencer,
  timeoutMs = 190_000,
}: CreateOperationsOptions): Operations {
  let channel:
    | { readonly jobs: JobQueue<OperationJob, OperationJobResult>; readonly events: JobEvents }
    | undefined

  let closed = false

  /** Opened when it is first needed: where the sequencer is, nobody needs it. */
  function open() {
    channel ??= { jobs: queue.queue(OPERATIONS), events: queue.events(OPERATIONS) }
    return channel
  }

  async function ask(operation: Operation): Promise<RemoteResult> {
    const { jobs, events } = open()
    const options = { attempts: 1, removeOnComplete: { age: keptFor }, removeOnFail: { age: keptFor } }
    const job = await jobs.add(operation, { operation, expiresAt: Date.now() + timeoutMs }, options)
    const id = job.id ?? ''
    const told = job.waitUntilFinished(events, timeoutMs).catch(() => undefined)
    for (const deadline = performance.now() + timeoutMs; !closed && performance.now() < deadline; ) {
      // The first event can be missed: listening begins a little after it is said to.
      await Promise.race([told, sleep(Math.min(lookEveryMs, timeoutMs), undefined, { ref: false })])
      if (closed) break
      const found = await jobs.getJob(id)
      if (found?.finishedOn === undefined) continue
      if (found.failedReason)
        throw new Error(`The ${operation} failed at the sequencer: ${found.failedReason}`)
      return found.returnvalue.kind === 'expired' ? notTaken(operation) : found.returnvalue
    }
    if (closed) return { kind: 'timed-out', message: `This process ended before the ${operation} did` }
    const removed = await jobs.remove(id).catch(() => 0)
    if (removed === 1) return notTaken(operation)
    return {
      kind: 'timed-out',
      message: `The ${operation} is under way at the sequencer, but did not end in time`,
    }
  }

  return {
    run: (operation) => (sequencer?.active ? sequencer.run(operation) : ask(operation)),
    async close() {
      closed = true
      await Promise.all([channel?.jobs.close(), channel?.events.close()])
    },
  }
}

function notTaken(operation: Operation): RemoteResult {
  return {
    kind: 'timed-out',
    message: `No active sequencer took the ${operation} in time; it will not run later`,
  }
}
