import { toHex } from '@ratatosk/ledger'
import type { Devnet } from '../types.js'

/** Every unspent output with its bytes: equal exactly where the UTxO sets are. */
export function utxoSet(devnet: Devnet): string[] {
  return devnet
    .utxos()
    .map(({ key, output }) => `${key} ${toHex(output.bytes)}`)
    .sort()
}
