import type { PBool, PInt, PLam } from '@harmoniclabs/plu-ts'
import { allowedFields, TransactionFraud } from '../../../layout.js'
import { at, both, either, every, not } from '../../core/data.js'
import * as p from '../../core/term.js'
import { argumentAt, fieldAt, fieldUnder, isEnd, withMap } from '../cbor/read.js'
import { BodyField, isThere, referenceAt, referenceCount, referencesIn } from '../cbor/references.js'
import type { Frauds } from '../policy.js'
import {
  type FraudCheck,
  type Opened,
  openings,
  type RuleParameters,
  sumOverAll,
  sumOverDistinct,
} from './opening.js'
import {
  malformedPart,
  outputOnOtherNetwork,
  outputTooSmall,
  repeatedReference,
  strangeField,
  strangeItem,
  strangeOutput,
  strangeWitness,
  tooMany,
  unreadablePart,
  unreadableReference,
} from './shape-frauds.js'
import { feeTooSmall, valueNotPreserved } from './value-frauds.js'

/*
 * Frauds in what a transaction of a block says. Each is a rule that `judgeBlock` of `@ratatosk/block` refuses
 * a transaction by, read from its body, its witness set and the outputs that its inputs stand for.
 */

/** The validity interval has no slot of the block. `[transaction]`. `OutsideValidityIntervalUTxO` */
const outsideInterval: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const body = yield* p.bind(block.bodyIn(p.unListData(at(fields, 0))))
    const from = yield* p.bind(fieldAt(body, p.integer(0), BodyField.invalidBefore))
    const until = yield* p.bind(fieldAt(body, p.integer(0), BodyField.invalidHereafter))
    const { first, last } = block.slots()
    return book.enforce({
      'interval-misses-block': either(
        both(isThere(from), p.lessThanInteger(last, argumentAt(body, from))),
        both(
          isThere(until),
          p.scope(function* () {
            const end = yield* p.bind(argumentAt(body, until))
            return either(
              p.lessThanEqualsInteger(end, first),
              both(isThere(from), p.lessThanEqualsInteger(end, argumentAt(body, from))),
            )
          }),
        ),
      ),
    })
  })

/**
 * The body has a field that layer 2 does not allow. `[transaction, key]`. `CertificatesNotSupported`,
 * `VotesNotSupported`, `ProposalsNotSupported`, `TreasuryValueNotSupported`, `DonationsNotSupported`, and
 * fields that Conway does not have.
 */
const forbiddenField: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const body = yield* p.bind(block.bodyIn(p.unListData(at(fields, 0))))
    const key = yield* p.bind(p.unIData(at(fields, 1)))
    return book.enforce({
      'field-is-forbidden': p.equalsInteger(p.indexByteString(p.bytes(allowedFields), key), p.integer(0)),
      'field-is-in-transaction': isThere(fieldUnder(body, p.integer(0), key)),
    })
  })

/** The body names another network. `[transaction]`. `WrongNetworkInTxBody` */
const wrongNetwork =
  (parameters: RuleParameters): FraudCheck =>
  (book, block, fields) =>
    p.scope(function* () {
      const body = yield* p.bind(block.bodyIn(p.unListData(at(fields, 0))))
      const network = fieldAt(body, p.integer(0), BodyField.networkId)
      return book.enforce({
        // Fails without the field.
        'transaction-is-of-other-network': not(
          p.equalsInteger(argumentAt(body, network), p.unIData(parameters.networkId)),
        ),
      })
    })

/** The first bytes of an account of a script, without its network; and its length with the amount zero. */
const scriptAccount = Uint8Array.of(0x58, 29)

const zeroWithdrawal = 32

/**
 * A withdrawal is not of zero lovelace by a script of this network. `[transaction]`.
 * `WithdrawalsNotSupported`, `WrongNetworkWithdrawal`
 */
