import type { PBool, PByteString, PData, PInt, PLam, PList, PPair, PType, Term } from '@harmoniclabs/plu-ts'
import { headerFieldIndex } from '@ratatosk/block'
import { provableVersion } from '../../layout.js'
import {
  datumOf,
  lookUp,
  mintOf,
  redeemerOf,
  referenceInputsOf,
  resolvedOf,
  scriptInfoOf,
  transactionOf,
} from '../core/context.js'
import { at, both, branch, constructorOf, either, fieldsOf, itemAt } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import * as p from '../core/term.js'
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
  readonly header: p.Data
  readonly headerHash: p.Bytes
  /** Of the transaction that holds the proof. */
  readonly referenceInputs: p.List
  /** The policy's hash. */
  readonly policy: p.Data
}

/** The transactions of the header that a fraud proof is about. Each function fails unless its rules hold. */
export interface Transactions {
  /** A transaction's record. @param opening `[position, record, proof]`, and anything behind */
  recordIn(opening: p.List): p.Bytes
  /** A record that is not of a deposit or a withdrawal order. @param opening as above */
  transactionIn(opening: p.List): p.Bytes
  /** A transaction's body. @param opening `[position, record, proof, body]` */
  bodyIn(opening: p.List): p.Bytes
  has(key: p.Bytes, value: p.Bytes, proof: p.Data): p.Bool
  lacks(key: p.Bytes, proof: p.Data): p.Bool
  /** Whether the hash of an entry's value, {@link noValue} for none, is at the path of its key. */
  hasAt(path: p.Bytes, valueHash: p.Bytes, proof: p.Data): p.Bool
}

/** The entries that the transactions map of the header holds for outputs. */
interface NotedOutputs {
  /** The block's record of an output, or empty. `opening`: `Noted [record, proof]` or `NotNoted [proof]` */
  outputIn(key: p.Bytes, opening: p.Data): p.Bytes
  /** The same by the hash of the key. */
  outputAt(path: p.Bytes, opening: p.Data): p.Bytes
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
  hashIn(map: keyof typeof outputMaps, key: p.Bytes, opening: p.Data): p.Bytes
  /** The same by the hash of the key. */
  hashAt(map: keyof typeof outputMaps, path: p.Bytes, opening: p.Data): p.Bytes
}

/** All that a header commits to. */
export interface Accused extends Transactions, NotedOutputs, OutputMaps {}

export interface Supplied {
  /** The bytes that a proof holds, or names as the datum of a reference input. */
  supplied(content: p.Data): p.Bytes
  suppliedAll(contents: p.List): p.List
  /** A transaction's witness set. @param record of the transaction */
  witnessSetIn(record: p.Bytes, content: p.Data): p.Bytes
}

/** Opens all that a header commits to. */
export function* accused(book: RuleBook, evidence: Evidence): Opening<Accused> {
  const transactions = yield* transactionsOf(book, evidence)
  const outputs = yield* notedOutputsOf(book, transactions)
  const maps = yield* outputMapsOf(book, evidence)
  return { ...transactions, ...outputs, ...maps }
}

const rootIn = (header: p.Data, name: keyof typeof headerFieldIndex): p.Bytes =>
  p.unBData(at(fieldsOf(header), headerFieldIndex[name]))

/** Opens the transactions. */
export function* transactionsOf(
  book: RuleBook,
  { header, referenceInputs }: Evidence,
): Opening<Transactions> {
  const transactions = yield* p.bind(rootIn(header, 'transactionsRoot'))
  const has = (key: p.Bytes, value: p.Bytes, proof: p.Data): p.Bool =>
    p.equalsByteString(rootIncluding(key, value, stepsIn(proof, referenceInputs)), transactions)
  const lacks = (key: p.Bytes, proof: p.Data): p.Bool =>
    p.equalsByteString(rootExcluding(key, stepsIn(proof, referenceInputs)), transactions)
  const hasAt = (path: p.Bytes, valueHash: p.Bytes, proof: p.Data): p.Bool =>
    p.equalsByteString(rootAt(path, valueHash, stepsIn(proof, referenceInputs)), transactions)

  const recordIn = yield* p.bind(
    p.lambda<PList<PData>, PByteString>((opening) =>
      p.scope(function* () {
        const record = yield* p.bind(recordOf(opening))
        yield* p.bind(
          book.enforce({
            'transaction-is-in-block': has(positionKey(positionOf(opening)), record, at(opening, 2)),
          }),
        )
        return record
      }),
    ),
  )
  const transactionIn = yield* p.bind(
    p.lambda<PList<PData>, PByteString>((opening) =>
      p.scope(function* () {
        const record = yield* p.bind(p.call<PByteString>(recordIn, opening))
        yield* p.bind(
          book.enforce({
            'record-is-of-transaction': p.equalsInteger(
              p.indexByteString(record, p.integer(transactionRecord.kind)),
              p.integer(transactionKind),
            ),
          }),
        )
        return record
      }),
    ),
  )
  const bodyIn = yield* p.bind(
    p.lambda<PList<PData>, PByteString>((opening) =>
      p.scope(function* () {
        const record = yield* p.bind(p.call<PByteString>(transactionIn, opening))
        const body = yield* p.bind(suppliedBytes(at(opening, 3), referenceInputs))
        yield* p.bind(
          book.enforce({ 'body-is-recorded': p.equalsByteString(p.blake2b256(body), idOf(record)) }),
        )
        return body
      }),
    ),
  )
  return {
    recordIn: (opening) => p.call<PByteString>(recordIn, opening),
    transactionIn: (opening) => p.call<PByteString>(transactionIn, opening),
    bodyIn: (opening) => p.call<PByteString>(bodyIn, opening),
    has,
    lacks,
    hasAt,
  }
}

