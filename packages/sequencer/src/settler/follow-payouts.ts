import type { Layer1 } from '@ratatosk/layer1'
import type { OutputReference } from '@ratatosk/ledger'
import { byPosition, decodeAnyData, isPlutusDataError } from '@ratatosk/ledger/plutus-data'
import type { Block, Blocks } from '@ratatosk/store'

/** The constructor of `pay` among the redeemers of the bridge. */
const payAction = 1n
/** Where a merge puts the settlement. */
const settlementIndex = 2
/** Changes of a block's element before its merge that are followed. */
const maxChanges = 64

type Spendings = Pick<Layer1, 'spending'>

/**
 * The withdrawals that the payouts of a settlement pay, from one of its outputs on, oldest first: CBOR of
 * their references. Payouts in blocks of layer 1 only.
 */
export async function* payoutsFrom(
  layer1: Spendings,
  settlement: OutputReference,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly Uint8Array[], void> {
  let reference = settlement
  for (;;) {
    const spending = await layer1.spending(reference, signal && { signal })
    const outrefs = spending?.redeemer && paidBy(spending.redeemer)
    if (spending === undefined || outrefs === undefined) return
    yield outrefs
    reference = { transactionId: spending.transactionId, index: 0 }
  }
}

/** The references that a settlement's redeemer lists, as the script reads it; undefined if it pays none. */
function paidBy(redeemer: Uint8Array): readonly Uint8Array[] | undefined {
  try {
    const { at, bytesOf, constructorOf, fieldsOf, itemsOf } = byPosition
    const action = decodeAnyData(redeemer)
    if (constructorOf(action) !== payAction) return undefined
    return itemsOf(at(fieldsOf(action), 0)).map((entry) => {
      const [outref] = itemsOf(entry)
      return outref ? bytesOf(outref) : new Uint8Array()
    })
  } catch (error) {
    if (isPlutusDataError(error)) return undefined
    throw error
  }
}

/** The outputs that may be the settlement of a block, as its merge made it. Others are among them. */
export async function* firstSettlements(
  layer1: Spendings,
  blocks: Pick<Blocks, 'byHash'>,
  block: Block,
  signal: AbortSignal | undefined,
): AsyncGenerator<OutputReference, void> {
  const { mergeTransaction } = block
  if (mergeTransaction) yield { transactionId: mergeTransaction.id, index: settlementIndex }
  // Another process may have merged it.
  let element = await elementOf(layer1, blocks, block, signal)
  for (let changes = 0; element !== undefined && changes < maxChanges; changes++) {
    const spending = await layer1.spending(element, signal && { signal })
    if (spending === undefined) return
    const { transactionId } = spending
    yield { transactionId, index: settlementIndex }
    // A commit behind it, or the end of one, which changes its link.
    element = { transactionId, index: 0 }
  }
}

/** The output of a block's commit that holds it. Another operator's commit spends the block before. */
async function elementOf(
  layer1: Spendings,
  blocks: Pick<Blocks, 'byHash'>,
  { commitTransaction, previousHeaderHash }: Block,
  signal: AbortSignal | undefined,
): Promise<OutputReference | undefined> {
  if (commitTransaction) return { transactionId: commitTransaction.id, index: 1 }
  const previous = (await blocks.byHash(previousHeaderHash))?.commitTransaction
  if (previous === undefined) return undefined
  const spending = await layer1.spending({ transactionId: previous.id, index: 1 }, signal && { signal })
  return spending && { transactionId: spending.transactionId, index: 1 }
}