const forbiddenWithdrawal =
  (parameters: RuleParameters): FraudCheck =>
  (book, block, fields) =>
    p.scope(function* () {
      const body = yield* p.bind(block.bodyIn(p.unListData(at(fields, 0))))
      const withdrawals = yield* p.bind(fieldAt(body, p.integer(0), BodyField.withdrawals))
      const isAllowed = (place: p.Int): p.Bool =>
        every(
          p.equalsByteString(p.sliceByteString(place, p.integer(2), body), p.bytes(scriptAccount)),
          p.equalsInteger(
            p.indexByteString(body, p.addInteger(place, p.integer(2))),
            p.addInteger(p.integer(0xf0), p.unIData(parameters.networkId)),
          ),
          p.equalsInteger(
            p.indexByteString(body, p.addInteger(place, p.integer(zeroWithdrawal - 1))),
            p.integer(0),
          ),
        )
      const allAllowed = withMap(body, withdrawals, (count, first) =>
        p.call<PBool>(
          p.recursive<PInt, PLam<PInt, PBool>>((self, left) =>
            p.lambda((place) =>
              p.choose(
                isEnd(body, left, place),
                p.boolean(true),
                both(
                  isAllowed(place),
                  p.call<PBool>(
                    self(p.subtractInteger(left, p.integer(1))),
                    p.addInteger(place, p.integer(zeroWithdrawal)),
                  ),
                ),
              ),
            ),
          )(count),
          first,
        ),
      )
      // Fails without the field.
      return book.enforce({ 'withdrawal-is-forbidden': not(allAllowed) })
    })

/** The transaction spends nothing. `[transaction]`. `InputSetEmptyUTxO` */
const noInputs: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const body = yield* p.bind(block.bodyIn(p.unListData(at(fields, 0))))
    return book.enforce({
      'transaction-has-no-inputs': p.equalsInteger(
        referenceCount(body, referencesIn(body, BodyField.inputs)),
        p.integer(0),
      ),
    })
  })

/** An input is a reference input too. `[transaction, index, index]`. `BabbageNonDisjointRefInputs` */
const inputIsReferenceInput: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const body = yield* p.bind(block.bodyIn(p.unListData(at(fields, 0))))
    const input = referenceAt(body, referencesIn(body, BodyField.inputs), p.unIData(at(fields, 1)))
    const read = referenceAt(body, referencesIn(body, BodyField.referenceInputs), p.unIData(at(fields, 2)))
    return book.enforce({ 'input-is-reference-input': p.equalsByteString(input, read) })
  })

/** The frauds of ledger versions 9 and 10. */
export const transactionFrauds = (parameters: RuleParameters): Frauds<Opened> => ({
  open: openings(parameters),
  checks: [
    [TransactionFraud.valueNotPreserved, valueNotPreserved],
    [TransactionFraud.feeTooSmall, feeTooSmall(parameters, sumOverAll)],
    [TransactionFraud.outputTooSmall, outputTooSmall(parameters)],
    [TransactionFraud.outputOnOtherNetwork, outputOnOtherNetwork(parameters)],
    [TransactionFraud.outsideInterval, outsideInterval],
    [TransactionFraud.forbiddenField, forbiddenField],
    [TransactionFraud.wrongNetwork, wrongNetwork(parameters)],
    [TransactionFraud.forbiddenWithdrawal, forbiddenWithdrawal(parameters)],
    [TransactionFraud.noInputs, noInputs],
    [TransactionFraud.inputIsReferenceInput, inputIsReferenceInput],
    [TransactionFraud.unreadablePart, unreadablePart],
    [TransactionFraud.unreadableReference, unreadableReference],
    [TransactionFraud.malformedPart, malformedPart],
    [TransactionFraud.strangeField, strangeField],
    [TransactionFraud.strangeOutput, strangeOutput],
    [TransactionFraud.strangeWitness, strangeWitness],
    [TransactionFraud.repeatedReference, repeatedReference],
    [TransactionFraud.tooMany, tooMany],
    [TransactionFraud.strangeItem, strangeItem],
  ],
})

/** The frauds of ledger version 11: an output may be input and reference input; its script counts once. */
export function transactionFraudsOfVersion11(parameters: RuleParameters): Frauds<Opened> {
  const { open, checks } = transactionFrauds(parameters)
  const replaced = new Set<number>([TransactionFraud.feeTooSmall, TransactionFraud.inputIsReferenceInput])
  return {
    open,
    checks: [
      [TransactionFraud.feeTooSmall, feeTooSmall(parameters, sumOverDistinct)],
      ...checks.filter(([fraud]) => !replaced.has(fraud)),
    ],
  }
}
