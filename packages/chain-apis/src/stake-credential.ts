import { fromHex, isDecodeError } from '@ratatosk/cbor'
import type { Credential } from '@ratatosk/ledger'
import { bech32 } from 'bech32'
import { readAddressText } from './view/address-text.js'

/** Parses a stake credential: a reward address, a bech32 hash (CIP-5), or a hex hash of this kind. */
export function readStakeCredential(text: string, kind: Credential['kind']): Credential | undefined {
  if (/^[0-9a-fA-F]{56}$/.test(text)) return { kind, hash: fromHex(text) }
  const decoded = bech32.decodeUnsafe(text, 128)
  if (decoded !== undefined && ['stake_vkh', 'script'].includes(decoded.prefix)) {
    const hash = Uint8Array.from(bech32.fromWords(decoded.words))
    if (hash.length !== 28) return undefined
    return { kind: decoded.prefix === 'script' ? 'script' : 'key', hash }
  }
  try {
    const address = readAddressText(text)
    return address.kind === 'reward' ? address.stake : undefined
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}

/** The reward address of a credential in bech32 (CIP-19). */
export function stakeAddress(networkId: number, { kind, hash }: Credential): string {
  const header = (kind === 'key' ? 0xe0 : 0xf0) | networkId
  const words = bech32.toWords(Uint8Array.from([header, ...hash]))
  return bech32.encode(networkId === 0 ? 'stake_test' : 'stake', words, 128)
}
