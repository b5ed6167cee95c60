import { isDecodeError } from '@ratatosk/cbor'
import { decodeTransaction, type Transaction } from '@ratatosk/ledger'
import { BlockError } from './errors.js'

/**
 * Decodes the transaction at a position of a block.
 *
 * @param position from 0
 * @throws {BlockError} `BLOCK_TRANSACTION_MALFORMED`
 */
export function decodeTransactionAt(cbor: Uint8Array, position: number): Transaction {
  try {
    return decodeTransaction(cbor)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new BlockError(
      'BLOCK_TRANSACTION_MALFORMED',
      `Transaction ${position} does not decode: ${error.message}`,
      { position, cause: error },
    )
  }
}
