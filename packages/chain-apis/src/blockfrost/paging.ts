import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { encodeJsonParts, lazyList } from '../json.js'
import { bodyOf, clientOf, type LongLists } from '../long-lists.js'
import type {
  Awaitable,
  BlockPoint,
  BlockRange,
  ChainOutput,
  ChainOutputQuery,
  ChainView,
  ListPart,
} from '../view/chain-view.js'
import { type BlockfrostError, badRequest } from './errors.js'
import { TooManyOutputsError } from './limited-outputs.js'

/** The lists of what comes before and after a block or an epoch, by the last part of their path. */
export const directions = ['next', 'previous'] as const

/**
 * The first and the last number of a page of such a list; the first is higher if there is none. Pages are
 * oldest first, and those of previous ones begin next to the number.
 */
export function neighbours(
  direction: (typeof directions)[number],
  number: number,
  { offset, limit }: Pick<ListPart, 'offset' | 'limit'>,
  { lowest, highest }: { readonly lowest: number; readonly highest: number },
): { readonly first: number; readonly last: number } {
  return direction === 'next'
    ? { first: number + 1 + offset, last: Math.min(highest, number + offset + limit) }
    : { first: Math.max(lowest, number - offset - limit), last: number - offset - 1 }
}

type ListRequest = Pick<FastifyRequest, 'query' | 'headers'>

const largest = { count: 100, page: 21_474_836 } as const
const pagingNames: readonly string[] = ['count', 'page', 'order']

/** The part of a list that a request asks for. */
export class List {
  readonly order: NonNullable<ListPart['order']>
  /** The header `unpaged`: the whole list. */
  readonly isUnpaged: boolean
  readonly #query: Readonly<Record<string, unknown>>
  readonly #page: Required<ListPart>
  readonly #most: number

