import type { PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import { WitnessNeed } from '../../../fraud/layout.js'
import {
  blake2b256,
  equalsByteString,
  equalsInteger,
  headList,
  indexByteString,
  integer,
  lengthOfByteString,
  lessThanInteger,
  sliceByteString,
  unBData,
  unIData,
  unListData,
} from '../../core/builtins.js'
import { at, both, branch, constructorOf, fieldsOf } from '../../core/data.js'
import type { RuleBook } from '../../core/rules.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  type Data,
  type Int,
  type List,
  lambda,
  scope,
} from '../../core/term.js'
import { addressIn, isLockedBy, paymentHashIn } from '../cbor/outputs.js'
import { countIn, fieldAt } from '../cbor/read.js'
import { BodyField, referenceAt, referencesIn } from '../cbor/references.js'
import {
  type Evidence,
  notedOutputsOf,
  type Opening,
  type Supplied,
  type Transactions,
  transactionsOf,
  witnessSetsOf,
} from '../openings.js'
import type { FraudCheck } from '../policy.js'
import { outputHashOf } from '../records.js'

/** The parts of a header that these frauds read. */
export interface Witnessed extends Pick<Transactions, 'transactionIn' | 'bodyIn'>, Supplied {
  /** An output that a body spends; `fields`: `[index, what the block notes of it, output]`. */
  spentIn(body: Bytes, inputs: Int, fields: List): Bytes
  /** The hash of a script that a transaction needs. @param need `Spent`, `Minted` or `Withdrawn` */
  neededIn(body: Bytes, need: Data): Bytes
}

export function* open(book: RuleBook, evidence: Evidence): Opening<Witnessed> {
  const transactions = yield* transactionsOf(book, evidence)
  const { outputIn } = yield* notedOutputsOf(book, transactions)
  const { supplied, suppliedAll, witnessSetIn } = yield* witnessSetsOf(book, evidence)
  const spentIn = yield* bind(
    lambda<PByteString, PLam<PInt, PLam<PList<PData>, PByteString>>>((body) =>
      lambda((inputs) =>
        lambda((fields) =>
          scope(function* () {
            const key = referenceAt(body, inputs, unIData(headList(fields)))
            const record = yield* bind(outputIn(key, at(fields, 1)))
            const output = yield* bind(supplied(at(fields, 2)))
            yield* bind(
              book.enforce({
                'output-is-recorded': equalsByteString(blake2b256(output), outputHashOf(record)),
              }),
            )
            return output
          }),
        ),
      ),
    ),
  )
  const neededIn = yield* bind(
    lambda<PByteString, PLam<PData, PByteString>>((body) =>
      lambda((need) =>
        scope(function* () {
          const fields = yield* bind(fieldsOf(need))
          return branch(
            constructorOf(need),
            [
              WitnessNeed.spent,
              scope(function* () {
                const inputs = yield* bind(referencesIn(body, BodyField.inputs))
                const address = yield* bind(addressIn(call<PByteString>(spentIn, body, inputs, fields)))
                yield* bind(book.enforce({ 'script-locks-input': isLockedBy('script', address) }))
                return paymentHashIn(address)
              }),
            ],
            [
              WitnessNeed.minted,
              scope(function* () {
                const policy = yield* bind(unBData(headList(fields)))
                yield* bind(book.enforce({ 'policy-is-minted': hasItem(body, BodyField.mint, policy, 30) }))
                return sliceByteString(integer(2), integer(28), policy)
              }),
            ],
            [
              WitnessNeed.withdrawn,
              scope(function* () {
                const account = yield* bind(unBData(headList(fields)))
                yield* bind(
                  book.enforce({
                    'account-is-withdrawn': hasItem(body, BodyField.withdrawals, account, 31),
                    'account-is-of-script': lessThanInteger(
                      integer(0xef),
                      indexByteString(account, integer(2)),
                    ),
                  }),
                )
                return sliceByteString(integer(3), integer(28), account)
              }),
            ],
          )
        }),
      ),
    ),
  )
  return {
    transactionIn: transactions.transactionIn,
    bodyIn: transactions.bodyIn,
    supplied,
    suppliedAll,
    witnessSetIn,
    spentIn: (body, inputs, fields) => call<PByteString>(spentIn, body, inputs, fields),
    neededIn: (body, need) => call<PByteString>(neededIn, body, need),
  }
}

/**
 * Whether an array or the keys of a map in a field of a body have an item, as it is encoded. Only the whole
 * item matches: every item has the prefix of another length.
 */
export const hasItem = (body: Bytes, field: number, item: Bytes, length: number): Bool =>
  both(
    equalsInteger(lengthOfByteString(item), integer(length)),
    lessThanInteger(
      integer(0),
      countIn(body, fieldAt(body, integer(0), field), (place) =>
        equalsByteString(sliceByteString(place, integer(length), body), item),
      ),
    ),
  )

export type Check = FraudCheck<Witnessed>

/** A transaction with its body and its witness set, from `[transaction, witnesses, …]`. */
export function* openedIn(block: Witnessed, fields: List) {
  const opening = yield* bind(unListData(at(fields, 0)))
  const body = yield* bind(block.bodyIn(opening))
  const record = yield* bind(unBData(at(opening, 1)))
  const witnesses = yield* bind(block.witnessSetIn(record, at(fields, 1)))
  return { record, body, witnesses }
}
