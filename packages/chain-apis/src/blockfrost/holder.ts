import { isDecodeError, toHex } from '@ratatosk/cbor'
import { type Address, blake2b224 } from '@ratatosk/ledger'
import { bech32 } from 'bech32'
import { addressText, readAddressText } from '../view/address-text.js'
import { readBech32 } from '../view/bech32-text.js'
import type { ChainView, HolderQuery } from '../view/chain-view.js'
import { type BlockfrostError, badRequest, notFound } from './errors.js'

/** Whom an address route is about: an address, or a payment credential in bech32 (CIP-5). */
export interface Holder {
  /** As answers show it. */
  readonly text: string
  readonly query: HolderQuery
  /** Absent for a credential. */
  readonly address?: Address
}

/** @throws {BlockfrostError} 400 if the text is neither, or an address of another network */
export function readHolder(chain: ChainView, text: string): Holder {
  const credential = readCredential(text)
  if (credential !== undefined) return credential
  try {
    const address = readAddressText(text)
    if (address.networkId === chain.networkId && address.kind !== 'reward')
      return { text: addressText(address), query: { address: toHex(address.bytes) }, address }
  } catch (error) {
    if (!isDecodeError(error)) throw error
  }
  throw invalidAddress()
}

/** 404 for a holder that never received an output. */
export async function requireKnown(chain: ChainView, { query }: Holder): Promise<void> {
  const isKnown =
    query.address === undefined
      ? (await chain.outputs(query, { offset: 0, limit: 1 })).length > 0
      : await chain.knowsAddress(query.address)
  if (!isKnown) throw notFound()
}

function readCredential(text: string): Holder | undefined {
  const named = readBech32(text, { addr_vkh: 28, addr_shared_vkh: 28, addr_vk: 32, script: 28 })
  if (named === undefined) return undefined
  const { prefix, bytes } = named
  const hash = prefix === 'addr_vk' ? blake2b224(bytes) : bytes
  return {
    text: bech32.encode(prefix === 'addr_vk' ? 'addr_vkh' : prefix, bech32.toWords(hash), 128),
    query: { paymentCredential: toHex(hash) },
  }
}

function invalidAddress(): BlockfrostError {
  return badRequest('Invalid address for this network or malformed address format.')
}
