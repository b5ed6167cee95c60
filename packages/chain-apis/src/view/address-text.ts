import { fromHex, isDecodeError } from '@ratatosk/cbor'
import {
  type Address,
  AddressError,
  type Credential,
  decodeAddress,
  decodeBech32Address,
  encodeBech32Address,
} from '@ratatosk/ledger'
import { bech32 } from 'bech32'

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

/**
 * The bytes of a text in bech32 (CIP-5), or undefined for other texts.
 *
 * @param lengths how many bytes there are under each prefix
 */
export function readBech32<Prefix extends string>(
  text: string,
  lengths: Readonly<Record<Prefix, number>>,
): { readonly prefix: Prefix; readonly bytes: Uint8Array } | undefined {
  const decoded = bech32.decodeUnsafe(text, 128)
  if (decoded === undefined || !Object.hasOwn(lengths, decoded.prefix)) return undefined
  const prefix = decoded.prefix as Prefix
  // Undefined if bits are left over.
  const bytes = bech32.fromWordsUnsafe(decoded.words)
  return bytes?.length === lengths[prefix] ? { prefix, bytes: Uint8Array.from(bytes) } : undefined
}

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
