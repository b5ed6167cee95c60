import type { ChainOutput, ChainOutputQuery, ListPart } from '../view/chain-view.js'
import { isInSlots } from '../view/outputs.js'
import { hints, KupoError } from './hints.js'
import { misspelled, type Parameters } from './parameters.js'
import {
  isLabelPattern,
  ofAsset,
  ofTransaction,
  type Pattern,
  readHex,
  readIndex,
  readName,
  readPattern,
} from './patterns.js'
import { readBounds, type SlotBounds } from './slots.js'

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
