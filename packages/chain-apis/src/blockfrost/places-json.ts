import { slotToTime } from '@ratatosk/ledger'
import type { AddressTransaction, ChainView } from '../view/chain-view.js'

/** Blockfrost's times are whole seconds. */
export function seconds(milliseconds: bigint): number {
  return Number(milliseconds / 1000n)
}

/** A transaction in a list. */
export function placedJson(chain: ChainView, { hash, place: { block, position } }: AddressTransaction) {
  return {
    tx_hash: hash,
    tx_index: position,
    block_height: block.height,
    block_time: seconds(slotToTime(chain.slots, block.slot)),
  }
}
