import { blake2b256 } from '@ratatosk/ledger'
import { createSubmissionWorker, type QueueBackend, type SubmissionWorker } from '@ratatosk/queue'
import type { Store } from '@ratatosk/store'

/** mulberry32: the same numbers for the same seed. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Shaped like a transaction: `[{0: number}, {}, true, null]`. Every fifth is one that validation rejects. */
export function transactionOf(number: number) {
  const body = Uint8Array.of(0xa1, 0x00, 0x19, number >> 8, number & 0xff)
  return {
    cbor: Uint8Array.of(0x84, ...body, 0xa0, 0xf5, 0xf6),
    id: blake2b256(body),
    isValid: number % 5 !== 0,
  }
}

/** Undoes {@link transactionOf}. */
export const numberOf = (cbor: Uint8Array) => (cbor[4] ?? 0) * 256 + (cbor[5] ?? 0)

/** Miniature validation: stores the result before it completes the job, with random interruptions. */
export function validate(
  backend: QueueBackend,
  store: Store,
  random: (below: number) => number,
): SubmissionWorker {
  return createSubmissionWorker(
    backend,
    async ({ id, cbor, attempt, submittedAt }) => {
      if (random(4) === 0) return { kind: 'again', afterMs: 5 }
      const { id: transactionId, isValid } = transactionOf(numberOf(cbor))
      await store.withLedger(async (ledger) => {
        const [known] = await ledger.known([transactionId])
        if (known) return
        if (isValid) {
          await ledger.apply({ transactions: [{ id: transactionId, cbor, spent: [], produced: [] }] })
        } else {
          const reason = { code: 'FeeTooSmallUTxO', message: 'The fee is too small.', details: [] }
          await ledger.rejections.add([
            { ...reason, submissionId: id, transactionId, cbor, attempts: attempt, submittedAt },
          ])
        }
      })
      // A worker that ends here has stored the verdict and not told the queue.
      return random(4) === 0 ? { kind: 'release' } : { kind: 'done' }
    },
    { concurrency: 4, lockDurationMs: 300, stalledIntervalMs: 50 },
  )
}
