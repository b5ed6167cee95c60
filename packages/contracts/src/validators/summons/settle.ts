import type { PByteString, PData, PList } from '@harmoniclabs/plu-ts'
import { longestChunk } from '@ratatosk/block'
import { ChunkOpening, chunkEntry, Question, QuestionKind, SummonsAction } from '../../summons-layout.js'
import {
  addInteger,
  appendByteString,
  bData,
  blake2b256,
  bytes,
  equalsByteString,
  equalsData,
  equalsInteger,
  fstPair,
  headList,
  integer,
  lengthOfByteString,
  lessThanEqualsInteger,
  multiplyInteger,
  nullList,
  serialiseData,
  sliceByteString,
  sndPair,
  subtractInteger,
  tailList,
  unBData,
  unIData,
  unListData,
  unMapData,
} from '../core/builtins.js'
import {
  addressOf,
  datumFieldOf,
  datumOf,
  hasKey,
  inputsOf,
  keyCredential,
  lookUp,
  lovelaceOf,
  mintOf,
  noDatum,
  noTokens,
  oneToken,
  outputHolding,
  outputsOf,
  paymentCredentialOf,
  referenceInputsOf,
  resolvedOf,
  scriptFieldOf,
  spentBy,
  spentWhere,
  tokensOf,
  validFromOf,
  valueFieldOf,
} from '../core/context.js'
import { any, at, both, branch, constr, constructorOf, either, fieldsOf, itemAt, none } from '../core/data.js'
import { outputRules } from '../core/output-rules.js'
import type { RuleBook } from '../core/rules.js'
import {
  type Bool,
  type Bytes,
  bind,
  choose,
  type Data,
  type Entries,
  type List,
  recursive,
  scope,
  type Unit,
} from '../core/term.js'
import { suppliedBytes } from '../fraud/openings.js'
import { onlyBurns } from '../fraud/policy.js'
import { hashBytes } from '../mpf/proof.js'
import type { SummonsTerms } from './terms.js'
import { leafHash, nodeAbove, nodeWithout, showsNode } from './tree.js'

/**
 * Spends a question: `Answer [refund, answer]`; `Expire [refund]` when its deadline is over; or
 * `Reclaim [refund]` when a reference input holds a verdict against the header, or the deadline is over for a
 * maturity window, so that nothing is left to be removed. The output with the index `refund` returns the bond
 * to the asker; an answerer may keep the reward. An answer is taken for as long as the question is there.
 *
 * The reward goes by the bytes of the redeemer, as the fee of an answer does: neither who asks without need
 * nor who hides a block makes the other side pay much more than its own. One transaction reclaims many bonds:
 * silence costs one bond, however much was asked. An answer, whose fee is part of that balance, is the only
 * question of its transaction, since nothing else burns.
 *
 * The verdict stays at the script's address without a datum: nothing spends it, since only a question is
 * spent, and every removal may refer to it.
 *
 * @param reference the spent output's
 */
