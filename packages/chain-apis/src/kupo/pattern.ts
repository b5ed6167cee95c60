import { equalBytes, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import { blake2b224, decodeAddress } from '@ratatosk/ledger'
import { bech32 } from 'bech32'
import { readAddressText } from '../view/address-text.js'
import type { ChainOutput, ChainOutputQuery } from '../view/chain-view.js'
import { paymentCredential, stakeCredential, units } from '../view/outputs.js'

/** The outputs that a request selects. */
interface Pattern {
  /** Narrows the search to what the chain has indexed. `matches` repeats its conditions. */
  readonly query: ChainOutputQuery
  matches(output: ChainOutput): boolean
}

const hash28 = /^[0-9a-f]{56}$/
const hash32 = /^[0-9a-f]{64}$/

/**
 * Parses a Kupo pattern: `*`, an address (bech32, base58 or hex), `payment/delegation` credentials (hex or
 * bech32), `policy.name` or `index@transaction`. `*` stands for any credential, name or index.
 */
export function readPattern(text: string): Pattern | undefined {
  if (text === '*' || text === '*/*') return { query: {}, matches: () => true }
  return readReference(text) ?? readAsset(text) ?? readCredentials(text) ?? readAddress(text)
}

function readReference(text: string): Pattern | undefined {
  const match = /^(\*|\d{1,5})@([0-9a-f]{64})$/.exec(text)
  if (match === null) return undefined
  const [, index, transaction] = match
  if (transaction === undefined) return undefined
  if (index === '*')
    return { query: { transaction }, matches: (output) => output.transactionHash === transaction }
  const key = `${transaction}#${Number(index)}`
  return { query: { references: [key] }, matches: (output) => output.key === key }
}

function readAsset(text: string): Pattern | undefined {
  const match = /^([0-9a-f]{56})\.(\*|(?:[0-9a-f]{2}){0,32})$/.exec(text)
  const [, policy, name] = match ?? []
  if (policy === undefined || name === undefined) return undefined
  if (name !== '*') return { query: { unit: policy + name }, matches: holds(policy + name) }
  return { query: { policy }, matches: ({ output }) => output.value.assets.has(policy) }
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
    const address = /^([0-9a-f]{2}){29,}$/.test(text) ? decodeAddress(fromHex(text)) : readAddressText(text)
    if (address.kind === 'reward') {
      const stake = toHex(address.stake.hash)
      return { query: { stakeCredential: stake }, matches: ({ output }) => stakeCredential(output) === stake }
    }
    const bytes = toHex(address.bytes)
    return {
      query: { address: bytes },
      matches: ({ output }) => equalBytes(output.address.bytes, address.bytes),
    }
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}

export interface Filters {
  readonly policy_id?: string
  readonly asset_name?: string
  readonly transaction_id?: string
  readonly output_index?: string
}

/** @returns what the filters select, or what is wrong with them */
export function readFilters(filters: Filters): string | Pattern {
  const { policy_id: policy, asset_name: name, transaction_id: transaction, output_index: index } = filters
  if (policy !== undefined && !hash28.test(policy)) return 'policy_id must be 56 lower-case hex digits'
  if (name !== undefined && policy === undefined) return 'asset_name requires policy_id'
  if (transaction !== undefined && !hash32.test(transaction)) {
    return 'transaction_id must be 64 lower-case hex digits'
  }
  if (index !== undefined && transaction === undefined) return 'output_index requires transaction_id'
  return {
    query: {
      ...(policy !== undefined && (name === undefined ? { policy } : { unit: policy + name })),
      ...(transaction !== undefined && { transaction }),
    },
    matches: (output) =>
      (policy === undefined || name !== undefined || output.output.value.assets.has(policy)) &&
      (policy === undefined || name === undefined || holds(policy + name)(output)) &&
      (transaction === undefined || output.transactionHash === transaction) &&
      (index === undefined || output.index === Number(index)),
  }
}

function holds(unit: string): (output: ChainOutput) => boolean {
  return ({ output }) => [...units(output)].includes(unit)
}

/** Prefixes of keys and of hashes in bech32 (CIP-5) that Kupo takes for credentials. */
const prefixes: Readonly<Record<number, readonly string[]>> = {
  28: ['vkh', 'addr_vkh', 'stake_vkh', 'script'],
  32: ['vk', 'addr_vk', 'stake_vk'],
}

/** Parses a credential as Kupo does (hash or public key; hex or bech32) to the hash in hex, or `*`. */
function readCredential(text: string): string | undefined {
  if (text === '*' || hash28.test(text)) return text
  if (hash32.test(text)) return toHex(blake2b224(fromHex(text)))
  const decoded = bech32.decodeUnsafe(text, 128)
  const bytes = decoded && bech32.fromWordsUnsafe(decoded.words)
  if (bytes === undefined || !prefixes[bytes.length]?.includes(decoded?.prefix ?? '')) return undefined
  return toHex(bytes.length === 32 ? blake2b224(Uint8Array.from(bytes)) : Uint8Array.from(bytes))
}
