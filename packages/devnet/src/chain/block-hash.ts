import { blake2b256, CborWriter, concatBytes, fromHex, toHex } from '@ratatosk/ledger'

/**
 * A block's hash: Blake2b-256 of `[height, slot, previous, Blake2b-256 of all transactions]`. Nobody mints here, so there is
 * no header to hash; but the hash still says all that came before.
 */
export function blockHash(
  height: number,
  slot: bigint,
  previous: string,
  transactions: readonly Uint8Array[],
): string {
  const header = new CborWriter()
    .array(4)
    .uint(height)
    .uint(slot)
    .bytes(fromHex(previous))
    .bytes(blake2b256(concatBytes(...transactions)))
  return toHex(blake2b256(header.toBytes()))
}
