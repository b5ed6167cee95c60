import { BytesMap } from '@ratatosk/cbor'
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
/** Withdrawals of a block whose payouts are named. */
const maxNamed = 10_000

type Spendings = Pick<Layer1, 'spending'>

/** A transaction that pays withdrawals. */
interface Payout {
  readonly transactionId: Uint8Array
  /** CBOR of the references of the withdrawals. */
  readonly outrefs: readonly Uint8Array[]
}

/** The payouts of a settlement, from one of its outputs on, oldest first. In blocks of layer 1 only. */
export async function* payoutsFrom(
  layer1: Spendings,
  settlement: OutputReference,
  signal: AbortSignal | undefined,
): AsyncGenerator<Payout, void> {
  let reference = settlement
  for (;;) {
    const spending = await layer1.spending(reference, signal && { signal })
    const outrefs = spending?.redeemer && paidBy(spending.redeemer)
    if (spending === undefined || outrefs === undefined) return
    const { transactionId } = spending
    yield { transactionId, outrefs }
    reference = { transactionId, index: 0 }
  }
}

/** Ids of the payouts of a merged block, by the CBOR of each withdrawal's reference. */
export async function payoutsOf(
  { layer1, blocks }: { readonly layer1: Spendings; readonly blocks: Pick<Blocks, 'byHash'> },
  headerHash: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<BytesMap<Uint8Array>> {
  const block = await blocks.byHash(headerHash)
  if (block?.state === 'merged')
    for await (const first of firstSettlements(layer1, blocks, block, signal)) {
      const found = await namedFrom(layer1, first, signal)
      if (found.size > 0) return found
    }
  return new BytesMap()
}

/** The payouts from an output on. Behind the last one, anyone may spend an output as if it were another. */
async function namedFrom(
  layer1: Spendings,
  first: OutputReference,
  signal: AbortSignal | undefined,
): Promise<BytesMap<Uint8Array>> {
  const found = new BytesMap<Uint8Array>()
  for await (const { transactionId, outrefs } of payoutsFrom(layer1, first, signal)) {
    // Each payout pays something, and nothing twice.
    if (outrefs.length === 0 || outrefs.some((each) => found.has(each))) break
    for (const outref of outrefs) found.set(outref, transactionId)
    if (found.size >= maxNamed) break
  }
  return found
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
