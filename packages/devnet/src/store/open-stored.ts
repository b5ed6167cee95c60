import { isDecodeError, toHex } from '@ratatosk/cbor'
import {
  decodeLayer1Transaction,
  type ProtocolParameters,
  type SlotConfig,
  slotToTime,
} from '@ratatosk/ledger'
import type { Chain } from '../chain/chain.js'
import { blockHash } from '../chain/mempool.js'
import type { DevnetTransaction } from '../chain/types.js'
import { DevnetError } from '../errors.js'
import { defaultParameters, ledgerVersionOf, newestLedgerVersion } from '../genesis.js'
import type { DevnetStore, StoredChain, StoredTransaction } from './store.js'

/**
 * Opens the chain in a store, or a new one if it is empty. `given` parameters default to those of the chain's
 * ledger version; a new one has the newest.
 * @throws {DevnetError} (rejects) `DEVNET_CONFIGURATION` if the chain has another genesis or ledger version
 */
export async function openStored(
  store: DevnetStore,
  genesis: string,
  given: ProtocolParameters | undefined,
): Promise<{ readonly chain: StoredChain; readonly parameters: ProtocolParameters }> {
  const major = given?.ledgerVersion.major
  const stored = await store.open(genesis, major ?? Number(newestLedgerVersion))
  if (stored.genesis !== genesis) {
    throw new DevnetError(
      'DEVNET_CONFIGURATION',
      'The stored chain has another genesis: use its genesis and slot length, or empty the store',
    )
  }
  const known = ledgerVersionOf(stored.ledgerVersion)
  const parameters = given ?? (known && defaultParameters(known))
  if (parameters?.ledgerVersion.major === stored.ledgerVersion) return { chain: stored.chain, parameters }
  throw new DevnetError(
    'DEVNET_CONFIGURATION',
    `The stored chain began with ledger version ${stored.ledgerVersion} and keeps it: use that version, ` +
      'or empty the store',
  )
}

/**
 * Rebuilds the chain from the store, and returns the pending transactions in order of acceptance. Hashes are
 * verified; transactions are not validated again.
 * @throws {DevnetError} `DEVNET_STORE_CORRUPT` if a hash does not match its content
 */
export function restore(stored: StoredChain, chain: Chain, slots: SlotConfig): DevnetTransaction[] {
  const pending = new Map(stored.transactions.map((transaction) => [transaction.hash, transaction]))
  for (const block of stored.blocks) {
    const transactions = block.transactions.map((hash) => {
      const transaction = pending.get(hash)
      if (transaction === undefined) throw corrupt(`transaction ${hash} of block ${block.height} is missing`)
      pending.delete(hash)
      return readTransaction(transaction)
    })
    const bytes = transactions.map(({ transaction }) => transaction.bytes)
    const size = bytes.reduce((sum, { length }) => sum + length, 0)
    // After pruned blocks, only the hash that the next block names is known.
    const follows = block.height !== chain.tip.height + 1 || block.previous === chain.tip.hash
    const { height, slot, hash, previous } = block
    if (!follows || blockHash(height, slot, previous, bytes) !== hash) {
      throw corrupt(`block ${height} does not have the hash ${hash} or does not follow the previous block`)
    }
    chain.append({ height, slot, hash, previous, time: slotToTime(slots, slot), size, transactions })
  }
  return Array.from(pending.values(), readTransaction).sort((a, b) => a.sequence - b.sequence)
}

function readTransaction({ hash, cbor, sequence }: StoredTransaction): DevnetTransaction {
  try {
    const transaction = decodeLayer1Transaction(cbor)
    if (toHex(transaction.id) !== hash) throw corrupt(`transaction ${hash} has a different hash`)
    return { hash, transaction, sequence }
  } catch (error) {
    if (isDecodeError(error)) throw corrupt(`transaction ${hash}: ${error.message}`)
    throw error
  }
}

function corrupt(reason: string): DevnetError {
  return new DevnetError('DEVNET_STORE_CORRUPT', `The stored chain is corrupt: ${reason}`)
}
