import { type Header, headerToData } from '@ratatosk/block'
import { ChunkOpening, SummonsAction } from '@ratatosk/contracts'
import {
  byPosition,
  constr,
  type DataValue,
  decodeAnyData,
  encodePlutusData,
  type PlutusData,
} from '@ratatosk/ledger/plutus-data'
import type { Proof } from '@ratatosk/trie'
import { type SuppliedBytes, stepsData, suppliedData } from '../openings.js'
import { type NodeAnswer, nodeAnswerData, nodeOfKey } from './node-answer.js'

/** An answer to a question about a chunk: its entry in the transactions map and its bytes; or its absence. */
export type ChunkAnswer =
  | { readonly entry: Uint8Array; readonly proof: Proof; readonly parts: readonly SuppliedBytes[] }
  | { readonly absent: Proof }

/**
 * The redeemer that asks questions.
 *
 * @param ways for each question in the order of the names of their tokens: the steps from the root to its
 *   node; none for a chunk
 */
export const encodeAsk = (header: Header, ways: readonly Proof[]): Uint8Array =>
  encodePlutusData(constr(SummonsAction.ask, headerToData(header), ways.map(stepsData)))

/**
 * The redeemer that answers a question about a node.
 *
 * @param refund index of the output that returns the bond
 */
export const encodeNodeAnswer = (refund: number, key: Uint8Array, answer: NodeAnswer): Uint8Array =>
  encodeAnswer(refund, nodeAnswerData(answer, nodeOfKey(key).depth))

/** The redeemer that answers a question about a chunk. @param refund as above */
export const encodeChunkAnswer = (refund: number, answer: ChunkAnswer): Uint8Array =>
  encodeAnswer(
    refund,
    'absent' in answer
      ? constr(ChunkOpening.absent, stepsData(answer.absent))
      : constr(ChunkOpening.shown, answer.entry, stepsData(answer.proof), answer.parts.map(suppliedData)),
  )

const encodeAnswer = (refund: number, answer: PlutusData): Uint8Array =>
  encodePlutusData(constr(SummonsAction.answer, BigInt(refund), answer))

/** The redeemer that ends a question after its deadline. @param refund as above */
export const encodeExpiry = (refund: number): Uint8Array =>
  encodePlutusData(constr(SummonsAction.expire, BigInt(refund)))

/** The redeemer that returns a bond without a verdict, when the question is stale. @param refund as above */
export const encodeReclaim = (refund: number): Uint8Array =>
  encodePlutusData(constr(SummonsAction.reclaim, BigInt(refund)))

/**
 * The answer in the redeemer by which a question was spent, for `nodeAnswerFromData` or
 * `chunkAnswerFromData`; undefined if it was ended without one.
 *
 * @throws {PlutusDataError} if the summons takes no such redeemer
 */
export function answerIn(redeemer: Uint8Array): DataValue | undefined {
  const action = decodeAnyData(redeemer)
  const { at, constructorOf, fieldsOf } = byPosition
  return constructorOf(action) === BigInt(SummonsAction.answer) ? at(fieldsOf(action), 1) : undefined
}
