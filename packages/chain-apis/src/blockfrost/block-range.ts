import type { BlockPoint, BlockRange } from '../view/chain-view.js'
import { type BlockfrostError, badRequest } from './errors.js'
import type { List } from './paging.js'

/** Names of the parameters of {@link readRange}. */
export const rangeNames = ['from', 'to'] as const

const largest = 2 ** 31 - 1

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
  if (height === undefined || Math.max(Number(height), Number(position ?? 0)) > largest) throw invalid()
  return { height: Number(height), ...(position && { position: Number(position) }) }
}

function isAfter(from: BlockPoint, to: BlockPoint): boolean {
  if (from.height !== to.height) return from.height > to.height
  return from.position !== undefined && to.position !== undefined && from.position > to.position
}

function invalid(): BlockfrostError {
  return badRequest('Invalid (malformed or out of range) from/to parameter(s).')
}
