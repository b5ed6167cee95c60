import { fromHex, isDecodeError } from '@ratatosk/cbor'
import type { Credential } from '@ratatosk/ledger'
import { bech32 } from 'bech32'
import { readAddressText } from './view/address-text.js'
import { readBech32 } from './view/bech32-text.js'

/** Parses a stake credential: a reward address, a bech32 hash (CIP-5), or a hex hash of this kind. */
export function readStakeCredential(text: string, kind: Credential['kind']): Credential | undefined {
  if (/^[0-9a-fA-F]{56}$/.test(text)) return { kind, hash: fromHex(text) }
  const named = readBech32(text, { stake_vkh: 28, script: 28 })
  if (named !== undefined) return { kind: named.prefix === 'script' ? 'script' : 'key', hash: named.bytes }
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
