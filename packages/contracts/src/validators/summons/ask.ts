import type { PData, PLam, PList, PPair, PUnit, Term } from '@harmoniclabs/plu-ts'
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
  fstPair,
  headList,
  iData,
  integer,
  lengthOfByteString,
  lessThanEqualsInteger,
  listOf,
  serialiseData,
  sndPair,
  tailList,
  unBData,
  unIData,
  unitValue,
  unListData,
  unMapData,
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
import {
  bind,
  call,
  choose,
  type Data,
  type Int,
  type List,
  lambda,
  recursive,
  scope,
  type Unit,
  uncons,
} from '../core/term.js'
import { headerHashOf } from '../fraud/openings.js'
import { emptyHash } from '../mpf/merkle.js'
import type { SummonsTerms } from './terms.js'
import { depthOf, nodeAbove, pathOf, treeKeyLength } from './tree.js'

interface Minting {
  readonly policy: Data
  readonly minted: Data
  /** `Ask [header, ways]`, with the steps from the root to the node of each question; none for a chunk. */
  readonly redeemer: Data
}

/**
 * Asks questions about a header: the first outputs hold one each, under a token that is named by its hash, in
 * the order of these names.
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
    const hash = yield* bind(bData(headerHashOf(header)))
    const address = yield* bind(constr(0, scriptCredential(policy), none()))
    const validTo = yield* bind(validToOf(transaction))
    const deadline = yield* bind(addInteger(validTo, unIData(parameters.period)))
    return book.guard(
      {
        'ask-header-is-provable': equalsInteger(
          unIData(at(head, Header.blockVersion)),
          integer(provableVersion),
        ),
        'ask-after-block': lessThanEqualsInteger(unIData(at(head, Header.endTime)), validTo),
        'ask-in-time': lessThanEqualsInteger(
          addInteger(deadline, unIData(parameters.period)),
          addInteger(unIData(at(head, Header.endTime)), unIData(parameters.maturityWindow)),
        ),
      },
      call(
        recursive<PList<Entry>, PLam<PList<PData>, PLam<PList<PData>, PUnit>>>((self, tokens) =>
          lambda((outputs: List) =>
            lambda((ways: List) =>
              uncons(tokens, unitValue(), (token, others) =>
                holdsQuestion(
                  book,
                  { policy, bond: unIData(parameters.bond), head, hash, address, deadline },
                  { token, output: headList(outputs), way: headList(ways) },
                  call(self(others), tailList(outputs), tailList(ways)),
                ),
              ),
            ),
          ),
        )(unMapData(minted)),
        outputsOf(transaction),
        unListData(at(fields, 1)),
      ),
    )
  })

type Entry = PPair<PData, PData>

/** The terms of all questions of a transaction. */
interface Shared {
  readonly policy: Data
  readonly bond: Int
  /** The fields of the header, and its hash. */
  readonly head: List
  readonly hash: Data
  /** Of the script. */
  readonly address: Data
  readonly deadline: Int
}

const holdsQuestion = (
  book: RuleBook,
  { policy, bond, head, hash: headerHash, address, deadline }: Shared,
  one: { readonly token: Term<Entry>; readonly output: Data; readonly way: Data },
  others: Unit,
): Unit =>
  scope(function* () {
    const output = yield* bind(one.output)
    const question = yield* bind(datumOf(output))
    const name = yield* bind(blake2b256(serialiseData(question)))
    const kind = yield* bind(constructorOf(question))
    const asked = yield* bind(fieldsOf(question))
    const root = yield* bind(unIData(at(asked, Question.root)))
    const key = yield* bind(unBData(at(asked, Question.key)))
    const hash = yield* bind(unBData(at(asked, Question.hash)))
    const refund = yield* bind(unBData(at(asked, Question.refund)))
    const isChunk = yield* bind(equalsInteger(kind, integer(QuestionKind.chunk)))
    const node = choose(
      isChunk,
      hash,
      // No root is empty bytes; the empty hash is the root of a map without entries.
      nodeAbove(pathOf(key), unListData(one.way), integer(0), (cursor) =>
        choose(equalsInteger(cursor, depthOf(key)), hash, bytes(new Uint8Array())),
      ),
    )
    return book.guard(
      {
        'ask-mints-token-only': both(
          equalsData(fstPair(one.token), bData(name)),
          equalsInteger(unIData(sndPair(one.token)), integer(1)),
        ),
        'ask-address': equalsData(addressOf(output), address),
        'ask-tokens': equalsData(tokensOf(output), oneToken(policy, name, integer(1))),
        'ask-no-script': equalsData(scriptFieldOf(output), none()),
        'ask-bond': lessThanEqualsInteger(bond, lovelaceOf(output)),
        'ask-kind': lessThanEqualsInteger(kind, integer(QuestionKind.entry)),
        'ask-question-form': equalsData(
          question,
          constrData(
            kind,
            listOf(headerHash, iData(root), bData(key), bData(hash), iData(deadline), bData(refund)),
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
      },
      others,
    )
  })
