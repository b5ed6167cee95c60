import type { PByteString, PData, PInt, PLam, PList, PType, Term } from '@harmoniclabs/plu-ts'
import { headerFieldIndex } from '@ratatosk/block'
import {
  blake2b224,
  blake2b256,
  equalsByteString,
  equalsInteger,
  headList,
  indexByteString,
  integer,
  isListData,
  listOf,
  nullList,
  prepend,
  serialiseData,
  tailList,
  unBData,
  unIData,
  unListData,
} from '../core/builtins.js'
import { datumOf, resolvedOf } from '../core/context.js'
import { at, constructorOf, either, fieldsOf, itemAt } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  type Data,
  define,
  defineOf,
  type Int,
  type List,
  lambda,
  recursive,
  scope,
} from '../core/term.js'
import { noValue, rootAt, rootExcluding, rootIncluding } from '../mpf/proof.js'
import {
  idOf,
  isEmpty,
  isOutputRecord,
  positionKey,
  transactionKind,
  transactionRecord,
  witnessSetHashOf,
} from './records.js'

/*
 * A fraud proof opens what a header commits to: transactions and outputs of its transactions map, and outputs
 * before and after the block. Each opening comes with the rules that tie it to the header.
 */

/** Opens parts of a header for a policy's frauds. Each binds only what it opens: no policy holds more. */
export type Opening<T> = Generator<Term<PType>, T, Term<PType>>

/** The inputs of a policy of fraud proofs. */
export interface Evidence {
  readonly header: Data
  readonly headerHash: Bytes
  /** Of the transaction that holds the proof. */
  readonly referenceInputs: List
  /** The policy's hash. */
  readonly policy: Data
}

/** The transactions of the header that a fraud proof is about. Each function fails unless its rules hold. */
export interface Transactions {
  /** A transaction's record. @param opening `[position, record, proof]`, and anything behind */
  recordIn(opening: List): Bytes
  /** A record that is not of a deposit or a withdrawal order. @param opening as above */
  transactionIn(opening: List): Bytes
  /** A transaction's body. @param opening `[position, record, proof, body]` */
  bodyIn(opening: List): Bytes
  has(key: Bytes, value: Bytes, proof: Data): Bool
  lacks(key: Bytes, proof: Data): Bool
  /** Whether the hash of an entry's value, {@link noValue} for none, is at the path of its key. */
  hasAt(path: Bytes, valueHash: Bytes, proof: Data): Bool
}

/** The entries that the transactions map of the header holds for outputs. */
interface NotedOutputs {
  /** The block's record of an output, or empty. `opening`: `Noted [record, proof]` or `NotNoted [proof]` */
  outputIn(key: Bytes, opening: Data): Bytes
  /** The same by the hash of the key. */
  outputAt(path: Bytes, opening: Data): Bytes
}

/** The fields of a header that commit to maps of outputs. */
const outputMaps = {
  before: 'prevUtxosRoot',
  after: 'utxosRoot',
  deposits: 'depositsRoot',
  withdrawals: 'withdrawalsRoot',
} as const

/** The outputs before and after the block, those that deposits become, and those that leave layer 2. */
interface OutputMaps {
  /** The hash of an output in a map, or empty. `opening`: `Unspent [hash, proof]` or `Missing [proof]` */
  hashIn(map: keyof typeof outputMaps, key: Bytes, opening: Data): Bytes
  /** The same by the hash of the key. */
  hashAt(map: keyof typeof outputMaps, path: Bytes, opening: Data): Bytes
}

/** All that a header commits to. */
export interface Accused extends Transactions, NotedOutputs, OutputMaps {}

export interface Supplied {
  /** The bytes that a proof holds, or names as the datum of a reference input. */
  supplied(content: Data): Bytes
  suppliedAll(contents: List): List
  /** A transaction's witness set. @param record of the transaction */
  witnessSetIn(record: Bytes, content: Data): Bytes
}

/** Opens all that a header commits to. */
export function* accused(book: RuleBook, evidence: Evidence): Opening<Accused> {
  const transactions = yield* transactionsOf(book, evidence)
  const outputs = yield* notedOutputsOf(book, transactions)
  const maps = yield* outputMapsOf(book, evidence)
  return { ...transactions, ...outputs, ...maps }
}

const rootIn = (header: Data, name: keyof typeof headerFieldIndex): Bytes =>
  unBData(at(fieldsOf(header), headerFieldIndex[name]))

/** Opens the transactions. */
export function* transactionsOf(
  book: RuleBook,
  { header, referenceInputs }: Evidence,
): Opening<Transactions> {
  const transactions = yield* bind(rootIn(header, 'transactionsRoot'))
  const has = (key: Bytes, value: Bytes, proof: Data): Bool =>
    equalsByteString(rootIncluding(key, value, stepsIn(proof, referenceInputs)), transactions)
  const lacks = (key: Bytes, proof: Data): Bool =>
    equalsByteString(rootExcluding(key, stepsIn(proof, referenceInputs)), transactions)
  const hasAt = (path: Bytes, valueHash: Bytes, proof: Data): Bool =>
    equalsByteString(rootAt(path, valueHash, stepsIn(proof, referenceInputs)), transactions)

  const recordIn = yield* bind(
    lambda<PList<PData>, PByteString>((opening) =>
      scope(function* () {
        const record = yield* bind(recordOf(opening))
        yield* bind(
          book.enforce({
            'transaction-is-in-block': has(positionKey(positionOf(opening)), record, at(opening, 2)),
          }),
        )
        return record
      }),
    ),
  )
  const transactionIn = yield* bind(
    lambda<PList<PData>, PByteString>((opening) =>
      scope(function* () {
        const record = yield* bind(call<PByteString>(recordIn, opening))
        yield* bind(
          book.enforce({
            'record-is-of-transaction': equalsInteger(
              indexByteString(record, integer(transactionRecord.kind)),
              integer(transactionKind),
            ),
          }),
        )
        return record
      }),
    ),
  )
  const bodyIn = yield* bind(
    lambda<PList<PData>, PByteString>((opening) =>
      scope(function* () {
        const record = yield* bind(call<PByteString>(transactionIn, opening))
        const body = yield* bind(suppliedBytes(at(opening, 3), referenceInputs))
        yield* bind(book.enforce({ 'body-is-recorded': equalsByteString(blake2b256(body), idOf(record)) }))
        return body
      }),
    ),
  )
  return {
    recordIn: (opening) => call<PByteString>(recordIn, opening),
    transactionIn: (opening) => call<PByteString>(transactionIn, opening),
    bodyIn: (opening) => call<PByteString>(bodyIn, opening),
    has,
    lacks,
    hasAt,
  }
}

