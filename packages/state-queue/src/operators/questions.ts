import { setImmediate } from 'node:timers/promises'
import { equalBytes } from '@ratatosk/cbor'
import { onlyParameters, portResult, type Query } from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import { parameterReader } from '../list-parameters.js'
import { type QuestionAnswer, verdictStates } from './answers.js'
import type { OpenQuestions, RequestedQuestion, VerdictsPart } from './ports.js'

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

/** Bytes that a question takes in memory beside those of its fields, about. */
const overhead = 256

/** The fields of questions that are read before a page of them becomes an answer. */
const Piece = Type.Array(
  Type.Object({
    question: Type.String(),
    headerHash: Type.Uint8Array(),
    key: Type.Uint8Array(),
    deadline: Type.BigInt(),
  }),
  { title: 'arrays of QuestionAnswer' },
)

/** Open questions by deadline, at most `maxBytes`. There may be thousands: other work runs in between. */
export async function collectQuestions(
  questions: OpenQuestions,
  maxBytes: number,
): Promise<readonly QuestionAnswer[]> {
  let kept: QuestionAnswer[] = []
  let bytes = 0
  for await (const piece of questions.read()) {
    for (const question of portResult('questions.read', Piece, piece)) {
      kept.push(question)
      bytes += sizeOf(question)
    }
    // Twice as much, so that sorting is rare.
    if (bytes > 2 * maxBytes) ({ kept, bytes } = firstOf(kept, maxBytes))
    await setImmediate()
  }
  return firstOf(kept, maxBytes).kept
}

/** A part of sorted questions, and whether others follow it. */
export function partOf(
  questions: readonly QuestionAnswer[],
  { headerHash, limit, offset }: QuestionsPart,
): { readonly questions: readonly QuestionAnswer[]; readonly hasMore: boolean } {
  const found =
    headerHash === undefined
      ? questions
      : questions.filter((question) => equalBytes(question.headerHash, headerHash))
  return { questions: found.slice(offset, offset + limit), hasMore: found.length > offset + limit }
}

/** The first questions by deadline that have `maxBytes` together. */
function firstOf(questions: QuestionAnswer[], maxBytes: number): { kept: QuestionAnswer[]; bytes: number } {
  const sorted = questions.sort(byDeadline)
  let bytes = 0
  let count = 0
  for (const question of sorted) {
    const size = sizeOf(question)
    if (bytes + size > maxBytes) break
    bytes += size
    count++
  }
  return { kept: sorted.slice(0, count), bytes }
}

function sizeOf({ question, headerHash, key }: QuestionAnswer): number {
  return overhead + question.length + headerHash.length + key.length
}

/** By output where the deadlines are equal, so that pages do not overlap. */
function byDeadline(one: QuestionAnswer, other: QuestionAnswer): number {
  if (one.deadline !== other.deadline) return one.deadline < other.deadline ? -1 : 1
  return one.question < other.question ? -1 : 1
}
