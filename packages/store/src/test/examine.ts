import type { OutputReference } from '@ratatosk/ledger'
import type { ExaminedTransaction, ForeignBlock } from '../blocks/types.js'
import type { AppliedTransaction } from '../ledger/types.js'
import type { Store } from '../store.js'
import { headerHashOf } from './blocks.js'
import { bytes, idOf } from './transactions.js'

/** Knows what made-up transactions do, by their bytes. */
export function createExaminer() {
  const known = new Map<string, ExaminedTransaction>()
  return {
    /** @param read what the transaction names beside what it spends */
    learn(made: AppliedTransaction, ...read: readonly OutputReference[]): AppliedTransaction {
      known.set(key(made.cbor), { ...made, named: [...made.spent, ...read] })
      return made
    },
    examine(cbor: Uint8Array): ExaminedTransaction {
      const found = known.get(key(cbor))
      if (found === undefined) throw new Error('The test has not made this transaction')
      return found
    },
  }
}

const key = (cbor: Uint8Array) => Buffer.from(cbor).toString('hex')

/** A block named `name` of another operator, which follows the newest one. */
export async function foreignBlock(
  { blocks }: Store,
  name: string,
  transactions: readonly AppliedTransaction[],
): Promise<ForeignBlock> {
  const newest = await blocks.newest()
  return {
    headerHash: headerHashOf(name),
    header: bytes(`header of ${name}`),
    previousHeaderHash: newest?.headerHash ?? new Uint8Array(28),
    utxosRoot: idOf(`root after ${name}`),
    startTime: newest?.endTime ?? 1_000n,
    endTime: (newest?.endTime ?? 1_000n) + 60_000n,
    transactions,
  }
}
