import { toHex } from '@ratatosk/cbor'
import type { Devnet } from '../types.js'

export {
  alice,
  aliceGenesis,
  bob,
  failing,
  failingHash,
  first,
  lock,
  payment,
  second,
  succeeding,
  succeedingHash,
  unlock,
} from '@ratatosk/test-kit/ledger-apis'

/** All unspent outputs with their bytes, for comparing UTxO sets. */
export function utxoSet(devnet: Devnet): string[] {
  return devnet
    .utxos()
    .map(({ key, output }) => `${key} ${toHex(output.bytes)}`)
    .sort()
}
