import { decodeTransaction, effects } from '@ratatosk/ledger'
import type { AcceptedTransaction, Store } from '@ratatosk/store'
import { keyOf, type SignedTransaction } from '@ratatosk/test-kit'
import type { Submissions } from '../types.js'
import { userSeed } from './rollup-contracts.js'

const user = keyOf(userSeed)

/** Takes transactions into the mempool, as validation would. */
export async function accept(
  store: Store,
  transactions: readonly Pick<SignedTransaction, 'cbor'>[],
): Promise<void> {
  const accepted = transactions.map(({ cbor }): AcceptedTransaction => {
    const transaction = decodeTransaction(cbor)
    const { spent, produced } = effects(transaction)
    return {
      id: transaction.id,
      cbor,
      spent,
      produced: produced.map(({ reference, output }) => ({
        reference,
        output: output.bytes,
        address: user.address,
        paymentCredential: user.address.slice(1),
      })),
    }
  })
  await store.withLedger((ledger) => ledger.apply({ transactions: accepted }))
}

/** Accepts what the ledger has the inputs for, as validation would, and acknowledges what it has accepted before. */
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
