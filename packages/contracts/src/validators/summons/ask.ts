import { headerFieldIndex as Header, hashLength } from '@ratatosk/block'
import { provableVersion } from '../../fraud/layout.js'
import { chunkKeyLength, Question, QuestionKind } from '../../summons-layout.js'
import {
  addInteger,
  bData,
  blake2b256,
  bytes,
  constrData,
  equalsByteString,
  equalsData,
  equalsInteger,
  headList,
  iData,
  integer,
  lengthOfByteString,
  lessThanEqualsInteger,
  listOf,
  mapOf,
  serialiseData,
  unBData,
  unIData,
  unListData,
} from '../core/builtins.js'
import {
  addressOf,
  datumOf,
  lovelaceOf,
  oneToken,
  outputsOf,
  scriptCredential,
  scriptFieldOf,
  tokensOf,
  validToOf,
} from '../core/context.js'
import { at, both, constr, constructorOf, fieldsOf, itemAt, none, not } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import { bind, choose, type Data, type List, scope, type Unit } from '../core/term.js'
import { headerHashOf } from '../fraud/openings.js'
import { emptyHash } from '../mpf/merkle.js'
import type { SummonsTerms } from './terms.js'
import { depthOf, nodeAbove, pathOf, treeKeyLength } from './tree.js'

interface Minting {
  readonly policy: Data
  readonly minted: Data
  /** `Ask [header, steps]` */
  readonly redeemer: Data
}

/**
 * Asks a question: output 0 holds it under a token that is named by its hash.
 *
 * The asker shows that the header's map has the node that the question is about, so that every question
 * about an honest block has an answer, and the answer does not repeat the way to the node. A question has
 * one form, so that no one can make it too large to be answered. No block can be committed any more when the
 * time begins that its operator has: otherwise a question could end before the block is there.
 */
export const ask = (
  book: RuleBook,
  parameters: SummonsTerms,
  transaction: List,
  { policy, minted, redeemer }: Minting,
): Unit =>
  scope(function* () {
    const fields = yield* bind(fieldsOf(redeemer))
    const header = yield* bind(headList(fields))
    const head = yield* bind(fieldsOf(header))
    const output = yield* bind(headList(outputsOf(transaction)))
    const question = yield* bind(datumOf(output))
    const name = yield* bind(blake2b256(serialiseData(question)))
    const kind = yield* bind(constructorOf(question))
    const asked = yield* bind(fieldsOf(question))
    const root = yield* bind(unIData(at(asked, Question.root)))
    const key = yield* bind(unBData(at(asked, Question.key)))
    const hash = yield* bind(unBData(at(asked, Question.hash)))
    const refund = yield* bind(unBData(at(asked, Question.refund)))
    const deadline = yield* bind(unIData(at(asked, Question.deadline)))
    const period = yield* bind(unIData(parameters.period))
    const isChunk = yield* bind(equalsInteger(kind, integer(QuestionKind.chunk)))
    const node = choose(
      isChunk,
      hash,
      // No root is empty bytes; the empty hash is the root of a map without entries.
      nodeAbove(pathOf(key), unListData(at(fields, 1)), integer(0), (cursor) =>
        choose(equalsInteger(cursor, depthOf(key)), hash, bytes(new Uint8Array())),
      ),
    )
    return book.enforce({
      'ask-header-is-provable': equalsInteger(
        unIData(at(head, Header.blockVersion)),
        integer(provableVersion),
      ),
      'ask-mints-token-only': equalsData(minted, mapOf(bData(name), iData(integer(1)))),
      'ask-address': equalsData(addressOf(output), constr(0, scriptCredential(policy), none())),
      'ask-tokens': equalsData(tokensOf(output), oneToken(policy, name, integer(1))),
      'ask-no-script': equalsData(scriptFieldOf(output), none()),
      'ask-bond': lessThanEqualsInteger(unIData(parameters.bond), lovelaceOf(output)),
      'ask-kind': lessThanEqualsInteger(kind, integer(QuestionKind.entry)),
      'ask-question-form': equalsData(
        question,
        constrData(
          kind,
          listOf(
            bData(headerHashOf(header)),
            iData(root),
            bData(key),
            bData(hash),
            iData(deadline),
            bData(refund),
          ),
        ),
      ),
      'ask-key-length': equalsInteger(
        lengthOfByteString(key),
        choose(isChunk, integer(chunkKeyLength), integer(treeKeyLength)),
      ),
      'ask-refund-length': equalsInteger(lengthOfByteString(refund), integer(hashLength)),
      'ask-of-map': choose(
        isChunk,
        equalsInteger(root, integer(Header.transactionsRoot)),
        both(
          lessThanEqualsInteger(integer(Header.utxosRoot), root),
          lessThanEqualsInteger(root, integer(Header.withdrawalsRoot)),
        ),
      ),
      'ask-is-not-empty': not(equalsByteString(hash, emptyHash())),
      'ask-of-node': equalsByteString(node, unBData(itemAt(head, root))),
      'ask-deadline': equalsInteger(deadline, addInteger(validToOf(transaction), period)),
      'ask-after-block': lessThanEqualsInteger(unIData(at(head, Header.endTime)), validToOf(transaction)),
      'ask-in-time': lessThanEqualsInteger(
        addInteger(deadline, period),
        addInteger(unIData(at(head, Header.endTime)), unIData(parameters.maturityWindow)),
      ),
    })
  })
