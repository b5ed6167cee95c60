import { CborWriter } from '@ratatosk/cbor'
import { keysFromSigningKey, type WalletKeys } from '@ratatosk/ledger/builder'

export const ada = 1_000_000n

/** Keys derived from a number, with a testnet address without a staking part. */
function keysOf(number: number): WalletKeys {
  return keysFromSigningKey(number.toString(16).padStart(64, '0'), { networkId: 0 })
}

export const faucetKeys = keysOf(1)
/** A wallet with ample funds, used to pay the faucet. */
export const bankKeys = keysOf(2)
export const claimant = (number: number): WalletKeys => keysOf(1000 + number)

export function outputTo({ address }: WalletKeys, lovelace: bigint): Uint8Array {
  return new CborWriter().map(2).uint(0).bytes(address.bytes).uint(1).uint(lovelace).toBytes()
}

/** The first outputs of a scene: those of the faucet and of the bank. */
export function firstOutputs(funds: readonly bigint[]): readonly Uint8Array[] {
  const bank = Array.from({ length: 5 }, () => outputTo(bankKeys, 100_000n * ada))
  return [...funds.map((lovelace) => outputTo(faucetKeys, lovelace)), ...bank]
}
