import type { Parameter } from '@ratatosk/database'
import type { At, IndexPart } from './types.js'

export interface Parameters {
  readonly all: readonly Parameter[]
  /** @returns the parameter's name in SQL */
  add(value: Parameter): string
}

export function parametersOf(): Parameters {
  const all: Parameter[] = []
  return {
    all,
    add(value) {
      all.push(value)
      const type = value instanceof Uint8Array ? 'bytea' : typeof value === 'string' ? 'text' : 'bigint'
      return `$${all.length}::${type}`
    },
  }
}

/** `range` takes the part of a sorted list; `most` limits the lists that it is merged from. */
export function partOf({ offset, limit, order }: IndexPart, values: Parameters) {
  const skip = values.add(BigInt(offset))
  const take = Number.isFinite(limit) ? values.add(BigInt(limit)) : undefined
  return {
    direction: order === 'newest-first' ? 'DESC' : 'ASC',
    most: take === undefined ? '' : `LIMIT ${skip} + ${take}`,
    range: take === undefined ? `OFFSET ${skip}` : `OFFSET ${skip} LIMIT ${take}`,
  }
}

/** The condition that a row is not younger than a sequence. */
export function until({ sequence }: At, values: Parameters): string {
  return sequence === undefined ? '' : ` AND sequence <= ${values.add(sequence)}`
}

/** The condition that what has a sequence was produced before a sequence, but for deposits. */
export function producedUntil(at: At, values: Parameters, column: string): string {
  const { sequence, credited = [], waiting = [] } = at
  if (sequence === undefined) return 'true'
  const isOld = `${column} <= ${values.add(sequence)}`
  const isIn = waiting.length === 0 ? isOld : `${isOld} AND ${column} <> ALL (${listOf(waiting, values)})`
  return credited.length === 0 ? isIn : `(${isIn} OR ${column} = ANY (${listOf(credited, values)}))`
}

/** The condition that what has a sequence is not in an earlier ledger. */
export function producedSince(since: At, values: Parameters, column: string): string {
  const { sequence, credited = [], waiting = [] } = since
  if (sequence === undefined) return 'true'
  const isNew = `${column} > ${values.add(sequence)}`
  const waited = waiting.length === 0 ? '' : ` OR ${column} = ANY (${listOf(waiting, values)})`
  const isOut = credited.length === 0 ? '' : ` AND ${column} <> ALL (${listOf(credited, values)})`
  return `(${isNew}${waited})${isOut}`
}

export const listOf = (sequences: readonly bigint[], values: Parameters) =>
  `${values.add(`{${sequences.join()}}`)}::bigint[]`
