import type { Status, SubmissionStatus, TransactionStatus } from './api.js'
import { Deadline, sleep } from './deadline.js'
import { RejectedError, RemovedError, StatusError, TimeoutError } from './errors.js'
import { follow } from './events.js'
import type { AwaitedFinality, AwaitTxOptions, NodeRequestOptions } from './options.js'
import { isTransient, type Transport } from './transport.js'

/** The statuses that a node reports. */
interface StatusReader {
  getTransactionStatus(
    parameters: { tx_hash: string },
    options?: NodeRequestOptions,
  ): Promise<TransactionStatus>
  getSubmissionStatus(parameters: { id: string }, options?: NodeRequestOptions): Promise<SubmissionStatus>
}

const levels: readonly AwaitedFinality[] = ['accepted', 'committed', 'mature', 'merged']
const levelOf: Partial<Record<Status, AwaitedFinality>> = {
  mempool: 'accepted',
  built: 'accepted',
  submitted: 'accepted',
  committed: 'committed',
  mature: 'mature',
  merged: 'merged',
}

/** Waits until a transaction has reached a finality. Events trigger a poll of the status, which decides. */
export async function awaitTransaction(
  transport: Transport,
  reader: StatusReader,
  txHash: string,
  { finality = 'accepted', submissionId, signal, timeoutMs, pollMs = 2_000 }: AwaitTxOptions,
): Promise<TransactionStatus> {
  const goal = levels.indexOf(finality)
  if (goal < 0) throw new TypeError(`finality must be one of ${levels.join(', ')}`)
  const deadline = new Deadline(signal, timeoutMs)
  const options = { signal: deadline.signal }
  let hasAnswered = false
  try {
    for await (const _ of wakeUps(transport, txHash, pollMs, deadline.signal)) {
      try {
        const status = await read(reader, txHash, submissionId, options)
        hasAnswered = true
        if (hasReached(status, goal)) return status
      } catch (error) {
        // A node that has answered before may restart. The stream, or the next poll, shows when it is back.
        if (!hasAnswered || deadline.signal.aborted || !isTransient(error)) throw error
      }
    }
    throw new Error('The wake-ups have ended')
  } catch (error) {
    if (deadline.isOver) throw new TimeoutError(`awaitTx ${txHash}`, timeoutMs ?? 0, `not ${finality}`)
    throw error
  } finally {
    deadline.clear()
  }
}

async function read(
  reader: StatusReader,
  txHash: string,
  submissionId: string | undefined,
  options: NodeRequestOptions,
): Promise<TransactionStatus> {
  if (submissionId !== undefined) {
    const submission = await reader.getSubmissionStatus({ id: submissionId }, options)
    // The node forgets submissions; it does not forget what it accepted.
    if (submission.status !== 'unknown') return { ...submission, txHash }
  }
  return reader.getTransactionStatus({ tx_hash: txHash }, options)
}

/** @throws {RejectedError} @throws {RemovedError} */
function hasReached({ txHash, status, rejection, removal }: TransactionStatus, goal: number): boolean {
  if (status === 'rejected' && rejection !== undefined) throw new RejectedError(rejection)
  if (status === 'removed' && removal?.resubmittedAs === undefined) throw new RemovedError(txHash, removal)
  const level = levelOf[status]
  return level !== undefined && levels.indexOf(level) >= goal
}

/**
 * Yields whenever the status may have changed: when the stream of the transaction's events opens, so that no
 * event after the first poll is missed, and at each event. Without events, yields every `pollMs`.
 */
async function* wakeUps(
  transport: Transport,
  txHash: string,
  pollMs: number,
  signal: AbortSignal,
): AsyncGenerator<void, never> {
  try {
    for await (const _ of follow(transport, { tx_hash: txHash }, { signal })) yield
  } catch (error) {
    // Not served, or too many clients. Anything else would fail the status too, and is reported by it.
    if (signal.aborted || !(error instanceof StatusError) || error.status === 400) throw error
  }
  for (;;) {
    yield
    await sleep(pollMs, signal)
  }
}
