import type { FastifyReply } from 'fastify'
import { encodeJsonParts } from '../json.js'
import { bodyOf } from '../long-lists.js'
import type { ListPart } from '../view/chain-view.js'
import { BlockfrostError } from './errors.js'

export interface Paging {
  readonly count?: string
  readonly page?: string
  readonly order?: string
}

/** Parses a page: `count` 1 to 100 (default), `page` from 1, `order` `asc` (default) or `desc`; or a 400. */
export function readPaging({ count, page, order = 'asc' }: Paging): Required<ListPart> {
  const limit = integer('count', count, 100, 100)
  const offset = (integer('page', page, 1, 21_474_836) - 1) * limit
  if (order !== 'asc' && order !== 'desc') {
    throw new BlockfrostError(400, 'querystring/order must be equal to one of the allowed values')
  }
  return { offset, limit, order: order === 'asc' ? 'oldest-first' : 'newest-first' }
}

/** One page of a list that is oldest first. */
export function page<T>(items: readonly T[], paging: Paging): T[] {
  const { offset, limit, order } = readPaging(paging)
  const ordered = order === 'oldest-first' ? items : [...items].reverse()
  return ordered.slice(offset, offset + limit)
}

function integer(name: string, text: string | undefined, fallback: number, most: number): number {
  if (text === undefined) return fallback
  const value = /^\d{1,8}$/.test(text) ? Number(text) : 0
  if (value < 1) throw new BlockfrostError(400, `querystring/${name} must be >= 1`)
  if (value > most) throw new BlockfrostError(400, `querystring/${name} must be <= ${most}`)
  return value
}

/** Answers JSON that may be long: other work takes its turn while it is encoded. */
export async function sendJson(reply: FastifyReply, value: unknown): Promise<FastifyReply> {
  return reply.type('application/json; charset=utf-8').send(await bodyOf(encodeJsonParts(value)))
}
