import { blake2b224, encodeBech32Address, keyAddress } from '@ratatosk/ledger'
import type { WalletKeys } from '@ratatosk/ledger/builder'

/** Distinguishes the address from others of the same key. */
const tag = new TextEncoder().encode('ratatosk settler')

/**
 * The keys of the wallet that pays the fees of payouts: the operator's key, at an address of its own. Payouts
 * that others overtake never take commits with them then.
 */
export function settlerKeys({ payment, address: operator }: WalletKeys): WalletKeys {
  const hash = blake2b224(Uint8Array.from([...tag, ...payment.hash]))
  const address = keyAddress(payment.hash, operator.networkId === 1 ? 1 : 0, { kind: 'key', hash })
  return { payment, address, addressText: encodeBech32Address(address) }
}