  /**
   * @param most the most entries of a whole list
   * @param others names of further parameters, which are texts
   * @param isOrdered false for a list without the parameter `order`, whose value is then ignored
   * @throws {BlockfrostError} 400 for a wrong page, and for a parameter that the list does not have
   */
  constructor(
    { query, headers }: ListRequest,
    most: number,
    others: readonly string[] = [],
    isOrdered = true,
  ) {
    this.#query = query as Readonly<Record<string, unknown>>
    this.#most = most
    const limit = this.#integer('count', 100)
    const offset = (this.#integer('page', 1) - 1) * limit
    const order = isOrdered ? (this.text('order') ?? 'asc') : 'asc'
    if (order !== 'asc' && order !== 'desc')
      throw badRequest('querystring/order must be equal to one of the allowed values')
    for (const name of others) this.text(name)
    // Otherwise a misspelt name would get the answer to another question.
    const names = [...pagingNames, ...others]
    const unknown = Object.keys(this.#query).find((name) => !names.includes(name))
    if (unknown !== undefined)
      throw badRequest(`querystring/${unknown} is not a parameter of this list: ${names.join(', ')}`)
    this.order = order === 'asc' ? 'oldest-first' : 'newest-first'
    this.#page = { offset, limit, order: this.order }
    this.isUnpaged = Boolean(headers.unpaged)
  }

  /** The text of a parameter. @throws {BlockfrostError} it is given more than once */
  text(name: string): string | undefined {
    const given = this.#given(name)
    if (given === undefined || typeof given === 'string') return given
    throw badRequest(`querystring/${name} must be string`)
  }

  /** Reads the part from a chain. @throws {TooManyOutputsError} the whole list is too long */
  async read<T>(read: (part: Required<ListPart>) => Awaitable<readonly T[]>): Promise<readonly T[]> {
    if (!this.isUnpaged) return read(this.#page)
    const all = await read({ offset: 0, limit: this.#most + 1, order: this.order })
    if (all.length > this.#most) throw new TooManyOutputsError(this.#most, 'entries are in the list')
    return all
  }

  /** The part of a list that is read in the order that the request asks for, and no further. */
  async take<T>(pages: AsyncIterable<readonly T[]>): Promise<readonly T[]> {
    return this.read(async ({ offset, limit }) => {
      const taken: T[] = []
      for await (const page of pages) {
        taken.push(...page)
        if (taken.length >= offset + limit) break
      }
      return taken.slice(offset, offset + limit)
    })
  }

  /** The part of a list that is oldest first. */
  of<T>(items: readonly T[]): readonly T[] {
    const ordered = this.order === 'oldest-first' ? items : [...items].reverse()
    return this.isUnpaged ? ordered : ordered.slice(this.#page.offset, this.#page.offset + this.#page.limit)
  }

  /** A list if the parameter is given more than once. */
  #given(name: string): unknown {
    const given = this.#query[name]
    return Array.isArray(given) && given.length === 1 ? given[0] : given
  }

  /** Numbers are read as the JSON schema validator of the real service does. */
  #integer(name: keyof typeof largest, fallback: number): number {
    const given = this.#given(name)
    if (given === undefined) return fallback
    const value = typeof given === 'string' && given !== '' ? Number(given) : Number.NaN
    if (!Number.isInteger(value)) throw badRequest(`querystring/${name} must be integer`)
    if (value < 1) throw badRequest(`querystring/${name} must be >= 1`)
    if (value > largest[name]) throw badRequest(`querystring/${name} must be <= ${largest[name]}`)
    return value
  }
}

/** Answers all of these outputs, in pages: each list is whole, or its connection is closed. */
export async function sendOutputs(
  reply: FastifyReply,
  { chain, lists }: BlockfrostSource,
  query: ChainOutputQuery,
  { order }: List,
  toJson: (output: ChainOutput) => object,
): Promise<FastifyReply> {
  const pages = chain.outputPages(query, order)
  return sendPages(reply, await lists.read(pages, (page) => lazyList(page, toJson), clientOf(reply)))
}

/** Answers a list that is read while it is sent. */
export function sendPages(reply: FastifyReply, list: AsyncIterable<string>): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(Readable.from(list))
}

/** Answers JSON that may be long: other work takes its turn while it is encoded. */
export async function sendJson(reply: FastifyReply, value: unknown): Promise<FastifyReply> {
  return reply.type('application/json; charset=utf-8').send(await bodyOf(encodeJsonParts(value)))
}

/** The source of all answers. */
export interface BlockfrostSource {
  readonly chain: ChainView
  /** The most outputs that a response may add up, and the most entries of a list that is read whole. */
  readonly maxOutputs: number
  readonly lists: LongLists
}

/** Names of the parameters of {@link readRange}. */
export const rangeNames = ['from', 'to'] as const

const highestNumber = 2 ** 31 - 1

/**
 * The blocks that `from` and `to` name, each as `height` or `height:position`.
 *
 * @throws {BlockfrostError} 400 if one is malformed, or if the range ends before it begins
 */
export function readRange(list: List): BlockRange {
  const [from, to] = rangeNames.map((name) => readPoint(list.text(name)))
  if (from !== undefined && to !== undefined && isAfter(from, to)) throw invalid()
  return { ...(from && { from }), ...(to && { to }) }
}

function readPoint(text: string | undefined): BlockPoint | undefined {
  if (text === undefined) return undefined
  const [, height, position] = /^(\d{1,10})(?::(\d{0,10}))?$/.exec(text) ?? []
  if (height === undefined || Math.max(Number(height), Number(position ?? 0)) > highestNumber) throw invalid()
  return { height: Number(height), ...(position && { position: Number(position) }) }
}

function isAfter(from: BlockPoint, to: BlockPoint): boolean {
  if (from.height !== to.height) return from.height > to.height
  return from.position !== undefined && to.position !== undefined && from.position > to.position
}

function invalid(): BlockfrostError {
  return badRequest('Invalid (malformed or out of range) from/to parameter(s).')
}
