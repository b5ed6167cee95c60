import { isFeeOutput } from '@ratatosk/block'
import { BytesMap, BytesSet, equalBytes, toHex } from '@ratatosk/cbor'
import type { Block, CreditedDeposit, DropReason, DropRule } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { namedBy, orphanOf, reasonOf } from './drop-reasons.js'

/** Takes what no block credits any more out of the ledger, with the transactions that name it. */
export async function forgetDeposits(context: SequencerContext, ids: readonly Uint8Array[]): Promise<void> {
  if (ids.length === 0) return
  const { store, lease, log, cache } = context
  const gone = new BytesSet(ids)
  const follow: DropRule = (transaction, others) => {
    const deposit = namedBy(transaction.cbor).find((named) => gone.has(named))
    return deposit === undefined ? orphanOf(transaction, others) : lostCredit(toHex(deposit))
  }
  const dropped = await store.blocks.forgetDeposits(ids, follow, lease)
  cache.ahead = []
  context.step('deposits-forgotten')
  log.warn(
    { deposits: ids.map(toHex), dropped },
    `No block credits ${ids.length} deposits or fee outputs of removed blocks any more: ` +
      `${dropped} transactions that follow from them are dead letters`,
  )
}

const lostCredit = (deposit: string): DropReason =>
  reasonOf(
    'BadInputsUTxO',
    `No block credits output ${deposit}#0 any more: layer 1 was rolled back, or its block was removed`,
    { deposit },
  )

/** Takes the fee outputs of removed blocks out of the ledger. */
export async function forgetFees(context: SequencerContext, removed: readonly Block[]): Promise<void> {
  const gone: Uint8Array[] = []
  for (const { headerHash, previousHeaderHash: prevHeaderHash } of removed)
    for (const credit of await context.store.blocks.depositsOf(headerHash))
      if (isFeeOutput(credit, { prevHeaderHash })) gone.push(credit.id)
  await forgetDeposits(context, gone)
}

/**
 * Takes waiting deposits out of the ledger that a block credits as others: the first input of a deposit gives
 * its id, and can make another one after a roll-back.
 *
 * @returns whether there were any
 */
export async function forgetReplaced(
  context: SequencerContext,
  credited: readonly CreditedDeposit[],
): Promise<boolean> {
  if (credited.length === 0) return false
  const outputs = new BytesMap(credited.map(({ id, output }) => [id, output] as const))
  const replaced = (await context.store.blocks.waitingDeposits()).filter(({ id, output }) => {
    const other = outputs.get(id)
    return other !== undefined && !equalBytes(other, output)
  })
  await forgetDeposits(
    context,
    replaced.map(({ id }) => id),
  )
  return replaced.length > 0
}
