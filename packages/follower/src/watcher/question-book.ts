import { equalBytes, toHex } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
import type { NodeAnswer, ShownChunkAnswer } from '@ratatosk/fraud'
import type { OpenQuestion } from '@ratatosk/protocol'

/** The subject of a question, by any asker. */
export type Subject = Pick<SummonsQuestion, 'kind' | 'root' | 'key' | 'hash'>

export const subjectOf = ({ kind, root, key, hash }: Subject): string =>
  `${kind} ${root} ${toHex(key)} ${toHex(hash)}`

export interface QuestionBook {
  /** Answers about chunks, by their numbers. */
  readonly chunks: Map<number, ShownChunkAnswer>
  /** Answers about nodes, by subject. `unreadable`: this program does not read what the script took. */
  readonly nodes: Map<string, NodeAnswer | 'unreadable'>
  /** Questions that layer 1 has shown and that are not known to be spent, by output. */
  readonly seen: Map<string, OpenQuestion>
  /** Outputs of questions that are spent. */
  readonly spent: Set<string>
  /** Outputs of questions of others that are kept in the store; undefined until they are read from there. */
  kept?: Set<string>
  /** Whether one is spent without an answer: there may be a verdict, although none is recorded. */
  hasExpired?: true
}

export const createQuestionBook = (): QuestionBook => ({
  chunks: new Map(),
  nodes: new Map(),
  seen: new Map(),
  spent: new Set(),
})

/** Whether questions are about the same. */
export const isAbout =
  (subject: Subject) =>
  (question: Subject): boolean =>
    question.kind === subject.kind &&
    question.root === subject.root &&
    equalBytes(question.key, subject.key) &&
    equalBytes(question.hash, subject.hash)

/** The number of the chunk that a question is about, from its key. */
export const chunkNumberOf = (key: Uint8Array): number =>
  new DataView(key.buffer, key.byteOffset, key.byteLength).getUint32(0)
