import {
  type Address,
  AddressError,
  decodeAddress,
  decodeBech32Address,
  encodeBech32Address,
} from '@ratatosk/ledger'

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Longer than any Byron address in a transaction. Decoding base58 takes quadratic time. */
const maxBase58Length = 1024

/**
 * Parses an address as wallets write it: bech32 (CIP-19), or base58 for Byron addresses.
 *
 * @throws {AddressError} the text is neither
 */
export function readAddressText(text: string): Address {
  if (text.includes('1') && /^(addr|stake)/i.test(text)) return decodeBech32Address(text)
  const bytes = fromBase58(text)
  if (bytes === undefined) throw new AddressError('ADDRESS_NOT_BECH32', 0, 'neither bech32 nor base58')
  return decodeAddress(bytes)
}

/** Formats an address as wallets write it: bech32 (CIP-19), or base58 for Byron addresses. */
export function addressText(address: Address): string {
  return address.kind === 'byron' ? toBase58(address.bytes) : encodeBech32Address(address)
}

function toBase58(bytes: Uint8Array): string {
  let text = ''
  for (let rest = BigInt(`0x0${Buffer.from(bytes).toString('hex')}`); rest > 0n; rest /= 58n) {
    text = (alphabet[Number(rest % 58n)] ?? '') + text
  }
  for (const byte of bytes) {
    if (byte !== 0) break
    text = `1${text}`
  }
  return text
}

function fromBase58(text: string): Uint8Array | undefined {
  if (text.length === 0 || text.length > maxBase58Length) return undefined
  let value = 0n
  for (const character of text) {
    const digit = alphabet.indexOf(character)
    if (digit < 0) return undefined
    value = value * 58n + BigInt(digit)
  }
  const zeros = /^1*/.exec(text)?.[0].length ?? 0
  const hex = value === 0n ? '' : value.toString(16)
  const digits = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  return Uint8Array.from([...new Uint8Array(zeros), ...digits])
}