export function* notedOutputsOf(book: RuleBook, { hasAt }: Transactions): Opening<NotedOutputs> {
  const outputIn = yield* p.bind(
    p.lambda<PByteString, PLam<PData, PByteString>>((path) =>
      p.lambda((opening) =>
        p.scope(function* () {
          const record = yield* p.bind(given(opening))
          yield* p.bind(
            book.enforce({
              'output-record-is-in-block': hasAt(
                path,
                p.choose(isEmpty(record), noValue(), p.blake2b256(record)),
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
  const outputAt = (path: p.Bytes, opening: p.Data): p.Bytes => p.call(outputIn, path, opening)
  return { outputIn: (key, opening) => outputAt(p.blake2b256(key), opening), outputAt }
}

/** Opens the maps of outputs. */
function* outputMapsOf(book: RuleBook, { header, referenceInputs }: Evidence): Opening<OutputMaps> {
  const fields = yield* p.bind(fieldsOf(header))
  const opened = yield* p.bind(
    p.lambda<PInt, PLam<PByteString, PLam<PData, PByteString>>>((field) =>
      p.lambda((path) =>
        p.lambda((opening) =>
          p.scope(function* () {
            const hash = yield* p.bind(given(opening))
            const found = rootAt(path, hash, stepsIn(proofIn(opening), referenceInputs))
            yield* p.bind(
              book.enforce({
                'output-hash-is-proven': p.equalsByteString(found, p.unBData(itemAt(fields, field))),
              }),
            )
            return hash
          }),
        ),
      ),
    ),
  )
  const hashAt: OutputMaps['hashAt'] = (map, path, opening) =>
    p.call(opened, p.integer(headerFieldIndex[outputMaps[map]]), path, opening)
  return { hashIn: (map, key, opening) => hashAt(map, p.blake2b256(key), opening), hashAt }
}

export const headerHashOf = (header: p.Data): p.Bytes => p.blake2b224(p.serialiseData(header))

/** Whether a choice in a redeemer is its first, constructor 0. */
export const isGiven = (option: p.Data): p.Bool => p.equalsInteger(constructorOf(option), p.integer(0))

/** The content of `Given [content, proof]`; of `Absent [proof]`, nothing. */
const given = p.define<PData, PByteString>((option) =>
  p.choose(isGiven(option), p.unBData(at(fieldsOf(option), 0)), noValue()),
)

const proofIn = p.define<PData, PData>((option) =>
  p.choose(isGiven(option), at(fieldsOf(option), 1), at(fieldsOf(option), 0)),
)

export const positionOf = (opening: p.List): p.Int => p.unIData(at(opening, 0))
export const recordOf = (opening: p.List): p.Bytes => p.unBData(at(opening, 1))

const datumAt = (referenceInputs: p.List, index: p.Data): p.Data =>
  datumOf(resolvedOf(itemAt(referenceInputs, p.unIData(index))))

/** Data in the redeemer, or by index in a reference input's datum: for data too large for a redeemer. */
const suppliedData = p.defineOf<[PData, PList<PData>], PData>(2, (supplied, referenceInputs) =>
  p.scope(function* () {
    const content = yield* p.bind(at(fieldsOf(supplied), 0))
    return p.choose(isGiven(supplied), content, datumAt(referenceInputs, content))
  }),
)

/** The steps of a proof: a list, or the index of a reference input whose datum is the list. */
const stepsIn = p.defineOf<[PData, PList<PData>], PList<PData>>(2, (proof, referenceInputs) =>
  p.unListData(p.choose(p.isListData(proof), proof, datumAt(referenceInputs, at(fieldsOf(proof), 0)))),
)

export const suppliedBytes = (supplied: p.Data, referenceInputs: p.List): p.Bytes =>
  p.unBData(suppliedData(supplied, referenceInputs))

/** Opens witness sets. */
export function* witnessSetsOf(book: RuleBook, { referenceInputs }: Evidence): Opening<Supplied> {
  const supplied = (content: p.Data): p.Bytes => suppliedBytes(content, referenceInputs)
  const witnessSetIn = yield* p.bind(
    p.lambda<PByteString, PLam<PData, PByteString>>((record) =>
      p.lambda((content) =>
        p.scope(function* () {
          const witnessSet = yield* p.bind(supplied(content))
          yield* p.bind(
            book.enforce({
              'witness-set-is-recorded': p.equalsByteString(
                p.blake2b256(witnessSet),
                witnessSetHashOf(record),
              ),
            }),
          )
          return witnessSet
        }),
      ),
    ),
  )
  const suppliedAll = p.recursive<PList<PData>, PList<PData>>((self, rest) =>
    p.choose(
      p.nullList(rest),
      p.listOf(),
      p.prepend(suppliedData(p.headList(rest), referenceInputs), self(p.tailList(rest))),
    ),
  )
  return {
    supplied,
    suppliedAll,
    witnessSetIn: (record, content) => p.call<PByteString>(witnessSetIn, record, content),
  }
}

/** Checks a fraud proof, whose fields are those of the redeemer behind the header. */
export type FraudCheck<Block> = (book: RuleBook, block: Block, fields: p.List) => p.Unit

export interface Frauds<Block> {
  /** Opens what they read of a header. */
  readonly open: (book: RuleBook, evidence: Evidence) => Opening<Block>
  readonly checks: readonly (readonly [index: number, check: FraudCheck<Block>])[]
  /**
   * A part that is shown for proofs that have no room for it: its constructor, and the name of the token that
   * shows it, which is no header's hash.
   */
  readonly shows?: { readonly index: number; readonly nameOf: (block: Block, fields: p.List) => p.Bytes }
}

/**
 * A policy of fraud proofs. Its redeemer names a fraud by its constructor; the first field is the header of a
 * block. If the rest proves the fraud, one token is minted, the verdict, whose name is the header's hash; or
 * the token of what is shown for a proof. Tokens may be burned without a proof.
 *
 * A token speaks of the header's bytes only. It does not depend on the transaction that mints it, or on the
 * state queue.
 */
export const fraudPolicy = <Block>(
  book: RuleBook,
  { open, checks, shows }: Frauds<Block>,
  context: p.Data,
): p.Unit =>
  p.scope(function* () {
    const transaction = yield* p.bind(transactionOf(context))
    // Every other purpose than minting fails here: none has a policy as its first field.
    const policy = yield* p.bind(at(fieldsOf(scriptInfoOf(context)), 0))
    const minted = yield* p.bind(lookUp(mintOf(transaction), policy))
    return p.choose(
      onlyBurns(p.unMapData(minted)),
      p.unitValue(),
      p.scope(function* () {
        const redeemer = yield* p.bind(redeemerOf(context))
        const fields = yield* p.bind(fieldsOf(redeemer))
        const header = yield* p.bind(p.headList(fields))
        const headerHash = yield* p.bind(headerHashOf(header))
        const referenceInputs = referenceInputsOf(transaction)
        const block = yield* open(book, { header, headerHash, referenceInputs, policy })
        const rest = yield* p.bind(p.tailList(fields))
        const kind = yield* p.bind(constructorOf(redeemer))
        const isShown = shows && (yield* p.bind(p.equalsInteger(kind, p.integer(shows.index))))
        const name = isShown
          ? yield* p.bind(p.choose(isShown, shows.nameOf(block, rest), headerHash))
          : headerHash
        yield* p.bind(
          book.enforce({
            'token-names-what-is-proven': p.equalsData(minted, p.mapOf(p.bData(name), p.iData(p.integer(1)))),
            'header-is-provable': p.equalsInteger(
              p.unIData(at(fieldsOf(header), headerFieldIndex.blockVersion)),
              p.integer(provableVersion),
            ),
          }),
        )
        const proven = branch(
          kind,
          ...checks.map(([index, check]) => [index, check(book, block, rest)] as const),
        )
        return isShown ? p.choose(isShown, p.unitValue(), proven) : proven
      }),
    )
  })

export const onlyBurns = (quantities: p.Entries): p.Bool =>
  p.recursive<PList<PPair<PData, PData>>, PBool>((self, rest) =>
    p.choose(
      p.nullList(rest),
      p.boolean(true),
      both(p.lessThanInteger(p.unIData(p.sndPair(p.headList(rest))), p.integer(0)), self(p.tailList(rest))),
    ),
  )(quantities)
