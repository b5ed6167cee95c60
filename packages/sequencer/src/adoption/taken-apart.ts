import { createPauses } from '@ratatosk/block'
import { type Examined, examine, tryExamine } from './outputs-before.js'

export interface BlockApart {
  readonly identified: readonly Pick<Examined, 'id' | 'cbor'>[]
  at(place: number): Examined
  all(): Promise<readonly Examined[]>
}

/** Takes the transactions of a block apart, once; undefined if one does not decode. */
export async function takeApart(transactions: readonly Uint8Array[]): Promise<BlockApart | undefined> {
  const examined = await each(transactions, (part) => part)
  if (examined === undefined) return undefined
  return { identified: examined, at: (place) => examined[place] as Examined, all: async () => examined }
}

/** The same for a huge block: keeps no transaction taken apart until the block is known to keep the rules. */
export async function takeApartAgain(transactions: readonly Uint8Array[]): Promise<BlockApart | undefined> {
  const identified = await each(transactions, ({ id, cbor }) => ({ id, cbor }))
  if (identified === undefined) return undefined
  return {
    identified,
    at: (place) => examine(transactions[place] as Uint8Array),
    all: async () => (await each(transactions, (part) => part)) ?? [],
  }
}

/** The kept part of each transaction; undefined if one does not decode. Other work runs meanwhile. */
async function each<Kept>(
  transactions: readonly Uint8Array[],
  keep: (examined: Examined) => Kept,
): Promise<readonly Kept[] | undefined> {
  const kept: Kept[] = []
  const pauseIfDue = createPauses()
  for (const cbor of transactions) {
    await pauseIfDue()
    const examined = tryExamine(cbor)
    if (examined === undefined) return undefined
    kept.push(keep(examined))
  }
  return kept
}
