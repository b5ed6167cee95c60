import type { PData, PLam, PList, PPair, PUnit, Term } from '@harmoniclabs/plu-ts'
import { headerFieldIndex as Header, hashLength } from '@ratatosk/block'
import { chunkKeyLength, provableVersion, Question, QuestionKind, SummonsAction } from '../../layout.js'
import {
  addressOf,
  datumOf,
  inputsOf,
  lookUp,
  lovelaceOf,
  mintOf,
  oneToken,
  outputsOf,
  Purpose,
  paymentCredentialOf,
  redeemerOf,
  resolvedOf,
  scriptCredential,
  scriptFieldOf,
  scriptInfoOf,
  tokensOf,
  transactionOf,
  validToOf,
} from '../core/context.js'
import { any, at, both, branch, constr, constructorOf, fieldsOf, itemAt, none, not } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import * as p from '../core/term.js'
import { headerHashOf, onlyBurns } from '../fraud/policy.js'
import { emptyHash } from '../mpf/merkle.js'
import { type SummonsTerms, settle } from './settle.js'
import { depthOf, nodeAbove, pathOf, treeKeyLength } from './tree.js'

/**
 * The summons: a question about what a header commits to. Anyone who knows the block answers it; if no one
 * does before its deadline, a verdict against the header is minted.
 *
 * It is a minting policy and a validator. `ask` mints a token, named by the question's hash, into an output
 * that holds the question. `answer` and `expire` spend this output and burn the token; `expire` also mints
 * the verdict. The name of a question has 32 bytes, that of a verdict 28.
 */
export const summons = (book: RuleBook, parameters: SummonsTerms, context: p.Data): p.Unit =>
  p.scope(function* () {
    const transaction = yield* p.bind(transactionOf(context))
    const redeemer = yield* p.bind(redeemerOf(context))
    const info = yield* p.bind(scriptInfoOf(context))
    const subject = yield* p.bind(p.headList(fieldsOf(info)))
    return branch(
      constructorOf(info),
      [Purpose.minting, mint(book, parameters, transaction, subject, redeemer)],
      [Purpose.spending, settle(book, parameters, transaction, subject, redeemer)],
    )
  })

/** Tokens are burned without rules: a question's token leaves its output only by the rules of spending it. */
const mint = (
  book: RuleBook,
  parameters: SummonsTerms,
  transaction: p.List,
  policy: p.Data,
  redeemer: p.Data,
): p.Unit =>
  p.scope(function* () {
    const minted = yield* p.bind(lookUp(mintOf(transaction), policy))
    return p.choose(
      onlyBurns(p.unMapData(minted)),
      p.unitValue(),
      p.choose(
        p.equalsInteger(constructorOf(redeemer), p.integer(SummonsAction.ask)),
        ask(book, parameters, transaction, { policy, minted, redeemer }),
        // The rules of spending the question then say what is minted.
        book.enforce({
          'verdict-beside-question': any(inputsOf(transaction), (input) =>
            p.equalsData(paymentCredentialOf(resolvedOf(input)), scriptCredential(policy)),
          ),
        }),
      ),
    )
  })

