import type { Parameter } from '@ratatosk/database'
import type { IndexPart } from './types.js'

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
export function until(sequence: bigint | undefined, values: Parameters): string {
  return sequence === undefined ? '' : ` AND sequence <= ${values.add(sequence)}`
}
