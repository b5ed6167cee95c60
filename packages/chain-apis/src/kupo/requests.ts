import querystring from 'node:querystring'
import { RefusalError } from '../errors.js'
import type { ChainTip, ChainView, SlotRange } from '../view/chain-view.js'

/** The parameters of a query in their order. A name without `=` is a flag, whose value is undefined. */
export type Parameters = readonly (readonly [name: string, value: string | undefined])[]

/** Reads the query of a URL as Kupo's server does: `&` and `;` separate, and `+` is a space. */
export function readParameters(url: string): Parameters {
  const start = url.indexOf('?')
  if (start < 0 || start === url.length - 1) return []
  return url
    .slice(start + 1)
    .split(/[&;]/)
    .map((pair) => {
      const equals = pair.indexOf('=')
      if (equals < 0) return [decode(pair), undefined]
      return [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))]
    })
}

const decode = (text: string) => querystring.unescape(text.replaceAll('+', ' '))

/**
 * The known name that a parameter misspells: in another case or punctuation, or with up to two wrong letters.
 * Kupo ignores what it does not know, and would answer such a request without its filter.
 */
export function misspelled(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name)) return undefined
  const plain = plainOf(name)
  return known.find((each) => {
    const target = plainOf(each)
    return Math.abs(target.length - plain.length) <= mostWrong && distance(plain, target) <= mostWrong
  })
}

const mostWrong = 2

const plainOf = (name: string) => name.toLowerCase().replaceAll(/[^a-z]/g, '')

/** How many letters must be added, removed or changed (Levenshtein). */
function distance(from: string, to: string): number {
  let last = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const [row, letter] of [...from].entries()) {
    let left = row + 1
    last = last.map((above, at) => {
      if (at > 0) left = Math.min(above + 1, left + 1, (last[at - 1] ?? 0) + (letter === to[at - 1] ? 0 : 1))
      return left
    })
  }
  return last.at(-1) ?? 0
}

/** A request that Kupo refuses. Its body is `{ hint, details }`. */
export class KupoError extends RefusalError {
  override readonly name = 'KupoError'

  constructor(
    message: string,
    statusCode: 400 | 404 = 400,
    readonly details?: unknown,
  ) {
    super(statusCode, message)
  }
}

/** Advice about each part of a request that can be wrong. */
export const hints = {
  pattern:
    'Invalid pattern! Use *, an address, a stake address, credentials (payment/delegation), an asset ' +
    '(policy.name) or an output (index@transaction). * stands for any part.',
  indexOnlyPattern:
    'Invalid query pattern! A metadata label selects what Kupo stores, and cannot select matches.',
  slotRange:
    'Invalid slot range! Bounds are absolute slots or points (slot.header-hash): at most one of ' +
    'created_after and spent_after, and one of created_before and spent_before.',
  statusFlag:
    'Invalid filter! Use either ?spent or ?unspent, once and without a value, or neither for all matches.',
  referenceFlag: 'Invalid flag! ?resolve_hashes has no value; it adds datums and scripts to matches.',
  matchFilter:
    'Invalid filter! Use policy_id, alone or with asset_name, or transaction_id, alone or with ' +
    'output_index; each once. Hashes and names are in base16, indices are whole numbers.',
  order: 'Invalid order! Use order=most_recent_first or order=oldest_first, once.',
  metadataFilter: 'Invalid filter! Metadata can be filtered by one transaction_id, in base16.',
  strict: 'Invalid query! This endpoint knows the flag ?strict only, without a value.',
  slot: 'Invalid slot! It is an absolute slot: a whole number.',
  noBlock: 'No block is at this slot or later. If the slot is a recent one, its block may have been undone.',
  openBlock:
    'The block is open and has more than 10,000 transactions. Name one by ?transaction_id, or wait until ' +
    'the block is closed.',
  datumHash: 'Invalid datum hash! It is 64 characters in base16.',
  scriptHash: 'Invalid script hash! It is 56 characters in base16.',
  unknownPoint:
    'The point is unknown. Use one of this chain: a recent one may have been undone by a roll-back.',
  parameters: 'Too many query parameters.',
  endpoint:
    'Endpoint not found. The endpoints are /matches, /datums, /scripts, /metadata, /patterns, ' +
    '/checkpoints, /health and /metrics.',
  method: 'Unsupported method! This index is read-only and always has all outputs: use GET.',
  accept: "Unsupported content type in 'Accept'! Use application/json or text/plain.",
  unexpected: 'Unexpected server error.',
} as const

/** The part of an `Accept` header. */
interface MediaRange {
  readonly type: string
  /** In order of their names, without the charset: `name=value;…`. */
  readonly parameters: string
  /** From 0 to 1. */
  readonly quality: number
}

