import { isDecodeError } from '@ratatosk/cbor'
import { type Address, decodeAddress, decodeBech32Address, isAddressError } from '@ratatosk/ledger'

/** An address of one network; undefined if a text is not one. */
export function addressOn(networkId: 0 | 1, text: string): Address | undefined {
  const address = readAddress(text)
  return address?.networkId === networkId ? address : undefined
}

/** An address in bech32, or as the bytes of CIP-19 in hex; undefined if a text is neither. */
export function readAddress(text: string): Address | undefined {
  try {
    const isHex = /^([0-9a-f]{2})+$/i.test(text)
    return isHex ? decodeAddress(Uint8Array.from(Buffer.from(text, 'hex'))) : decodeBech32Address(text)
  } catch (error) {
    if (isAddressError(error) || isDecodeError(error)) return undefined
    throw error
  }
}
