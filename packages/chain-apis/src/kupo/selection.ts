import { equalBytes, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import { blake2b224, decodeAddress } from '@ratatosk/ledger'
import { readAddressText, readBech32 } from '../view/address-text.js'
import type { ChainOutput, ChainOutputQuery, ListPart } from '../view/chain-view.js'
import { isInSlots, paymentCredential, stakeCredential, units } from '../view/outputs.js'
import { hints, KupoError, misspelled, type Parameters, readBounds, type SlotBounds } from './requests.js'

/** The outputs that a request selects. */
interface Pattern {
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
function readName(text: string): string | undefined {
  return text.length <= 64 && text.length % 2 === 0 ? readHex(text, text.length / 2) : undefined
}

/** Reads the index of an output; -1 for one that no output has. */
function readIndex(text: string): number | undefined {
  if (!/^\d+$/.test(text)) return undefined
  const digits = text.replace(/^0+/, '')
  return digits.length <= 5 && Number(digits) <= 0xffff ? Number(digits) : -1
}

/** Selects the outputs of a transaction, or one of them. */
function ofTransaction(transaction: string, index?: number): Pattern {
  if (index === undefined) {
    return { query: { transaction }, matches: (output) => output.transactionHash === transaction }
  }
  const key = `${transaction}#${index}`
  return { query: { references: [key] }, matches: (output) => output.key === key }
}

/** Selects the outputs that hold an asset, or any under a policy. */
function ofAsset(policy: string, name?: string): Pattern {
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

/** The selection of a request for matches. */
export interface Selection extends Pick<SlotBounds, 'points'> {
  readonly query: ChainOutputQuery
  readonly order: NonNullable<ListPart['order']>
  readonly resolveHashes: boolean
  matches(output: ChainOutput): boolean
}

const filterNames = ['policy_id', 'asset_name', 'transaction_id', 'output_index']
const names = [
  ...['created_after', 'created_before', 'spent_after', 'spent_before', 'spent', 'unspent'],
  ...['resolve_hashes', 'order', ...filterNames],
]
const mostParameters = 50

/** @throws {KupoError} if a part of the request is wrong; Kupo reads them in the same order */
export function readSelection(text: string, parameters: Parameters): Selection {
  const pattern = readPattern(text)
  if (pattern === undefined) {
    throw new KupoError(isLabelPattern(text) ? hints.indexOnlyPattern : hints.pattern)
  }
  requireNames(parameters, names)
  const { points, ...slots } = readBounds(parameters)
  const spent = readStatus(parameters)
  const [resolve] = valuesOf(parameters, 'resolve_hashes')
  if (resolve?.value !== undefined) throw new KupoError(hints.referenceFlag)
  const filter = readFilter(parameters)
  return {
    query: { ...narrowed(pattern.query, filter?.query), ...slots, ...(spent !== undefined && { spent }) },
    points,
    order: readOrder(parameters),
    resolveHashes: resolve !== undefined,
    // The slot of an open block rises while its outputs are read.
    matches: (output) =>
      pattern.matches(output) && (filter?.matches(output) ?? true) && isInSlots(output, slots),
  }
}

/** Reads the transaction whose metadata are wanted; undefined for those of all. @throws {KupoError} */
export function readMetadataFilter(parameters: Parameters): string | undefined {
  requireNames(parameters, filterNames)
  const transactions = valuesOf(parameters, 'transaction_id')
  const [given] = transactions
  const wrong = filterNames.some((name) => name !== 'transaction_id' && valuesOf(parameters, name).length > 0)
  const id = readHex(given?.value ?? '', 32)
  if (wrong || transactions.length > 1 || (given !== undefined && id === undefined)) {
    throw new KupoError(hints.metadataFilter)
  }
  return id
}

/** @throws {KupoError} for a name that is nearly a known one, and for very many */
function requireNames(parameters: Parameters, known: readonly string[]): void {
  if (parameters.length > mostParameters) throw new KupoError(hints.parameters)
  for (const [name] of parameters) {
    const meant = misspelled(name, known)
    if (meant !== undefined) {
      throw new KupoError(`Unknown query parameter ${JSON.stringify(name)}! Is it ${meant}?`)
    }
  }
}

const valuesOf = (parameters: Parameters, wanted: string) =>
  parameters.flatMap(([name, value]) => (name === wanted ? [{ value }] : []))

function readStatus(parameters: Parameters): boolean | undefined {
  const given = parameters.filter(([name]) => name === 'spent' || name === 'unspent')
  if (given.length > 1 || given.some(([, value]) => value !== undefined))
    throw new KupoError(hints.statusFlag)
  const [status] = given
  return status && status[0] === 'spent'
}

function readOrder(parameters: Parameters): Selection['order'] {
  const [order, ...others] = valuesOf(parameters, 'order')
  if (order === undefined) return 'newest-first'
  if (others.length === 0 && order.value === 'most_recent_first') return 'newest-first'
  if (others.length === 0 && order.value === 'oldest_first') return 'oldest-first'
  throw new KupoError(hints.order)
}

/** Reads the filters of a query, of which each may be given once. @throws {KupoError} */
function readFilter(parameters: Parameters): Pattern | undefined {
  const policy = readOne(parameters, 'policy_id', (text) => readHex(text, 28))
  const name = readOne(parameters, 'asset_name', readName)
  const transaction = readOne(parameters, 'transaction_id', (text) => readHex(text, 32))
  const index = readOne(parameters, 'output_index', readIndex)
  if (policy !== undefined && transaction === undefined && index === undefined) return ofAsset(policy, name)
  if (policy !== undefined || name !== undefined) throw new KupoError(hints.matchFilter)
  if (transaction !== undefined) return ofTransaction(transaction, index)
  if (index !== undefined) throw new KupoError(hints.matchFilter)
  return undefined
}

function readOne<Value>(
  parameters: Parameters,
  name: string,
  read: (text: string) => Value | undefined,
): Value | undefined {
  const [given, ...others] = valuesOf(parameters, name)
  if (given === undefined) return undefined
  const value = given.value === undefined ? undefined : read(given.value)
  if (value === undefined || others.length > 0) throw new KupoError(hints.matchFilter)
  return value
}

/** Both queries in one. The chain searches by one asset: `matches` then compares the other. */
function narrowed(pattern: ChainOutputQuery, filter: ChainOutputQuery = {}): ChainOutputQuery {
  const { policy, unit, ...others } = filter
  const hasAsset = pattern.policy !== undefined || pattern.unit !== undefined
  return { ...others, ...(!hasAsset && { ...(policy && { policy }), ...(unit && { unit }) }), ...pattern }
}
