import { creditsJust, type Deposit, decodeHeader, isFeeOutput } from '@ratatosk/block'
import { BytesMap, BytesSet, equalBytes, toHex } from '@ratatosk/cbor'
import { decodeTransaction, decodeTransactionOutput, slotToTime } from '@ratatosk/ledger'
import type {
  Block,
  BlockState,
  CreditedDeposit,
  DropReason,
  DropRule,
  LedgerOutput,
  OrderedTransaction,
} from '@ratatosk/store'
import type { SequencerContext } from '../context.js'

/** Transactions that are resubmitted at a time. */
const resubmittedAtOnce = 100

/** Outputs between two progress lines in the log. */
const progressEvery = 200_000

export type RootsContext = Pick<SequencerContext, 'store' | 'roots' | 'cache' | 'log' | 'step'>

/** Aligns the output trie with the newest block. @throws Error if the ledger does not have its root */
export async function alignRoots(context: RootsContext, newest: Block | undefined): Promise<void> {
  const { roots, cache, log } = context
  const wanted = newest?.utxosRoot ?? cache.genesisRoot
  const present = await roots.root()
  if (wanted !== undefined) {
    if (equalBytes(present, wanted)) return
    if (await roots.revert(wanted)) {
      context.step('roots-aligned')
      return
    }
  }
  const startedAt = performance.now()
  const rebuilt = await roots.rebuild(ledgerWithProgress(context))
  context.step('roots-aligned')
  if (newest === undefined) cache.genesisRoot = rebuilt
  const ms = Math.round(performance.now() - startedAt)
  if (ms > 1000) log.info({ ms }, `Rebuilt the output trie from the ledger in ${ms} ms`)
  if (wanted === undefined || equalBytes(rebuilt, wanted)) return
  throw new Error(
    `The ledger's outputs do not have the root of block ${newest?.height ?? 0}: ` +
      'the database was changed from outside the node',
  )
}

/** Returns the output trie to the store's newest block after one could not be stored. Never rejects. */
export async function realignRoots(context: RootsContext): Promise<void> {
  // Read again, because genesis may have been applied since. The next block aligns the trie if this fails.
  context.cache.genesisRoot = undefined
  await context.store.blocks
    .newest()
    .then((newest) => alignRoots(context, newest))
    .catch(() => undefined)
}

/** Applies the genesis to an empty ledger. @returns whether it was empty */
export async function applyGenesis({
  store,
  genesis,
  cache,
  log,
  step,
}: Pick<SequencerContext, 'store' | 'genesis' | 'cache' | 'log' | 'step'>): Promise<boolean> {
  if (genesis.length === 0 || !(await store.applyGenesis(genesis))) return false
  log.info({ outputs: genesis.length }, `Applied genesis: ${genesis.length} outputs`)
  step('genesis-applied')
  cache.genesisRoot = undefined
  return true
}

/** Begins to free the space of earlier states of the outputs. */
export function freeRoots({ roots, log }: Pick<SequencerContext, 'roots' | 'log'>): void {
  roots.free().catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    log.warn({ err: error }, `Space of earlier states of the outputs is not freed: ${reason}`)
  })
}

/** Root of the unspent outputs before a block. */
export const rootBefore = ({ header }: Pick<Block, 'header'>): Uint8Array =>
  decodeHeader(header).prevUtxosRoot

/** Returns unmerged blocks to the mempool and reverts the trie. `reason` completes "Block 7 removed: …". */
export async function returnBlocks(
  context: SequencerContext,
  fromHeight: bigint,
  reason: string,
): Promise<void> {
  const { store, log } = context
  const removed = await store.blocks.returnToMempool(fromHeight, context.lease)
  if (removed.length === 0) return
  context.step('block-returned')
  forgetBlocks(context, removed, reason)
  await forgetFees(context, removed)
  const transactions = removed.reduce((sum, block) => sum + block.transactions, 0)
  log.warn({ transactions }, `${transactions} transactions returned to the mempool`)
  await alignRoots(context, await store.blocks.newest())
}

/**
 * Reverts the ledger to before a removed block and resubmits its transactions and all later ones: what made
 * the block invalid may be among them. `reason` completes "Block 7 removed: …".
 */
export async function undoBlocks(
  context: SequencerContext,
  fromHeight: bigint,
  reason: string,
): Promise<void> {
  const { store, cache, log } = context
  const { blocks, transactions } = await store.blocks.undo(fromHeight, context.lease)
  if (blocks.length === 0) return
  cache.mayHaveResubmissions = true
  context.step('blocks-undone')
  forgetBlocks(context, blocks, reason)
  await forgetFees(context, blocks)
  log.warn(
    { transactions },
    `The ledger is as it was before block ${fromHeight}: ${transactions} transactions are resubmitted`,
  )
  await alignRoots(context, await store.blocks.newest())
}

function forgetBlocks(
  { operator, cache, log }: SequencerContext,
  removed: readonly Block[],
  reason: string,
): void {
  for (const { commitTransaction, mergeTransaction } of removed) {
    if (commitTransaction) operator.release(commitTransaction.id)
    if (mergeTransaction) operator.release(mergeTransaction.id)
  }
  const [first] = removed
  if (first?.height === 1n) cache.genesisRoot = rootBefore(first)
  cache.blocksRemoved()
  for (const block of removed) log.warn(...blockLine(block, `removed: ${reason}`))
}

