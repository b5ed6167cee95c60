import type { OrderedTransaction } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'

/** Limit of the transactions in one block, in bytes: bounds the memory that a block takes. */
export const maxBlockBytes = 64 * 1024 * 1024

/** More would delay what else the roots' thread is asked. */
const most = 2500

type Preparing = Pick<
  SequencerContext,
  'store' | 'roots' | 'memory' | 'maxBlockTransactions' | 'prepareAtTransactions'
>

/** How many transactions the mempool has, counted up to the most that makes a difference. */
export async function countWaiting({
  store,
  memory: { ahead },
  commitAtTransactions,
  maxBlockTransactions,
}: Pick<
  SequencerContext,
  'store' | 'memory' | 'commitAtTransactions' | 'maxBlockTransactions'
>): Promise<number> {
  const left = Math.max(commitAtTransactions, maxBlockTransactions) - ahead.length
  return ahead.length + (left < 1 ? 0 : await store.blocks.waiting(left, ahead.at(-1)?.sequence))
}

/**
 * While the mempool fills up, reads its oldest transactions and has the roots prepared for them, so that the
 * next block has to do the rest only.
 *
 * @param waiting how many transactions the mempool has
 * @returns whether transactions wait for a block with room for more
 */
export async function prepareBlock(
  { store, roots, memory, maxBlockTransactions, prepareAtTransactions }: Preparing,
  waiting: number,
): Promise<boolean> {
  const { ahead } = memory
  const room = Math.min(maxBlockTransactions - ahead.length, most)
  const wanted = ahead.length + prepareAtTransactions
  if (room < 1 || wanted > maxBlockTransactions) return false
  if (waiting < wanted) return waiting > 0
  const added = await oldestAfter(store, ahead, room)
  const prepared = await roots.prepare(
    added.map(({ cbor }) => cbor),
    ahead.length,
  )
  memory.ahead = prepared === 0 ? [] : [...ahead, ...added]
  return added.length > 0
}

/**
 * The mempool's oldest transactions for a block, and the rest of the work for the roots to do.
 *
 * @param ahead what is known of them
 */
export async function readOldest(
  { store }: Preparing,
  ahead: readonly OrderedTransaction[],
  limit: number,
): Promise<readonly OrderedTransaction[]> {
  if (ahead.length === 0) return store.blocks.oldest(limit, maxBlockBytes)
  return [...ahead, ...(await oldestAfter(store, ahead, limit - ahead.length))]
}

async function oldestAfter(
  store: SequencerContext['store'],
  ahead: readonly OrderedTransaction[],
  limit: number,
): Promise<readonly OrderedTransaction[]> {
  const bytes = ahead.reduce((sum, { cbor }) => sum + cbor.length, 0)
  const left = maxBlockBytes - bytes
  if (limit < 1 || left < 1) return []
  const found = await store.blocks.oldest(limit, left, ahead.at(-1)?.sequence)
  // The store returns one in any case.
  const [first] = found
  return ahead.length > 0 && first !== undefined && first.cbor.length > left ? [] : found
}
