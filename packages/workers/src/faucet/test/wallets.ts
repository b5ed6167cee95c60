import { keysFromSigningKey, type WalletKeys } from '@ratatosk/layer1'
import { CborWriter } from '@ratatosk/ledger'

export const ada = 1_000_000n

/** Keys that differ by number, at an address of a test network without stake part. */
export function keysOf(number: number): WalletKeys {
  return keysFromSigningKey(number.toString(16).padStart(64, '0'), { networkId: 0 })
}

/** The faucet's. */
export const faucetKeys = keysOf(1)
/** Of somebody who has plenty. */
export const bankKeys = keysOf(2)
/** The address of a claimant. */
export const claimant = (number: number): WalletKeys => keysOf(1000 + number)

export function outputTo({ address }: WalletKeys, lovelace: bigint): Uint8Array {
  return new CborWriter().map(2).uint(0).bytes(address.bytes).uint(1).uint(lovelace).toBytes()
}

/** The first outputs of a scene: what the faucet has, and plenty for the bank. */
export function firstOutputs(funds: readonly bigint[]): readonly Uint8Array[] {
  const bank = Array.from({ length: 5 }, () => outputTo(bankKeys, 100_000n * ada))
  return [...funds.map((lovelace) => outputTo(faucetKeys, lovelace)), ...bank]
}
