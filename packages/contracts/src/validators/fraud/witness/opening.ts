import type { PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import { WitnessNeed } from '../../../layout.js'
import { at, both, branch, constructorOf, fieldsOf } from '../../core/data.js'
import type { RuleBook } from '../../core/rules.js'
import * as p from '../../core/term.js'
import { addressIn, isLockedBy, paymentHashIn } from '../cbor/outputs.js'
import { countIn, fieldAt } from '../cbor/read.js'
import { BodyField, referenceAt, referencesIn } from '../cbor/references.js'
import {
  type Evidence,
  type FraudCheck,
  notedOutputsOf,
  type Opening,
  type Supplied,
  type Transactions,
  transactionsOf,
  witnessSetsOf,
} from '../policy.js'
import { outputHashOf } from '../records.js'

/** The parts of a header that these frauds read. */
export interface Witnessed extends Pick<Transactions, 'transactionIn' | 'bodyIn'>, Supplied {
  /** An output that a body spends; `fields`: `[index, what the block notes of it, output]`. */
  spentIn(body: p.Bytes, inputs: p.Int, fields: p.List): p.Bytes
  /** The hash of a script that a transaction needs. @param need `Spent`, `Minted` or `Withdrawn` */
  neededIn(body: p.Bytes, need: p.Data): p.Bytes
}

export function* open(book: RuleBook, evidence: Evidence): Opening<Witnessed> {
  const transactions = yield* transactionsOf(book, evidence)
  const { outputIn } = yield* notedOutputsOf(book, transactions)
  const { supplied, suppliedAll, witnessSetIn } = yield* witnessSetsOf(book, evidence)
  const spentIn = yield* p.bind(
    p.lambda<PByteString, PLam<PInt, PLam<PList<PData>, PByteString>>>((body) =>
      p.lambda((inputs) =>
        p.lambda((fields) =>
          p.scope(function* () {
            const key = referenceAt(body, inputs, p.unIData(p.headList(fields)))
            const record = yield* p.bind(outputIn(key, at(fields, 1)))
            const output = yield* p.bind(supplied(at(fields, 2)))
            yield* p.bind(
              book.enforce({
                'output-is-recorded': p.equalsByteString(p.blake2b256(output), outputHashOf(record)),
              }),
            )
            return output
          }),
        ),
      ),
    ),
  )
  const neededIn = yield* p.bind(
    p.lambda<PByteString, PLam<PData, PByteString>>((body) =>
      p.lambda((need) =>
        p.scope(function* () {
          const fields = yield* p.bind(fieldsOf(need))
          return branch(
            constructorOf(need),
            [
              WitnessNeed.spent,
              p.scope(function* () {
                const inputs = yield* p.bind(referencesIn(body, BodyField.inputs))
                const address = yield* p.bind(addressIn(p.call<PByteString>(spentIn, body, inputs, fields)))
                yield* p.bind(book.enforce({ 'script-locks-input': isLockedBy('script', address) }))
                return paymentHashIn(address)
              }),
            ],
            [
              WitnessNeed.minted,
              p.scope(function* () {
                const policy = yield* p.bind(p.unBData(p.headList(fields)))
                yield* p.bind(book.enforce({ 'policy-is-minted': hasItem(body, BodyField.mint, policy, 30) }))
                return p.sliceByteString(p.integer(2), p.integer(28), policy)
              }),
            ],
            [
              WitnessNeed.withdrawn,
              p.scope(function* () {
                const account = yield* p.bind(p.unBData(p.headList(fields)))
                yield* p.bind(
                  book.enforce({
                    'account-is-withdrawn': hasItem(body, BodyField.withdrawals, account, 31),
                    'account-is-of-script': p.lessThanInteger(
                      p.integer(0xef),
                      p.indexByteString(account, p.integer(2)),
                    ),
                  }),
                )
                return p.sliceByteString(p.integer(3), p.integer(28), account)
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
    spentIn: (body, inputs, fields) => p.call<PByteString>(spentIn, body, inputs, fields),
    neededIn: (body, need) => p.call<PByteString>(neededIn, body, need),
  }
}

/**
 * Whether an array or the keys of a map in a field of a body have an item, as it is encoded. Only the whole
 * item matches: every item has the prefix of another length.
 */
export const hasItem = (body: p.Bytes, field: number, item: p.Bytes, length: number): p.Bool =>
  both(
    p.equalsInteger(p.lengthOfByteString(item), p.integer(length)),
    p.lessThanInteger(
      p.integer(0),
      countIn(body, fieldAt(body, p.integer(0), field), (place) =>
        p.equalsByteString(p.sliceByteString(place, p.integer(length), body), item),
      ),
    ),
  )

export type Check = FraudCheck<Witnessed>

/** A transaction with its body and its witness set, from `[transaction, witnesses, …]`. */
export function* openedIn(block: Witnessed, fields: p.List) {
  const opening = yield* p.bind(p.unListData(at(fields, 0)))
  const body = yield* p.bind(block.bodyIn(opening))
  const record = yield* p.bind(p.unBData(at(opening, 1)))
  const witnesses = yield* p.bind(block.witnessSetIn(record, at(fields, 1)))
  return { record, body, witnesses }
}
