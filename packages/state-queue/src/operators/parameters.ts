import { onlyParameters, type Query } from '@ratatosk/http'
import { parameterReader } from '../list-parameters.js'
import { verdictStates } from './answers.js'
import type { RequestedQuestion, VerdictsPart } from './ports.js'

export interface QuestionsPart {
  readonly limit: number
  readonly offset: number
  /** Only questions about this block, 28 bytes. */
  readonly headerHash?: Uint8Array
}

const { invalid, limit, offset, headerHash, state } = parameterReader('OPERATORS')

/** @throws InvalidParameterError */
export function readQuestionsPart(query: Query): QuestionsPart {
  onlyParameters('OPERATORS', query, ['header_hash', 'limit', 'offset'])
  return {
    ...(query.header_hash !== undefined && { headerHash: headerHash('header_hash', query.header_hash) }),
    limit: limit(query.limit),
    offset: offset(query.offset),
  }
}

/** @throws InvalidParameterError */
export function readVerdictsPart(query: Query): VerdictsPart {
  onlyParameters('OPERATORS', query, ['state', 'limit', 'before'])
  return {
    ...(query.state !== undefined && { state: state(verdictStates, query.state) }),
    limit: limit(query.limit),
    ...(query.before !== undefined && { before: headerHash('before', query.before) }),
  }
}

export const maxChunk = 2 ** 32 - 1

/** Reads the body of `POST /summon`; other fields are ignored. @throws InvalidParameterError */
export function readRequestedQuestion(body: unknown): RequestedQuestion {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid('body', typeof body, 'Send a JSON object')
  const { headerHash: hash, kind, chunk } = body as Readonly<Record<string, unknown>>
  if (kind !== 'chunk')
    throw invalid('kind', shownOf(kind), 'Send chunk: the watcher asks about hidden roots by itself')
  if (typeof chunk !== 'number' || !Number.isInteger(chunk) || chunk < 0 || chunk > maxChunk)
    throw invalid('chunk', shownOf(chunk), `Send a whole number from 0 to ${maxChunk}`)
  return {
    headerHash: headerHash('headerHash', typeof hash === 'string' ? hash : shownOf(hash)),
    chunk,
  }
}

/** A value of JSON in a message, in short. */
const shownOf = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 100)