async function* ledgerWithProgress({ store, log }: RootsContext): AsyncIterable<readonly LedgerOutput[]> {
  let read = 0
  for await (const piece of store.blocks.utxosAfterNewest()) {
    yield piece
    const before = read
    read += piece.length
    if (Math.floor(read / progressEvery) > Math.floor(before / progressEvery))
      log.info({ outputs: read }, `Rebuilding the output trie from the ledger: ${read} outputs so far`)
  }
}

/** Resubmits transactions of removed blocks in accept order. Validation applies a repeated one once. */
export async function resubmit({
  store: { resubmissions },
  submissions,
  cache,
  log,
  step,
}: SequencerContext): Promise<void> {
  let resubmitted = 0
  while (cache.mayHaveResubmissions) {
    const waiting = await resubmissions.waiting(resubmittedAtOnce)
    if (waiting.length === 0) {
      cache.mayHaveResubmissions = false
      break
    }
    const added = await Promise.allSettled(waiting.map(({ cbor }) => submissions.add(cbor)))
    step('transactions-resubmitted')
    // Those after the first that failed wait for it: they may depend on it.
    const failed = added.findIndex(({ status }) => status === 'rejected')
    const done = failed < 0 ? added : added.slice(0, failed)
    await resubmissions.queued(
      done.flatMap((result, place) => {
        const sequence = waiting[place]?.sequence
        return result.status === 'fulfilled' && sequence !== undefined
          ? [{ sequence, submissionId: result.value }]
          : []
      }),
    )
    step('resubmissions-recorded')
    resubmitted += done.length
    const failure = added[failed]
    if (failure?.status === 'rejected') throw failure.reason
  }
  if (resubmitted > 0)
    log.info(
      { transactions: resubmitted },
      `${resubmitted} transactions of removed blocks are in the queue again`,
    )
}

/** Whether a block's maturity window has ended at a slot. */
export function isMature({ slots, contracts }: SequencerContext, { endTime }: Block, slot: bigint): boolean {
  return endTime + contracts.parameters.maturityWindow <= slotToTime(slots, slot)
}

export function setState(
  { store, lease }: SequencerContext,
  blocks: readonly Block[],
  state: Exclude<BlockState, 'removed'>,
): Promise<void> {
  return store.blocks.setState(
    blocks.map(({ headerHash }) => headerHash),
    state,
    lease,
  )
}

/** Records that blocks are in the state queue. */
export async function markCommitted(context: SequencerContext, blocks: readonly Block[]): Promise<void> {
  await setState(context, blocks, 'committed')
  context.commits.arrived()
  context.step('block-committed')
  for (const block of blocks) context.log.info(...blockLine(block, 'confirmed in the state queue'))
}

export async function markMature(context: SequencerContext, blocks: readonly Block[]): Promise<void> {
  await setState(context, blocks, 'mature')
  context.step('block-mature')
  for (const block of blocks) context.log.info(...blockLine(block, 'is mature'))
}

/** Records that blocks are in the confirmed state. */
export async function markMerged(context: SequencerContext, blocks: readonly Block[]): Promise<void> {
  await setState(context, blocks, 'merged')
  context.step('block-merged')
  for (const block of blocks) context.log.info(...blockLine(block, 'merged into the confirmed state'))
}

export function blockLine({ height, headerHash, transactions }: Block, event: string): [object, string] {
  const hash = toHex(headerHash)
  return [
    { height: Number(height), headerHash: hash, transactions },
    `Block ${height} (${hash.slice(0, 10)}) ${event}`,
  ]
}

/** A deposit, or a fee output, as the store credits it. */
export const creditedOf = ({ id, output }: Deposit): CreditedDeposit => ({
  id,
  output,
  address: decodeTransactionOutput(output).address.bytes,
})

/** Whether a block credits what layer 1 has for its time, as far as that is known. */
export async function creditsRightly(
  { events, store, signal }: Pick<SequencerContext, 'events' | 'store' | 'signal'>,
  { headerHash, header }: Pick<Block, 'headerHash' | 'header'>,
): Promise<boolean> {
  if (events === undefined) return true
  const fields = decodeHeader(header)
  const due = await events.between(fields.startTime, fields.endTime, signal)
  if (due === 'not read yet') return true
  return creditsJust(await store.blocks.depositsOf(headerHash), due, fields)
}

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
async function forgetFees(context: SequencerContext, removed: readonly Block[]): Promise<void> {
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

/** Why a transaction must go whose parent was dropped; undefined if it may stay. */
export function orphanOf(
  { cbor }: OrderedTransaction,
  dropped: ReadonlyMap<string, DropReason>,
): DropReason | undefined {
  for (const transactionId of namedBy(cbor)) {
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

/** The ids of the transactions and deposits whose outputs a transaction names. */
function namedBy(cbor: Uint8Array): readonly Uint8Array[] {
  const { inputs, collateralInputs, referenceInputs } = decodeTransaction(cbor).body
  return [...inputs, ...collateralInputs, ...referenceInputs].map(({ transactionId }) => transactionId)
}

export function reasonOf(
  code: string,
  message: string,
  details: { readonly [key: string]: string },
): DropReason {
  return { code, message, details: [{ predicate: code, message, details }] }
}
