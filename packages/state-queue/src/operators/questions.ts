import { setImmediate } from 'node:timers/promises'
import { equalBytes } from '@ratatosk/cbor'
import { portResult } from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import type { QuestionAnswer } from './answers.js'
import type { QuestionsPart } from './parameters.js'
import type { OpenQuestions } from './ports.js'

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
