import type { Ledger, NewRejection, Store } from '@ratatosk/store'
import type { Logger } from 'pino'

type LedgerStore = Pick<Store, 'withLedger' | 'rejections'>

/** Lines a batch at most: a flood of rejections must not become a flood of lines. The worker's summary counts them all. */
const linesPerBatch = 5

/** The same store, which logs why a transaction became a dead letter, once that is durable. */
export function withDeadLetterLog(store: LedgerStore, log: Logger): LedgerStore {
  return {
    rejections: store.rejections,
    async withLedger(work) {
      let added: readonly NewRejection[] = []
      const result = await store.withLedger((ledger) => {
        added = []
        const observed: Ledger = {
          outputs: (references) => ledger.outputs(references),
          known: (ids) => ledger.known(ids),
          apply: (batch) => ledger.apply(batch),
          rejections: {
            add(rejections) {
              added = [...added, ...rejections]
              return ledger.rejections.add(rejections)
            },
          },
        }
        return work(observed)
      })
      for (const rejection of added.slice(0, linesPerBatch)) log.info(fieldsOf(rejection), 'Dead letter')
      if (added.length > linesPerBatch) log.info({ more: added.length - linesPerBatch }, 'More dead letters')
      return result
    },
  }
}

function fieldsOf({ submissionId, transactionId, attempts, code, message }: NewRejection) {
  const hash = transactionId === undefined ? undefined : Buffer.from(transactionId).toString('hex')
  return { submission: submissionId, tx: hash, attempts, code, reason: message }
}
