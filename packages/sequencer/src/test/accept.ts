import { decodeTransaction } from '@ratatosk/ledger'
import type { Store } from '@ratatosk/store'
import { acceptedOf, type SignedTransaction } from '@ratatosk/test-kit'
import type { Submissions } from '../types.js'

/** Takes transactions into the mempool, as validation would. */
export async function accept(
  store: Store,
  transactions: readonly Pick<SignedTransaction, 'cbor'>[],
): Promise<void> {
  await store.withLedger((ledger) =>
    ledger.apply({ transactions: transactions.map(({ cbor }) => acceptedOf(cbor)) }),
  )
}

/** Accepts transactions whose inputs the ledger has, and acknowledges accepted ones. */
export function acceptingAll(store: Store): Submissions {
  let count = 0
  let last: Promise<unknown> = Promise.resolve()
  return {
    async add(cbor) {
      const { id } = decodeTransaction(cbor)
      last = last.then(async () => {
        if ((await store.transaction(id)) === undefined) await accept(store, [{ cbor }])
      })
      await last
      return String(++count)
    },
  }
}
