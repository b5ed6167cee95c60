import {
  decimalParameter,
  hexParameter,
  InvalidParameterError,
  type Query,
  type QueryValue,
} from '@ratatosk/http'
import type { ListedVerdict, RequestedQuestion, VerdictsPart } from './ports.js'

export const defaultLimit = 100
export const maxLimit = 500
export const maxOffset = 10_000_000
export const verdictStates = [
  'unavailable',
  'valid',
  'invalid',
  'unprovable',
  'removing',
  'removed',
] as const satisfies readonly ListedVerdict['state'][]

export interface QuestionsPart {
  readonly limit: number
  readonly offset: number
  /** Only questions about this block, 28 bytes. */
  readonly headerHash?: Uint8Array
}

function invalid(name: string, value: QueryValue, rule: string): InvalidParameterError {
  return new InvalidParameterError('OPERATORS', name, value, rule)
}

/** @throws InvalidParameterError */
export function readQuestionsPart(query: Query): QuestionsPart {
  return {
    ...(query.header_hash !== undefined && { headerHash: readHash('header_hash', query.header_hash) }),
    limit: within('limit', query.limit, 1, maxLimit, defaultLimit),
    offset: within('offset', query.offset, 0, maxOffset, 0),
  }
}

/** @throws InvalidParameterError */
export function readVerdictsPart(query: Query): VerdictsPart {
  return {
    ...(query.state !== undefined && { state: readState(query.state) }),
    limit: within('limit', query.limit, 1, maxLimit, defaultLimit),
    ...(query.before !== undefined && { before: readHash('before', query.before) }),
  }
}

function readHash(name: string, value: QueryValue): Uint8Array {
  const hash = hexParameter(value, 28)
  if (hash === undefined) throw invalid(name, value, 'Send a header hash of 56 hex digits')
  return hash
}

function readState(value: QueryValue): ListedVerdict['state'] {
  const state = verdictStates.find((each) => each === value)
  if (state === undefined) throw invalid('state', value, `Send one of ${verdictStates.join(', ')}`)
  return state
}

/** A whole number within bounds. */
function within(name: string, value: QueryValue, low: number, high: number, byDefault: number): number {
  if (value === undefined) return byDefault
  const number = decimalParameter(value)
  if (number === undefined || number < low || number > high)
    throw invalid(name, value, `Send a whole number from ${low} to ${high}`)
  return number
}

export const maxChunk = 2 ** 32 - 1

/** Reads the body of `POST /summon`; other fields are ignored. @throws InvalidParameterError */
export function readRequestedQuestion(body: unknown): RequestedQuestion {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new InvalidParameterError('OPERATORS', 'body', typeof body, 'Send a JSON object')
  const { headerHash, kind, chunk } = body as Readonly<Record<string, unknown>>
  if (kind !== 'chunk')
    throw invalid('kind', shownOf(kind), 'Send chunk: the watcher asks about hidden roots by itself')
  if (typeof chunk !== 'number' || !Number.isInteger(chunk) || chunk < 0 || chunk > maxChunk)
    throw invalid('chunk', shownOf(chunk), `Send a whole number from 0 to ${maxChunk}`)
  return {
    headerHash: readHash('headerHash', typeof headerHash === 'string' ? headerHash : shownOf(headerHash)),
    chunk,
  }
}

/** A value of JSON in a message, in short. */
const shownOf = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 100)
