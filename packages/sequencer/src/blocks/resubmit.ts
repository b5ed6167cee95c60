import type { SequencerContext } from '../context.js'

/** Transactions that are added at a time. */
const pageSize = 100

/**
 * Resubmits what the removal of blocks took out of the ledger, in the order in which it was accepted. A
 * transaction that was added and not recorded, because the process ended or the queue failed in between, is
 * added again; validation applies it once.
 */
export async function resubmit({
  store: { resubmissions },
  submissions,
  memory,
  log,
  step,
}: SequencerContext): Promise<void> {
  let resubmitted = 0
  while (memory.mayHaveResubmissions) {
    const waiting = await resubmissions.waiting(pageSize)
    if (waiting.length === 0) {
      memory.mayHaveResubmissions = false
      break
    }
    const added = await Promise.allSettled(waiting.map(({ cbor }) => submissions.add(cbor)))
    step('transactions-resubmitted')
    // Those after the first that failed wait for it: they may depend on it.
    const failed = added.findIndex(({ status }) => status === 'rejected')
    const done = failed < 0 ? added : added.slice(0, failed)
    await resubmissions.queued(
      done.flatMap((result, place) => {
        const sequence = waiting[place]?.sequence
        return result.status === 'fulfilled' && sequence !== undefined
          ? [{ sequence, submissionId: result.value }]
          : []
      }),
    )
    step('resubmissions-recorded')
    resubmitted += done.length
    const failure = added[failed]
    if (failure?.status === 'rejected') throw failure.reason
  }
  if (resubmitted > 0)
    log.info(
      { transactions: resubmitted },
      `${resubmitted} transactions of removed blocks are in the queue again`,
    )
}
