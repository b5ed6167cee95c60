import { decodeTransaction, isDecodeError, type SlotConfig, slotToTime, toHex } from '@ratatosk/ledger'
import { blockHash } from '../chain/block-hash.js'
import type { Chain } from '../chain/chain.js'
import type { ChainTransaction } from '../chain/types.js'
import { DevnetError } from '../errors.js'
import type { StoredChain, StoredTransaction } from './types.js'

/**
 * Lets a chain become again what was kept of it. Nothing is judged a second time: what is in a block was judged once.
 *
 * @returns the transactions that wait, in order
 * @throws {DevnetError} `DEVNET_STORE_CORRUPT` where the hashes do not fit what they are of
 */
export function restore(stored: StoredChain, chain: Chain, slots: SlotConfig): ChainTransaction[] {
  const waiting = new Map(stored.transactions.map((transaction) => [transaction.hash, transaction]))
  for (const block of stored.blocks) {
    const transactions = block.transactions.map((hash) => {
      const transaction = waiting.get(hash)
      if (transaction === undefined) throw corrupt(`transaction ${hash} of block ${block.height} is missing`)
      waiting.delete(hash)
      return readTransaction(transaction)
    })
    const bytes = transactions.map(({ transaction }) => transaction.bytes)
    const size = bytes.reduce((sum, { length }) => sum + length, 0)
    // Of forgotten empty blocks no more is known than the hash that the next one names.
    const follows = block.height !== chain.tip.height + 1 || block.previous === chain.tip.hash
    const { height, slot, hash, previous } = block
    if (!follows || blockHash(height, slot, previous, bytes) !== hash) {
      throw corrupt(`block ${height} does not have the hash ${hash} or does not follow the one before`)
    }
    chain.append({ height, slot, hash, previous, time: slotToTime(slots, slot), size, transactions })
  }
  return Array.from(waiting.values(), readTransaction).sort((a, b) => a.sequence - b.sequence)
}

function readTransaction({ hash, cbor, sequence }: StoredTransaction): ChainTransaction {
  try {
    const transaction = decodeTransaction(cbor)
    if (toHex(transaction.id) !== hash) throw corrupt(`transaction ${hash} has another hash`)
    return { hash, transaction, sequence }
  } catch (error) {
    if (isDecodeError(error)) throw corrupt(`transaction ${hash}: ${error.message}`)
    throw error
  }
}

function corrupt(reason: string): DevnetError {
  return new DevnetError('DEVNET_STORE_CORRUPT', `The kept chain is damaged: ${reason}`)
}
