import { isLeaving } from '@ratatosk/block'
import { appliedTransaction, decodeTransaction, type TransactionOutput } from '@ratatosk/ledger'
import type { Store } from '@ratatosk/store'
import type { SignedTransaction } from '@ratatosk/test-kit'
import type { Submissions } from '../types.js'

/** Takes transactions into the mempool, as validation would. `bridge`: outputs at this script leave. */
export async function accept(
  store: Store,
  transactions: readonly Pick<SignedTransaction, 'cbor'>[],
  bridge?: Uint8Array,
): Promise<void> {
  const leaves = (output: TransactionOutput) => isLeaving(output.bytes, bridge)
  const accepted = transactions.map(({ cbor }) => appliedTransaction(decodeTransaction(cbor), leaves))
  await store.withLedger((ledger) => ledger.apply({ transactions: accepted }))
}

/** Accepts transactions whose inputs the ledger has, rejects others, and acknowledges all. */
export function acceptingAll(store: Store, bridge?: Uint8Array): Submissions {
  let count = 0
  let last: Promise<unknown> = Promise.resolve()
  return {
    async add(cbor) {
      const { id } = decodeTransaction(cbor)
      last = last.then(async () => {
        if ((await store.transaction(id)) === undefined)
          await accept(store, [{ cbor }], bridge).catch(() => undefined)
      })
      await last
      return String(++count)
    },
  }
}
