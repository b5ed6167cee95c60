import type { PByteString, PData, PList } from '@harmoniclabs/plu-ts'
import { longestChunk } from '@ratatosk/block'
import { ChunkOpening, chunkEntry, Question, QuestionKind, SummonsAction } from '../../layout.js'
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
import { outputRules, type RuleBook } from '../core/rules.js'
import * as p from '../core/term.js'
import { onlyBurns, suppliedBytes } from '../fraud/policy.js'
import { hashBytes } from '../mpf/proof.js'
import { leafHash, nodeAbove, nodeWithout, showsNode } from './tree.js'

/** The parameters of the summons, all integers. */
export interface SummonsTerms {
  /** Least lovelace in a question. */
  readonly bond: p.Data
  /** Lovelace that an answer takes from it. */
  readonly reward: p.Data
  /** Lovelace that it takes for each byte of its redeemer. */
  readonly byteReward: p.Data
  /** Milliseconds in which a question is to be answered. */
  readonly period: p.Data
  /** Milliseconds from the end of a block until it may be merged. */
  readonly maturityWindow: p.Data
}

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
  transaction: p.List,
  reference: p.Data,
  redeemer: p.Data,
): p.Unit =>
  p.scope(function* () {
    const inputs = yield* p.bind(inputsOf(transaction))
    const own = yield* p.bind(spentBy(inputs, reference))
    const credential = yield* p.bind(paymentCredentialOf(own))
    const datum = yield* p.bind(datumFieldOf(own))
    const question = yield* p.bind(datumOf(own))
    const policy = yield* p.bind(p.headList(fieldsOf(credential)))
    const asked = yield* p.bind(fieldsOf(question))
    const name = yield* p.bind(p.bData(p.blake2b256(p.serialiseData(question))))
    const minted = yield* p.bind(p.unMapData(lookUp(mintOf(transaction), policy)))
    const fields = yield* p.bind(fieldsOf(redeemer))
    const outputs = yield* p.bind(outputsOf(transaction))
    const refund = yield* p.bind(itemAt(outputs, p.unIData(p.headList(fields))))
    const action = yield* p.bind(constructorOf(redeemer))
    const isAnswer = yield* p.bind(p.equalsInteger(action, p.integer(SummonsAction.answer)))
    const isChunk = yield* p.bind(p.equalsInteger(constructorOf(question), p.integer(QuestionKind.chunk)))
    const deadline = p.unIData(at(asked, Question.deadline))
    const answer = at(fields, 1)
    const kept = p.choose(
      isAnswer,
      p.addInteger(
        p.unIData(parameters.reward),
        p.multiplyInteger(p.unIData(parameters.byteReward), p.lengthOfByteString(p.serialiseData(redeemer))),
      ),
      p.integer(0),
    )
    return book.guard(
      {
        'settle-alone': p.nullList(
          p.tailList(spentWhere(inputs, (output) => p.equalsData(datumFieldOf(output), datum))),
        ),
        'settle-burns-question': p.equalsInteger(p.unIData(lookUp(minted, name)), p.integer(-1)),
        ...outputRules('settle-refund', refund, {
          address: constr(0, keyCredential(at(asked, Question.refund)), none()),
          tokens: noTokens(),
          datum: name,
        }),
        'settle-refund-ada': p.lessThanEqualsInteger(
          p.subtractInteger(lovelaceOf(own), kept),
          lovelaceOf(refund),
        ),
      },
      branch(
        action,
        [
          SummonsAction.answer,
          book.guard(
            { 'answer-mints-nothing': p.nullList(p.tailList(minted)) },
            p.choose(
              isChunk,
              showsChunk(book, asked, answer, referenceInputsOf(transaction)),
              showsNode(book, question, asked, answer),
            ),
          ),
        ],
        [
          SummonsAction.expire,
          book.guard(
            { 'expire-late': p.lessThanEqualsInteger(deadline, validFromOf(transaction)) },
            keepsVerdict(book, { policy, minted, outputs, own, headerHash: at(asked, Question.headerHash) }),
          ),
        ],
        [
          SummonsAction.reclaim,
          book.enforce({
            'reclaim-stale': either(
              anyHoldsVerdict(transaction, policy, at(asked, Question.headerHash)),
              p.lessThanEqualsInteger(
                p.addInteger(deadline, p.unIData(parameters.maturityWindow)),
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
  readonly policy: p.Data
  readonly minted: p.Entries
  readonly outputs: p.List
  /** The question. */
  readonly own: p.Data
  readonly headerHash: p.Data
}

/** Ends a question with a verdict, which stays at the script's address. */
const keepsVerdict = (book: RuleBook, { policy, minted, outputs, own, ...ending }: Ending): p.Unit =>
  p.scope(function* () {
    const headerHash = yield* p.bind(ending.headerHash)
    const verdict = yield* p.bind(outputHolding(outputs, policy))
    return book.enforce({
      'expire-mints-verdict': p.equalsInteger(p.unIData(lookUp(minted, headerHash)), p.integer(1)),
      'expire-mints-verdict-only': p.nullList(p.tailList(p.tailList(minted))),
      'expire-keeps-address': p.equalsData(addressOf(verdict), addressOf(own)),
      'expire-keeps-tokens': p.equalsData(
        tokensOf(verdict),
        oneToken(policy, p.unBData(headerHash), p.integer(1)),
      ),
      'expire-keeps-no-datum': p.equalsData(datumFieldOf(verdict), noDatum()),
      'expire-keeps-no-script': p.equalsData(scriptFieldOf(verdict), none()),
    })
  })

/**
 * Answers a question about a chunk of a block's transactions: its bytes, in parts, or a proof that the
 * transactions map has no such chunk. One that is longer than a valid block has cannot be shown: askers hold
 * what is shown.
 *
 * @param answer `Shown [entry, proof, parts]` or `Absent [proof]`
 */
const showsChunk = (book: RuleBook, asked: p.List, answer: p.Data, referenceInputs: p.List): p.Unit =>
  p.scope(function* () {
    const path = yield* p.bind(p.blake2b256(p.unBData(at(asked, Question.key))))
    const root = yield* p.bind(p.unBData(at(asked, Question.hash)))
    const shown = yield* p.bind(fieldsOf(answer))
    return branch(
      constructorOf(answer),
      [
        ChunkOpening.shown,
        p.scope(function* () {
          const entry = yield* p.bind(p.unBData(p.headList(shown)))
          const chunk = yield* p.bind(joined(p.unListData(at(shown, 2)), referenceInputs))
          return book.enforce({
            'chunk-is-in-block': p.equalsByteString(
              nodeAbove(path, p.unListData(at(shown, 1)), p.integer(0), (cursor) =>
                leafHash(path, p.blake2b256(entry), cursor),
              ),
              root,
            ),
            'chunk-is-shown': p.equalsByteString(
              p.blake2b256(chunk),
              p.sliceByteString(p.integer(chunkEntry.hash), p.integer(hashBytes), entry),
            ),
            'chunk-is-short': p.lessThanEqualsInteger(p.lengthOfByteString(chunk), p.integer(longestChunk)),
          })
        }),
      ],
      [
        ChunkOpening.absent,
        book.enforce({
          'chunk-is-absent': p.equalsByteString(
            nodeWithout(path, p.unListData(p.headList(shown)), p.integer(0)),
            root,
          ),
        }),
      ],
    )
  })

/** Whether a reference input holds a verdict against a header. */
const anyHoldsVerdict = (transaction: p.List, policy: p.Data, headerHash: p.Data): p.Bool =>
  any(referenceInputsOf(transaction), (input) =>
    any(p.unMapData(valueFieldOf(resolvedOf(input))), (entry) =>
      both(p.equalsData(p.fstPair(entry), policy), hasKey(p.unMapData(p.sndPair(entry)), headerHash)),
    ),
  )

/** The bytes that parts hold, or name as the datums of reference inputs, one after the other. */
const joined = (parts: p.List, referenceInputs: p.List): p.Bytes =>
  p.recursive<PList<PData>, PByteString>((self, rest) =>
    p.choose(
      p.nullList(rest),
      p.bytes(new Uint8Array()),
      p.appendByteString(suppliedBytes(p.headList(rest), referenceInputs), self(p.tailList(rest))),
    ),
  )(parts)
