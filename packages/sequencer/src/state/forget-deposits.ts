import { BytesMap, BytesSet, equalBytes, toHex } from '@ratatosk/cbor'
import type { CreditedDeposit, DropReason } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { namedBy, orphanOf, reasonOf } from './drop-reasons.js'

/** Transactions of the mempool that are searched at a time, and their bytes. */
const [searchedAtOnce, searchedBytes] = [1_000, 4 * 1024 * 1024]

/** Takes what no block credits any more out of the ledger, with the transactions that name it. */
export async function forgetDeposits(context: SequencerContext, ids: readonly Uint8Array[]): Promise<void> {
  if (ids.length === 0) return
  const { store, lease, log, cache } = context
  const gone = new BytesSet(ids)
  const first = new Map<string, DropReason>()
  for (let after = 0n; ; ) {
    const page = await store.blocks.oldest(searchedAtOnce, searchedBytes, after)
    for (const { id, cbor } of page) {
      const deposit = namedBy(cbor).find((named) => gone.has(named))
      if (deposit !== undefined) first.set(toHex(id), creditedNoMore(toHex(deposit)))
    }
    const last = page.at(-1)
    if (last === undefined) break
    after = last.sequence
  }
  const dropped = first.size === 0 ? 0 : await store.blocks.drop(first, orphanOf, lease)
  await store.blocks.forgetDeposits(ids, lease)
  cache.ahead = []
  context.step('deposits-forgotten')
  log.warn(
    { deposits: ids.map(toHex), dropped },
    `No block credits ${ids.length} deposits or fee outputs of removed blocks any more: ` +
      `${dropped} transactions that follow from them are dead letters`,
  )
}

const creditedNoMore = (deposit: string): DropReason =>
  reasonOf(
    'BadInputsUTxO',
    `No block credits output ${deposit}#0 any more: layer 1 was rolled back, or its block was removed`,
    { deposit },
  )

/**
 * Takes waiting deposits out of the ledger that a block credits as others. The first input of a deposit gives
 * its id, and can make another one after a roll-back; the previous block gives that of a fee output.
 */
export async function forgetReplaced(
  context: SequencerContext,
  credited: readonly CreditedDeposit[],
): Promise<void> {
  if (credited.length === 0) return
  const outputs = new BytesMap(credited.map(({ id, output }) => [id, output] as const))
  const replaced = (await context.store.blocks.waitingDeposits()).filter(({ id, output }) => {
    const other = outputs.get(id)
    return other !== undefined && !equalBytes(other, output)
  })
  await forgetDeposits(
    context,
    replaced.map(({ id }) => id),
  )
}