export function* notedOutputsOf(book: RuleBook, { hasAt }: Transactions): Opening<NotedOutputs> {
  const outputIn = yield* bind(
    lambda<PByteString, PLam<PData, PByteString>>((path) =>
      lambda((opening) =>
        scope(function* () {
          const record = yield* bind(given(opening))
          yield* bind(
            book.enforce({
              'output-record-is-in-block': hasAt(
                path,
                choose(isEmpty(record), noValue(), blake2b256(record)),
                proofIn(opening),
              ),
              'output-record-has-its-length': either(isEmpty(record), isOutputRecord(record)),
            }),
          )
          return record
        }),
      ),
    ),
  )
  const outputAt = (path: Bytes, opening: Data): Bytes => call(outputIn, path, opening)
  return { outputIn: (key, opening) => outputAt(blake2b256(key), opening), outputAt }
}

/** Opens the maps of outputs. */
function* outputMapsOf(book: RuleBook, { header, referenceInputs }: Evidence): Opening<OutputMaps> {
  const fields = yield* bind(fieldsOf(header))
  const opened = yield* bind(
    lambda<PInt, PLam<PByteString, PLam<PData, PByteString>>>((field) =>
      lambda((path) =>
        lambda((opening) =>
          scope(function* () {
            const hash = yield* bind(given(opening))
            const found = rootAt(path, hash, stepsIn(proofIn(opening), referenceInputs))
            yield* bind(
              book.enforce({
                'output-hash-is-proven': equalsByteString(found, unBData(itemAt(fields, field))),
              }),
            )
            return hash
          }),
        ),
      ),
    ),
  )
  const hashAt: OutputMaps['hashAt'] = (map, path, opening) =>
    call(opened, integer(headerFieldIndex[outputMaps[map]]), path, opening)
  return { hashIn: (map, key, opening) => hashAt(map, blake2b256(key), opening), hashAt }
}

export const headerHashOf = (header: Data): Bytes => blake2b224(serialiseData(header))

/** Whether a choice in a redeemer is its first, constructor 0. */
export const isGiven = (option: Data): Bool => equalsInteger(constructorOf(option), integer(0))

/** The content of `Given [content, proof]`; of `Absent [proof]`, nothing. */
const given = define<PData, PByteString>((option) =>
  choose(isGiven(option), unBData(at(fieldsOf(option), 0)), noValue()),
)

const proofIn = define<PData, PData>((option) =>
  choose(isGiven(option), at(fieldsOf(option), 1), at(fieldsOf(option), 0)),
)

export const positionOf = (opening: List): Int => unIData(at(opening, 0))
export const recordOf = (opening: List): Bytes => unBData(at(opening, 1))

const datumAt = (referenceInputs: List, index: Data): Data =>
  datumOf(resolvedOf(itemAt(referenceInputs, unIData(index))))

/** Data in the redeemer, or by index in a reference input's datum: for data too large for a redeemer. */
const suppliedData = defineOf<[PData, PList<PData>], PData>(2, (supplied, referenceInputs) =>
  scope(function* () {
    const content = yield* bind(at(fieldsOf(supplied), 0))
    return choose(isGiven(supplied), content, datumAt(referenceInputs, content))
  }),
)

/** The steps of a proof: a list, or the index of a reference input whose datum is the list. */
const stepsIn = defineOf<[PData, PList<PData>], PList<PData>>(2, (proof, referenceInputs) =>
  unListData(choose(isListData(proof), proof, datumAt(referenceInputs, at(fieldsOf(proof), 0)))),
)

export const suppliedBytes = (supplied: Data, referenceInputs: List): Bytes =>
  unBData(suppliedData(supplied, referenceInputs))

/** Opens witness sets. */
export function* witnessSetsOf(book: RuleBook, { referenceInputs }: Evidence): Opening<Supplied> {
  const supplied = (content: Data): Bytes => suppliedBytes(content, referenceInputs)
  const witnessSetIn = yield* bind(
    lambda<PByteString, PLam<PData, PByteString>>((record) =>
      lambda((content) =>
        scope(function* () {
          const witnessSet = yield* bind(supplied(content))
          yield* bind(
            book.enforce({
              'witness-set-is-recorded': equalsByteString(blake2b256(witnessSet), witnessSetHashOf(record)),
            }),
          )
          return witnessSet
        }),
      ),
    ),
  )
  const suppliedAll = recursive<PList<PData>, PList<PData>>((self, rest) =>
    choose(
      nullList(rest),
      listOf(),
      prepend(suppliedData(headList(rest), referenceInputs), self(tailList(rest))),
    ),
  )
  return {
    supplied,
    suppliedAll,
    witnessSetIn: (record, content) => call<PByteString>(witnessSetIn, record, content),
  }
}