interface Minting {
  readonly policy: p.Data
  readonly minted: p.Data
  /** `Ask [header, ways]`, with the steps from the root to the node of each question; none for a chunk. */
  readonly redeemer: p.Data
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
const ask = (
  book: RuleBook,
  parameters: SummonsTerms,
  transaction: p.List,
  { policy, minted, redeemer }: Minting,
): p.Unit =>
  p.scope(function* () {
    const fields = yield* p.bind(fieldsOf(redeemer))
    const header = yield* p.bind(p.headList(fields))
    const head = yield* p.bind(fieldsOf(header))
    const hash = yield* p.bind(p.bData(headerHashOf(header)))
    const address = yield* p.bind(constr(0, scriptCredential(policy), none()))
    const validTo = yield* p.bind(validToOf(transaction))
    const deadline = yield* p.bind(p.addInteger(validTo, p.unIData(parameters.period)))
    return book.guard(
      {
        'ask-header-is-provable': p.equalsInteger(
          p.unIData(at(head, Header.blockVersion)),
          p.integer(provableVersion),
        ),
        'ask-after-block': p.lessThanEqualsInteger(p.unIData(at(head, Header.endTime)), validTo),
        'ask-in-time': p.lessThanEqualsInteger(
          p.addInteger(deadline, p.unIData(parameters.period)),
          p.addInteger(p.unIData(at(head, Header.endTime)), p.unIData(parameters.maturityWindow)),
        ),
      },
      p.call(
        p.recursive<PList<Entry>, PLam<PList<PData>, PLam<PList<PData>, PUnit>>>((self, tokens) =>
          p.lambda((outputs: p.List) =>
            p.lambda((ways: p.List) =>
              p.uncons(tokens, p.unitValue(), (token, others) =>
                holdsQuestion(
                  book,
                  { policy, bond: p.unIData(parameters.bond), head, hash, address, deadline },
                  { token, output: p.headList(outputs), way: p.headList(ways) },
                  p.call(self(others), p.tailList(outputs), p.tailList(ways)),
                ),
              ),
            ),
          ),
        )(p.unMapData(minted)),
        outputsOf(transaction),
        p.unListData(at(fields, 1)),
      ),
    )
  })

type Entry = PPair<PData, PData>

/** The terms of all questions of a transaction. */
interface Shared {
  readonly policy: p.Data
  readonly bond: p.Int
  /** The fields of the header, and its hash. */
  readonly head: p.List
  readonly hash: p.Data
  /** Of the script. */
  readonly address: p.Data
  readonly deadline: p.Int
}

const holdsQuestion = (
  book: RuleBook,
  { policy, bond, head, hash: headerHash, address, deadline }: Shared,
  one: { readonly token: Term<Entry>; readonly output: p.Data; readonly way: p.Data },
  others: p.Unit,
): p.Unit =>
  p.scope(function* () {
    const output = yield* p.bind(one.output)
    const question = yield* p.bind(datumOf(output))
    const name = yield* p.bind(p.blake2b256(p.serialiseData(question)))
    const kind = yield* p.bind(constructorOf(question))
    const asked = yield* p.bind(fieldsOf(question))
    const root = yield* p.bind(p.unIData(at(asked, Question.root)))
    const key = yield* p.bind(p.unBData(at(asked, Question.key)))
    const hash = yield* p.bind(p.unBData(at(asked, Question.hash)))
    const refund = yield* p.bind(p.unBData(at(asked, Question.refund)))
    const isChunk = yield* p.bind(p.equalsInteger(kind, p.integer(QuestionKind.chunk)))
    const node = p.choose(
      isChunk,
      hash,
      // No root is empty bytes; the empty hash is the root of a map without entries.
      nodeAbove(pathOf(key), p.unListData(one.way), p.integer(0), (cursor) =>
        p.choose(p.equalsInteger(cursor, depthOf(key)), hash, p.bytes(new Uint8Array())),
      ),
    )
    return book.guard(
      {
        'ask-mints-token-only': both(
          p.equalsData(p.fstPair(one.token), p.bData(name)),
          p.equalsInteger(p.unIData(p.sndPair(one.token)), p.integer(1)),
        ),
        'ask-address': p.equalsData(addressOf(output), address),
        'ask-tokens': p.equalsData(tokensOf(output), oneToken(policy, name, p.integer(1))),
        'ask-no-script': p.equalsData(scriptFieldOf(output), none()),
        'ask-bond': p.lessThanEqualsInteger(bond, lovelaceOf(output)),
        'ask-kind': p.lessThanEqualsInteger(kind, p.integer(QuestionKind.entry)),
        'ask-question-form': p.equalsData(
          question,
          p.constrData(
            kind,
            p.listOf(
              headerHash,
              p.iData(root),
              p.bData(key),
              p.bData(hash),
              p.iData(deadline),
              p.bData(refund),
            ),
          ),
        ),
        'ask-key-length': p.equalsInteger(
          p.lengthOfByteString(key),
          p.choose(isChunk, p.integer(chunkKeyLength), p.integer(treeKeyLength)),
        ),
        'ask-refund-length': p.equalsInteger(p.lengthOfByteString(refund), p.integer(hashLength)),
        'ask-of-map': p.choose(
          isChunk,
          p.equalsInteger(root, p.integer(Header.transactionsRoot)),
          both(
            p.lessThanEqualsInteger(p.integer(Header.utxosRoot), root),
            p.lessThanEqualsInteger(root, p.integer(Header.withdrawalsRoot)),
          ),
        ),
        'ask-is-not-empty': not(p.equalsByteString(hash, emptyHash())),
        'ask-of-node': p.equalsByteString(node, p.unBData(itemAt(head, root))),
      },
      others,
    )
  })