export const settle = (
  book: RuleBook,
  parameters: SummonsTerms,
  transaction: List,
  reference: Data,
  redeemer: Data,
): Unit =>
  scope(function* () {
    const inputs = yield* bind(inputsOf(transaction))
    const own = yield* bind(spentBy(inputs, reference))
    const credential = yield* bind(paymentCredentialOf(own))
    const datum = yield* bind(datumFieldOf(own))
    const question = yield* bind(datumOf(own))
    const policy = yield* bind(headList(fieldsOf(credential)))
    const asked = yield* bind(fieldsOf(question))
    const name = yield* bind(bData(blake2b256(serialiseData(question))))
    const minted = yield* bind(unMapData(lookUp(mintOf(transaction), policy)))
    const fields = yield* bind(fieldsOf(redeemer))
    const outputs = yield* bind(outputsOf(transaction))
    const refund = yield* bind(itemAt(outputs, unIData(headList(fields))))
    const action = yield* bind(constructorOf(redeemer))
    const isAnswer = yield* bind(equalsInteger(action, integer(SummonsAction.answer)))
    const isChunk = yield* bind(equalsInteger(constructorOf(question), integer(QuestionKind.chunk)))
    const deadline = unIData(at(asked, Question.deadline))
    const answer = at(fields, 1)
    const kept = choose(
      isAnswer,
      addInteger(
        unIData(parameters.reward),
        multiplyInteger(unIData(parameters.byteReward), lengthOfByteString(serialiseData(redeemer))),
      ),
      integer(0),
    )
    return book.guard(
      {
        'settle-alone': nullList(
          tailList(spentWhere(inputs, (output) => equalsData(datumFieldOf(output), datum))),
        ),
        'settle-burns-question': equalsInteger(unIData(lookUp(minted, name)), integer(-1)),
        ...outputRules('settle-refund', refund, {
          address: constr(0, keyCredential(at(asked, Question.refund)), none()),
          tokens: noTokens(),
          datum: name,
        }),
        'settle-refund-ada': lessThanEqualsInteger(
          subtractInteger(lovelaceOf(own), kept),
          lovelaceOf(refund),
        ),
      },
      branch(
        action,
        [
          SummonsAction.answer,
          book.guard(
            { 'answer-mints-nothing': nullList(tailList(minted)) },
            choose(
              isChunk,
              showsChunk(book, asked, answer, referenceInputsOf(transaction)),
              showsNode(book, question, asked, answer),
            ),
          ),
        ],
        [
          SummonsAction.expire,
          book.guard(
            { 'expire-late': lessThanEqualsInteger(deadline, validFromOf(transaction)) },
            keepsVerdict(book, { policy, minted, outputs, own, headerHash: at(asked, Question.headerHash) }),
          ),
        ],
        [
          SummonsAction.reclaim,
          book.enforce({
            'reclaim-stale': either(
              anyHoldsVerdict(transaction, policy, at(asked, Question.headerHash)),
              lessThanEqualsInteger(
                addInteger(deadline, unIData(parameters.maturityWindow)),
                validFromOf(transaction),
              ),
            ),
            'reclaim-mints-nothing': onlyBurns(minted),
          }),
        ],
      ),
    )
  })

interface Ending {
  readonly policy: Data
  readonly minted: Entries
  readonly outputs: List
  /** The question. */
  readonly own: Data
  readonly headerHash: Data
}

/** Ends a question with a verdict, which stays at the script's address. */
const keepsVerdict = (book: RuleBook, { policy, minted, outputs, own, ...ending }: Ending): Unit =>
  scope(function* () {
    const headerHash = yield* bind(ending.headerHash)
    const verdict = yield* bind(outputHolding(outputs, policy))
    return book.enforce({
      'expire-mints-verdict': equalsInteger(unIData(lookUp(minted, headerHash)), integer(1)),
      'expire-mints-verdict-only': nullList(tailList(tailList(minted))),
      'expire-keeps-address': equalsData(addressOf(verdict), addressOf(own)),
      'expire-keeps-tokens': equalsData(tokensOf(verdict), oneToken(policy, unBData(headerHash), integer(1))),
      'expire-keeps-no-datum': equalsData(datumFieldOf(verdict), noDatum()),
      'expire-keeps-no-script': equalsData(scriptFieldOf(verdict), none()),
    })
  })

/**
 * Answers a question about a chunk of a block's transactions: its bytes, in parts, or a proof that the
 * transactions map has no such chunk. One that is longer than a valid block has cannot be shown: askers hold
 * what is shown.
 *
 * @param answer `Shown [entry, proof, parts]` or `Absent [proof]`
 */
const showsChunk = (book: RuleBook, asked: List, answer: Data, referenceInputs: List): Unit =>
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
          'chunk-is-absent': equalsByteString(
            nodeWithout(path, unListData(headList(shown)), integer(0)),
            root,
          ),
        }),
      ],
    )
  })

/** Whether a reference input holds a verdict against a header. */
const anyHoldsVerdict = (transaction: List, policy: Data, headerHash: Data): Bool =>
  any(referenceInputsOf(transaction), (input) =>
    any(unMapData(valueFieldOf(resolvedOf(input))), (entry) =>
      both(equalsData(fstPair(entry), policy), hasKey(unMapData(sndPair(entry)), headerHash)),
    ),
  )

/** The bytes that parts hold, or name as the datums of reference inputs, one after the other. */
const joined = (parts: List, referenceInputs: List): Bytes =>
  recursive<PList<PData>, PByteString>((self, rest) =>
    choose(
      nullList(rest),
      bytes(new Uint8Array()),
      appendByteString(suppliedBytes(headList(rest), referenceInputs), self(tailList(rest))),
    ),
  )(parts)
