import { setImmediate as pause } from 'node:timers/promises'
import type { Header } from '@ratatosk/contracts'
import { decodeTransaction, effects, equalBytes, type Transaction } from '@ratatosk/ledger'
import { createMemoryStore, createTrie, type Entry, type Operation, TrieError } from '@ratatosk/trie'
import { createDiffSum } from './diff.js'
import { BlockError } from './errors.js'
import type { BlockBody, BlockDiff } from './types.js'

/** The root of an empty map, 32 zero bytes. */
const emptyRoot = new Uint8Array(32)

/**
 * Checks a body against its header, as far as that goes without the state before the block: the transactions are those of the
 * transactions root, and spent and produced are what follows from them.
 *
 * @throws {BlockError} `BODY_FOREIGN` where the body is not this header's, `BLOCK_INVALID` where no body could be accepted
 */
export async function verifyBody(body: BlockBody, header: Header): Promise<void> {
  if (!equalBytes(header.depositsRoot, emptyRoot) || !equalBytes(header.withdrawalsRoot, emptyRoot))
    throw new BlockError(
      'BLOCK_INVALID',
      'The header has deposits or withdrawals, which there are none of yet',
    )
  if (!equalBytes(await transactionsRoot(body.transactions), header.transactionsRoot))
    throw new BlockError('BODY_FOREIGN', 'The transactions are not those of the header')
  const sum = createDiffSum()
  for await (const transaction of decoded(body.transactions)) sum.add(effects(transaction))
  if (!equalDiffs(sum.diff(), body))
    throw new BlockError('BODY_FOREIGN', 'Spent and produced are not what the transactions do')
}

/** What a block does to the trie of unspent outputs. */
export function* diffOperations({ spent, produced }: BlockDiff): Generator<Operation, void> {
  for (const outref of spent) yield { type: 'delete', key: outref }
  for (const { outref, output } of produced) yield { type: 'insert', key: outref, value: output }
}

async function transactionsRoot(cbors: readonly Uint8Array[]): Promise<Uint8Array> {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  async function* entries(): AsyncGenerator<Entry, void> {
    for await (const { id, bytes } of decoded(cbors)) yield [id, bytes]
  }
  try {
    return Uint8Array.from(await trie.rebuild(entries()))
  } catch (error) {
    if (!(error instanceof TrieError)) throw error
    throw new BlockError('BODY_FOREIGN', 'A transaction is there twice', { cause: error })
  } finally {
    await trie.close()
  }
}

/** Transactions that are decoded between two looks at whatever else waits. */
const pauseEvery = 500

/**
 * One transaction after the other. Decoded they take many times their bytes, so none is kept: as long as they are not known to be the
 * header's, there may be any number of them.
 */
async function* decoded(cbors: readonly Uint8Array[]): AsyncGenerator<Transaction, void> {
  for (const [position, cbor] of cbors.entries()) {
    if (position % pauseEvery === pauseEvery - 1) await pause()
    try {
      yield decodeTransaction(cbor)
    } catch (error) {
      throw new BlockError('BODY_FOREIGN', `Transaction ${position} is none`, { cause: error })
    }
  }
}

function equalDiffs(a: BlockDiff, b: BlockDiff): boolean {
  return (
    a.spent.length === b.spent.length &&
    a.produced.length === b.produced.length &&
    a.spent.every((outref, i) => equalBytes(outref, b.spent[i] as Uint8Array)) &&
    a.produced.every(({ outref, output }, i) => {
      const other = b.produced[i]
      return other !== undefined && equalBytes(outref, other.outref) && equalBytes(output, other.output)
    })
  )
}
