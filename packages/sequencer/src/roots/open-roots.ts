import type { Deposit } from '@ratatosk/block'
import type { LedgerOutput } from '@ratatosk/store'
import { Mutex } from 'async-mutex'
import { RootsError } from './errors.js'
import { buffersOf, pack, packOutputs } from './threads/packing.js'
import type { RootsHandlers } from './threads/roots-thread.js'
import { startThread, type Thread } from './threads/thread.js'
import type { Roots, RootsOptions } from './types.js'

/** For a block of 10,000 transactions. With the default of 48 MB, collection took a quarter of the time. */
const maxYoungGenerationSizeMb = 192

/** Calls over which freeing is spread: one after each block, and there is more to free after 64 blocks. */
const shares = 32

/**
 * Starts the thread that computes the roots of blocks, with the unspent outputs that the folder holds.
 *
 * @throws {RootsError} `ROOTS_STORE_CORRUPT` when the folder holds something else, `ROOTS_FAILED` when it
 *   cannot be used
 * @throws RangeError when `history` is not a whole number from 0
 * @example
 * const roots = await openRoots({ path: '.ratatosk/utxos' })
 * const { utxosRoot, transactionsRoot } = await roots.apply(transactions)
 * await roots.revert(rootBefore)
 * await roots.close()
 */
export async function openRoots(options: RootsOptions = {}): Promise<Roots> {
  const { history = 64 } = options
  if (!Number.isInteger(history) || history < 0) throw new RangeError('history must be a whole number from 0')
  const thread = startThread<RootsHandlers>('roots', { maxYoungGenerationSizeMb })
  try {
    await thread.ask('open', options)
  } catch (error) {
    await thread.terminate()
    throw error
  }
  const calls = new Mutex()
  let closing: Promise<void> | undefined
  let freeing: Promise<void> | undefined
  /** Nodes that are left to free, and how many of them are freed now. */
  let left = 0
  let share = 0

  /** Runs calls one after another, in the order in which they were made. */
  async function inOrder<T>(call: () => Promise<T>): Promise<T> {
    if (closing !== undefined) throw new RootsError('ROOTS_CLOSED', 'The roots are closed')
    return calls.runExclusive(call)
  }

  const ask: typeof thread.ask = (...request) => inOrder(() => thread.ask(...request))

  async function freeShare(): Promise<void> {
    let freed = 0
    do {
      const before = left
      left = await ask('free')
      if (left > before) share = Math.ceil(left / shares)
      else freed += before - left
    } while (left > 0 && freed < share && closing === undefined)
  }

  async function end(): Promise<void> {
    if (!thread.ended) await thread.ask('close')
    await thread.exit
  }

  return {
    root: () => ask('root'),

    apply(transactions, deposits = []) {
      const packed = pack(transactions)
      return ask('apply', { transactions: packed, deposits: copies(deposits) }, buffersOf(packed))
    },

    applyWithin(transactions, interval, deposits = [], feesTo = undefined) {
      const packed = pack(transactions)
      const request = { transactions: packed, deposits: copies(deposits), interval, feesTo }
      return ask('applyWithin', request, buffersOf(packed))
    },

    prepare(transactions, after) {
      const packed = pack(transactions)
      return ask('prepare', { transactions: packed, after }, buffersOf(packed))
    },

    free() {
      freeing ??= freeShare().finally(() => {
        freeing = undefined
      })
      return freeing
    },

    revert: (root) => ask('revert', Uint8Array.from(root)),
    prove: (root, outref) => ask('prove', { root: Uint8Array.from(root), outref: Uint8Array.from(outref) }),
    answer: (root, question) => ask('answer', { root: Uint8Array.from(root), question }),
    rebuild: (pieces) => inOrder(() => rebuild(thread, pieces)),

    close() {
      closing ??= calls.runExclusive(end)
      return closing
    },
  }
}

async function rebuild(
  thread: Thread<RootsHandlers>,
  pieces: AsyncIterable<readonly LedgerOutput[]>,
): Promise<Uint8Array> {
  // The next piece is fetched while the thread takes this one.
  let taken: Promise<unknown> = Promise.resolve()
  try {
    for await (const piece of pieces) {
      await taken
      taken = thread.ask('addToRebuild', ...packOutputs(piece))
      taken.catch(() => undefined)
    }
    await taken
  } catch (error) {
    await taken.catch(() => undefined)
    await thread.ask('abandonRebuild').catch(() => undefined)
    throw error
  }
  return thread.ask('endRebuild')
}

/** Views of larger buffers would be sent with all of these. */
const copies = (deposits: readonly Deposit[]): readonly Deposit[] =>
  deposits.map(({ id, output }) => ({ id: Uint8Array.from(id), output: Uint8Array.from(output) }))