function readRanges(accept: string): MediaRange[] {
  return accept.split(',').map((range) => {
    const [type = '', ...parameters] = range
      .split(';')
      .map((part) => part.replaceAll(/[\s"]/g, '').toLowerCase())
    const quality = parameters.find((each) => each.startsWith('q='))
    const others = parameters.filter((each) => !/^(q|charset)=/.test(each)).sort()
    return {
      type,
      parameters: others.join(';'),
      quality: quality === undefined ? 1 : Number(quality.slice(2)),
    }
  })
}

const quantityParameter = 'asset-quantity=string'

/** The types that include JSON, the most specific first. */
const jsonTypes = ['application/json', 'application/*', '*/*']

/** True if a client prefers quantities as text: `Accept: application/json;asset-quantity=string`. */
export function acceptsQuantityText(accept = ''): boolean {
  const ranges = readRanges(accept)
  const qualityOf = (parameters: string) => {
    const type = jsonTypes.find((name) => ranges.some((range) => isRange(range, name, parameters)))
    const qualities = ranges.filter((range) => type !== undefined && isRange(range, type, parameters))
    return Math.max(0, ...qualities.map(({ quality }) => quality))
  }
  return qualityOf(quantityParameter) > qualityOf('')
}

const isRange = (range: MediaRange, type: string, parameters: string) =>
  range.type === type && range.parameters === parameters

/** The content type of JSON that Kupo sends. */
export const jsonType = 'application/json;charset=utf-8'

export const quantityTextType = `${jsonType};${quantityParameter}`

const textType = 'text/plain;charset=utf-8'

/** The form of the health that a client asks for; undefined for one that Kupo does not have. */
export function healthType(accept: string | undefined): typeof jsonType | typeof textType | undefined {
  if (accept === undefined) return jsonType
  const types = readRanges(accept).map(({ type }) => type)
  if (types.includes('text/plain')) return textType
  return types.includes('application/json') || types.includes('*/*') ? jsonType : undefined
}

/** Kupo's database has no larger slots. */
const mostSlot = 2n ** 63n - 2n

/** Reads an absolute slot; undefined if the text is not a slot. */
export function readSlot(text: string): bigint | undefined {
  if (!/^\d+$/.test(text)) return undefined
  const digits = text.replace(/^0+/, '')
  if (digits.length > 19) return undefined
  const slot = BigInt(digits)
  return slot < mostSlot ? slot : undefined
}

interface Bound {
  readonly slot: bigint
  /** Of a point: the hash of its block; null for the origin. */
  readonly hash?: string | null
}

const bounds = {
  created_after: ['createdIn', 'from'],
  created_before: ['createdIn', 'to'],
  spent_after: ['spentIn', 'from'],
  spent_before: ['spentIn', 'to'],
} as const

type BoundName = keyof typeof bounds

const isBound = (name: string): name is BoundName => Object.hasOwn(bounds, name)

/** True if a query has a bound: its answer depends on the slot of an open block. */
export function hasBounds(parameters: Parameters): boolean {
  return parameters.some(([name]) => isBound(name))
}

export interface SlotBounds {
  readonly createdIn?: SlotRange
  readonly spentIn?: SlotRange
  /** The bounds that are points. */
  readonly points: readonly Bound[]
}

/** Reads the bounds of a query: at most a lower one and an upper one. @throws {KupoError} */
export function readBounds(parameters: Parameters): SlotBounds {
  const ranges: { createdIn?: SlotRange; spentIn?: SlotRange } = {}
  const points: Bound[] = []
  const known = new Set<string>()
  for (const [name, text] of parameters) {
    if (!isBound(name)) continue
    const [field, side] = bounds[name]
    const bound = readBound(text ?? '')
    if (bound === undefined || known.has(side)) throw new KupoError(hints.slotRange)
    known.add(side)
    if (bound.hash !== undefined) points.push(bound)
    ranges[field] = { ...ranges[field], [side]: bound.slot }
  }
  return { ...ranges, points }
}

function readBound(text: string): Bound | undefined {
  const plain = readSlot(text)
  if (plain !== undefined) return { slot: plain }
  const trimmed = text.trim().toLowerCase()
  if (trimmed === 'origin') return { slot: 0n, hash: null }
  const [digits = '', hash, ...rest] = trimmed.split('.')
  const slot = readSlot(digits)
  if (slot === undefined || hash === undefined || !/^[0-9a-f]{64}$/.test(hash) || rest.length > 0)
    return undefined
  return { slot, hash }
}

/** @throws {KupoError} unless each point is one of the chain */
export async function requirePoints(chain: ChainView, points: readonly Bound[]): Promise<void> {
  for (const { slot, hash } of points) {
    const found = await chain.blockUntil(slot)
    if (found.slot === slot && found.hash === hash) continue
    if (typeof hash === 'string' && (await isOpenAt(chain, hash, slot, found))) continue
    if (found.height === 0 || hash === null) throw new KupoError(hints.unknownPoint)
    const ancestor = pointJson(found)
    throw new KupoError(`${hints.unknownPoint} details.ancestor is the newest block before it.`, 400, {
      ancestor,
    })
  }
}

/** An open block has had each slot since the block before it, `found`. */
async function isOpenAt(chain: ChainView, hash: string, slot: bigint, found: ChainTip): Promise<boolean> {
  const block = await chain.block(hash)
  return block?.open === true && block.height === found.height + 1 && slot <= block.slot
}

export function pointJson({ slot, hash }: { readonly slot: bigint; readonly hash: string }) {
  return { slot_no: slot, header_hash: hash }
}
