import { createRootsThread } from './create-roots-thread.js'
import { RootsError } from './errors.js'
import type { PackedOutputs } from './messages.js'
import { buffersOf, pack } from './packed-bytes.js'
import type { Roots, RootsOptions, UnspentOutput } from './types.js'

/**
 * Starts the thread that computes the roots of blocks, with the unspent outputs that the folder holds.
 *
 * @throws RootsError `ROOTS_STORE_CORRUPT` where the folder holds something else
 * @throws RangeError where `history` is no whole number from 0
 * @example
 * const roots = await openRoots({ path: '.ratatosk/utxos' })
 * const { utxosRoot, transactionsRoot } = await roots.apply(transactions)
 * await roots.revert(rootBefore)
 * await roots.close()
 */
export async function openRoots(options: RootsOptions = {}): Promise<Roots> {
  const { history = 64 } = options
  if (!Number.isInteger(history) || history < 0) {
    throw new RangeError('history is a number of states, 0 or more')
  }
  const thread = await createRootsThread(options)
  let last: Promise<unknown> = Promise.resolve()
  let closing: Promise<void> | undefined

  /** Runs `work` when everything that was asked before is done. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (closing !== undefined) return Promise.reject(new RootsError('ROOTS_CLOSED', 'The roots are closed'))
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }

  async function rebuild(pieces: AsyncIterable<readonly UnspentOutput[]>): Promise<Uint8Array> {
    await thread.ask('beginRebuild', undefined)
    // The next piece is fetched while the thread takes this one.
    let taken: Promise<unknown> = Promise.resolve()
    try {
      for await (const piece of pieces) {
        await taken
        const { transactionIds, indexes, outputs } = packOutputs(piece)
        const moved = [...buffersOf(transactionIds, outputs), indexes.buffer]
        taken = thread.ask('addToRebuild', { transactionIds, indexes, outputs }, moved)
        taken.catch(() => undefined)
      }
      await taken
    } catch (error) {
      await taken.catch(() => undefined)
      await thread.ask('abandonRebuild', undefined).catch(() => undefined)
      throw error
    }
    return thread.ask('endRebuild', undefined)
  }

  return {
    root: () => inTurn(() => thread.ask('root', undefined)),

    apply(transactions) {
      const packed = pack(transactions)
      return inTurn(() => thread.ask('apply', packed, buffersOf(packed)))
    },

    revert(root) {
      const copy = Uint8Array.from(root)
      return inTurn(() => thread.ask('revert', copy))
    },

    rebuild: (pieces) => inTurn(() => rebuild(pieces)),

    close() {
      closing ??= last.then(() => thread.close())
      return closing
    },
  }
}

function packOutputs(piece: readonly UnspentOutput[]): PackedOutputs {
  return {
    transactionIds: pack(piece.map(({ transactionId }) => transactionId)),
    indexes: Uint16Array.from(piece, ({ index }) => index),
    outputs: pack(piece.map(({ output }) => output)),
  }
}
