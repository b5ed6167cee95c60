import { BlockfrostError } from './errors.js'

export interface Paging {
  readonly count?: string
  readonly page?: string
  readonly order?: string
}

/**
 * The page of a list that a query asks for: `count` from 1 to 100 (100), `page` from 1 on (1), `order` `asc` or `desc`.
 *
 * @param items oldest first
 */
export function page<T>(items: readonly T[], { count, page: number, order = 'asc' }: Paging): T[] {
  const size = whole('count', count, 100, 100)
  const start = (whole('page', number, 1, 21_474_836) - 1) * size
  if (order !== 'asc' && order !== 'desc') {
    throw new BlockfrostError(400, 'querystring/order must be equal to one of the allowed values')
  }
  const ordered = order === 'asc' ? items : [...items].reverse()
  return ordered.slice(start, start + size)
}

function whole(name: string, text: string | undefined, fallback: number, most: number): number {
  if (text === undefined) return fallback
  const value = /^\d{1,8}$/.test(text) ? Number(text) : 0
  if (value < 1) throw new BlockfrostError(400, `querystring/${name} must be >= 1`)
  if (value > most) throw new BlockfrostError(400, `querystring/${name} must be <= ${most}`)
  return value
}
