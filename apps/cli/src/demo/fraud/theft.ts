import { partsOf } from '@ratatosk/block'
import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { appliedTransaction, decodeTransaction } from '@ratatosk/ledger'
import type { RunningNode } from '@ratatosk/node'

/** A signed transaction, in hex, without its signatures. */
export function withoutSignatures(transaction: string): string {
  const { body } = partsOf(fromHex(transaction))
  // An array of body, empty witness set, true and null.
  return toHex(concatBytes(Uint8Array.of(0x84), body, Uint8Array.of(0xa0, 0xf5, 0xf6)))
}

/** Has a node accept a transaction without any validation: all else that it does with it is honest. */
export async function acceptUnchecked({ store }: RunningNode, transaction: string): Promise<void> {
  const accepted = appliedTransaction(decodeTransaction(fromHex(transaction)))
  await store.withLedger((ledger) => ledger.apply({ transactions: [accepted] }))
}
