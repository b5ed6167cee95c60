import type { BlockInterval } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { decodeTransaction } from '@ratatosk/ledger'
import type { DropReason, OrderedTransaction } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'

/**
 * Drops transactions whose validity ended before the next block begins, with everything in the mempool that
 * names an output of theirs. They become dead letters: no later block may hold them either.
 */
export async function dropExpired(
  { store, lease, log, step }: Pick<SequencerContext, 'store' | 'lease' | 'log' | 'step'>,
  expired: readonly OrderedTransaction[],
  { first }: BlockInterval,
): Promise<void> {
  const reasons = new Map(expired.map(({ id, cbor }) => [toHex(id), expiryOf(cbor, first)]))
  const dropped = await store.blocks.drop(reasons, orphanOf, lease)
  step('expired-dropped')
  log.warn(
    { expired: expired.length, dropped, transactions: expired.slice(0, 10).map(({ id }) => toHex(id)) },
    `${expired.length} transactions have expired in the mempool: they and ${dropped - expired.length} that depend on them are dead letters`,
  )
}

function expiryOf(cbor: Uint8Array, slot: bigint): DropReason {
  const { invalidHereafter } = decodeTransaction(cbor).body.validityInterval
  return reasonOf(
    'OutsideValidityIntervalUTxO',
    `The transaction was valid before slot ${invalidHereafter}, and no block took it in time: the next one begins with slot ${slot}`,
    { invalidHereafter: String(invalidHereafter), slot: String(slot) },
  )
}

function orphanOf(
  { cbor }: OrderedTransaction,
  dropped: ReadonlyMap<string, DropReason>,
): DropReason | undefined {
  const { inputs, collateralInputs, referenceInputs } = decodeTransaction(cbor).body
  for (const { transactionId } of [...inputs, ...collateralInputs, ...referenceInputs]) {
    const id = toHex(transactionId)
    if (dropped.has(id))
      return reasonOf(
        'BadInputsUTxO',
        `The transaction names an output of transaction ${id}, which was dropped from the mempool`,
        { transaction: id },
      )
  }
  return undefined
}

function reasonOf(code: string, message: string, details: { readonly [key: string]: string }): DropReason {
  return { code, message, details: [{ predicate: code, message, details }] }
}
