import type { PByteString, PData, PList } from '@harmoniclabs/plu-ts'
import { longestChunk } from '@ratatosk/block'
import { ChunkOpening, chunkEntry, Question } from '../../summons/layout.js'
import {
  appendByteString,
  blake2b256,
  bytes,
  equalsByteString,
  headList,
  integer,
  lengthOfByteString,
  lessThanEqualsInteger,
  nullList,
  sliceByteString,
  tailList,
  unBData,
  unListData,
} from '../core/builtins.js'
import { at, branch, constructorOf, fieldsOf } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import { type Bytes, bind, choose, type Data, type List, recursive, scope, type Unit } from '../core/term.js'
import { suppliedBytes } from '../fraud/openings.js'
import { hashBytes } from '../mpf/proof.js'
import { leafHash, nodeAbove, rootWithout } from './tree.js'

/**
 * Answers a question about a chunk of a block's transactions: its bytes, in parts, or a proof that the
 * transactions map has no such chunk. One that is longer than a valid block has cannot be shown: askers hold
 * what is shown.
 *
 * @param answer `Shown [entry, proof, parts]` or `Absent [proof]`
 */
export const showsChunk = (book: RuleBook, asked: List, answer: Data, referenceInputs: List): Unit =>
  scope(function* () {
    const path = yield* bind(blake2b256(unBData(at(asked, Question.key))))
    const root = yield* bind(unBData(at(asked, Question.hash)))
    const shown = yield* bind(fieldsOf(answer))
    return branch(
      constructorOf(answer),
      [
        ChunkOpening.shown,
        scope(function* () {
          const entry = yield* bind(unBData(headList(shown)))
          const chunk = yield* bind(joined(unListData(at(shown, 2)), referenceInputs))
          return book.enforce({
            'chunk-is-in-block': equalsByteString(
              nodeAbove(path, unListData(at(shown, 1)), integer(0), (cursor) =>
                leafHash(path, blake2b256(entry), cursor),
              ),
              root,
            ),
            'chunk-is-shown': equalsByteString(
              blake2b256(chunk),
              sliceByteString(integer(chunkEntry.hash), integer(hashBytes), entry),
            ),
            'chunk-is-short': lessThanEqualsInteger(lengthOfByteString(chunk), integer(longestChunk)),
          })
        }),
      ],
      [
        ChunkOpening.absent,
        book.enforce({
          'chunk-is-absent': equalsByteString(rootWithout(path, unListData(headList(shown))), root),
        }),
      ],
    )
  })

/** The bytes that parts hold, or name as the datums of reference inputs, one after the other. */
const joined = (parts: List, referenceInputs: List): Bytes =>
  recursive<PList<PData>, PByteString>((self, rest) =>
    choose(
      nullList(rest),
      bytes(new Uint8Array()),
      appendByteString(suppliedBytes(headList(rest), referenceInputs), self(tailList(rest))),
    ),
  )(parts)
