import { equalBytes, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import { blake2b224, decodeAddress } from '@ratatosk/ledger'
import { readAddressText } from '../view/address-text.js'
import { readBech32 } from '../view/bech32-text.js'
import type { ChainOutput, ChainOutputQuery } from '../view/chain-view.js'
import { paymentCredential, stakeCredential, units } from '../view/outputs.js'

/** The outputs that a request selects. */
export interface Pattern {
  /** Narrows the search to what the chain has indexed. `matches` repeats its conditions. */
  readonly query: ChainOutputQuery
  matches(output: ChainOutput): boolean
}

/**
 * Parses a Kupo pattern: `*`, an address (bech32, base58 or hex), `payment/delegation` credentials (hex or
 * bech32), `policy.name` or `index@transaction`. `*` stands for any credential, name or index.
 */
export function readPattern(text: string): Pattern | undefined {
  if (text === '*') return { query: {}, matches: () => true }
  // Byron addresses have no credentials.
  if (text === '*/*') return { query: {}, matches: ({ output }) => output.address.kind !== 'byron' }
  return readReference(text) ?? readAsset(text) ?? readCredentials(text) ?? readAddress(text)
}

/** True for a pattern by which Kupo can store outputs, but not find them: a label of metadata. */
export function isLabelPattern(text: string): boolean {
  return /^\{\d+\}$/.test(text)
}

/** Reads bytes in base16, of either case, to lower-case hex. @param length of the bytes */
export function readHex(text: string, length: number): string | undefined {
  return text.length === 2 * length && /^[0-9a-f]*$/i.test(text) ? text.toLowerCase() : undefined
}

/** Reads the name of an asset. */
export function readName(text: string): string | undefined {
  return text.length <= 64 && text.length % 2 === 0 ? readHex(text, text.length / 2) : undefined
}

/** Reads the index of an output; -1 for one that no output has. */
export function readIndex(text: string): number | undefined {
  if (!/^\d+$/.test(text)) return undefined
  const digits = text.replace(/^0+/, '')
  return digits.length <= 5 && Number(digits) <= 0xffff ? Number(digits) : -1
}

/** Selects the outputs of a transaction, or one of them. */
export function ofTransaction(transaction: string, index?: number): Pattern {
  if (index === undefined) {
    return { query: { transaction }, matches: (output) => output.transactionHash === transaction }
  }
  const key = `${transaction}#${index}`
  return { query: { references: [key] }, matches: (output) => output.key === key }
}

/** Selects the outputs that hold an asset, or any under a policy. */
export function ofAsset(policy: string, name?: string): Pattern {
  if (name === undefined)
    return { query: { policy }, matches: ({ output }) => output.value.assets.has(policy) }
  const unit = policy + name
  return { query: { unit }, matches: ({ output }) => [...units(output)].includes(unit) }
}

function readReference(text: string): Pattern | undefined {
  const [indexText = '', hash = '', ...rest] = text.split('@')
  const transaction = readHex(hash, 32)
  if (transaction === undefined || rest.length > 0) return undefined
  if (indexText === '*') return ofTransaction(transaction)
  const index = readIndex(indexText)
  return index === undefined ? undefined : ofTransaction(transaction, index)
}

function readAsset(text: string): Pattern | undefined {
  const [id = '', nameText, ...rest] = text.split('.')
  const policy = readHex(id, 28)
  if (policy === undefined || nameText === undefined || rest.length > 0) return undefined
  if (nameText === '*') return ofAsset(policy)
  const name = readName(nameText)
  return name === undefined ? undefined : ofAsset(policy, name)
}

function readCredentials(text: string): Pattern | undefined {
  const [payment, stake, ...rest] = text.split('/').map(readCredential)
  if (payment === undefined || stake === undefined || rest.length > 0) return undefined
  return {
    query: {
      ...(payment !== '*' && { paymentCredential: payment }),
      ...(stake !== '*' && { stakeCredential: stake }),
    },
    matches: ({ output }) =>
      (payment === '*' || paymentCredential(output) === payment) &&
      (stake === '*' || stakeCredential(output) === stake),
  }
}

function readAddress(text: string): Pattern | undefined {
  try {
    const hex = /^([0-9a-f]{2}){29,}$/i.test(text)
    const address = hex ? decodeAddress(fromHex(text.toLowerCase())) : readAddressText(text)
    if (address.kind === 'reward') {
      const stake = toHex(address.stake.hash)
      return { query: { stakeCredential: stake }, matches: ({ output }) => stakeCredential(output) === stake }
    }
    return {
      query: { address: toHex(address.bytes) },
      matches: ({ output }) => equalBytes(output.address.bytes, address.bytes),
    }
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}

/** The lengths of keys and of hashes in bech32 (CIP-5) that Kupo takes for credentials. */
const lengths = { vkh: 28, addr_vkh: 28, stake_vkh: 28, script: 28, vk: 32, addr_vk: 32, stake_vk: 32 }

/** Parses a credential as Kupo does (hash or public key; hex or bech32) to the hash in hex, or `*`. */
function readCredential(text: string): string | undefined {
  if (text === '*') return text
  const hash = readHex(text, 28)
  if (hash !== undefined) return hash
  const key = readHex(text, 32)
  if (key !== undefined) return toHex(blake2b224(fromHex(key)))
  const bytes = readBech32(text, lengths)?.bytes
  return bytes && toHex(bytes.length === 32 ? blake2b224(bytes) : bytes)
}
