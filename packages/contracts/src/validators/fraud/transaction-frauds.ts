import type { PBool, PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import { headerFieldIndex } from '@ratatosk/block'
import { allowedFields, TransactionFraud } from '../../fraud/layout.js'
import {
  addInteger,
  appendByteString,
  blake2b256,
  boolean,
  bytes,
  divideInteger,
  equalsByteString,
  equalsInteger,
  headList,
  indexByteString,
  integer,
  lengthOfByteString,
  lessThanEqualsInteger,
  lessThanInteger,
  modInteger,
  multiplyInteger,
  nullList,
  sliceByteString,
  subtractInteger,
  tailList,
  unBData,
  unIData,
  unListData,
} from '../core/builtins.js'
import { at, both, branch, constructorOf, either, every, fieldsOf, lengthOf, not } from '../core/data.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  type Data,
  type Int,
  type List,
  lambda,
  recursive,
  scope,
} from '../core/term.js'
import { argumentAt, elementAt, fieldAt, fieldUnder, isEnd, skip, withMap } from './cbor.js'
import { isUnreadable } from './encoding.js'
import { referenceScriptSize, referenceScriptsPrice, unitsPrice } from './fees.js'
import {
  isEmpty,
  isGiven,
  type Opening,
  recordOf,
  resolvedHashOf,
  type Supplied,
  type Transactions,
  transactionsOf,
  witnessSetsOf,
} from './openings.js'
import type { FraudCheck as CheckOf, Frauds } from './policy.js'
import { BodyField, isThere, referenceAt, referenceCount, referencesIn } from './references.js'
import { addressAt, lovelaceAt, quantityIn, quantityOf, sumOver, valueAt } from './values.js'

/*
 * Frauds in what a transaction of a block says. Each is a rule that `judgeBlock` of `@ratatosk/block` refuses
 * a transaction by, read from its body, its witness set and the outputs that its inputs stand for.
 */

/** The rules of the layer 2, as Plutus data. */
export interface RuleParameters {
  /** POSIX milliseconds at which slot 0 begins, or would begin. */
  readonly slotZeroTime: Data
  /** Milliseconds. */
  readonly slotLength: Data
  readonly networkId: Data
  readonly minFeeA: Data
  readonly minFeeB: Data
  /** Lovelace for a unit of memory and for a step: numerators over one denominator. */
  readonly memoryPrice: Data
  readonly stepPrice: Data
  readonly unitPriceDenominator: Data
  /** Lovelace for a byte of reference scripts in the first tier: numerator and denominator. */
  readonly scriptPrice: Data
  readonly scriptPriceDenominator: Data
  readonly coinsPerUtxoByte: Data
}

/** What these frauds read of a header. */
interface Opened extends Pick<Transactions, 'transactionIn' | 'bodyIn'>, Supplied {
  /** The slots that the block touches, both included. */
  slots(): { readonly first: Int; readonly last: Int }
  /**
   * Outputs that the first inputs of a record's transaction stand for, and reference inputs behind the last
   * input.
   *
   * @param outputs as supplied
   * @param hashes of the outputs that the others stand for, 32 bytes each
   */
  resolvedIn(record: Bytes, outputs: List, hashes: Bytes): List
}

const openings = (parameters: RuleParameters): Frauds<Opened>['open'] =>
  function* (book, header, referenceInputs): Opening<Opened> {
    const { transactionIn, bodyIn } = yield* transactionsOf(book, header, referenceInputs)
    const { supplied, witnessSetIn } = yield* witnessSetsOf(book, referenceInputs)
    const resolvedIn = yield* bind(
      lambda<PByteString, PLam<PList<PData>, PLam<PByteString, PList<PData>>>>((record) =>
        lambda((outputs) =>
          lambda((hashes) =>
            scope(function* () {
              const all = recursive<PList<PData>, PByteString>((self, rest) =>
                choose(
                  nullList(rest),
                  hashes,
                  appendByteString(blake2b256(supplied(headList(rest))), self(tailList(rest))),
                ),
              )(outputs)
              yield* bind(
                book.enforce({
                  'resolved-outputs-are-recorded': either(
                    nullList(outputs),
                    equalsByteString(blake2b256(all), resolvedHashOf(record)),
                  ),
                }),
              )
              return outputs
            }),
          ),
        ),
      ),
    )
    const slotAt = (field: keyof typeof headerFieldIndex, earlier: number): Int =>
      divideInteger(
        subtractInteger(
          subtractInteger(unIData(at(fieldsOf(header), headerFieldIndex[field])), integer(earlier)),
          unIData(parameters.slotZeroTime),
        ),
        unIData(parameters.slotLength),
      )
    return {
      transactionIn,
      bodyIn,
      slots: () => ({ first: slotAt('startTime', 0), last: slotAt('endTime', 1) }),
      supplied,
      witnessSetIn,
      resolvedIn: (record, outputs, hashes) => call<PList<PData>>(resolvedIn, record, outputs, hashes),
    }
  }

type FraudCheck = CheckOf<Opened>

/** The sum over outputs as supplied. */
const sumOverSupplied = ({ supplied }: Opened, outputs: List, each: (output: Bytes) => Int): Int =>
  recursive<PList<PData>, PInt>((self, rest) =>
    choose(nullList(rest), integer(0), addInteger(each(supplied(headList(rest))), self(tailList(rest)))),
  )(outputs)

/**
 * What a transaction consumes of an asset is not what it produces.
 * `[transaction, outputs, hashes, policy, name]`: policy and name as CBOR, both empty for ada; the outputs of
 * all inputs. `ValueNotConservedUTxO`, where neither certificates, withdrawals, proposals nor a donation move
 * ada: no valid transaction of layer 2 has those.
 */
const valueNotPreserved: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const opening = yield* bind(unListData(at(fields, 0)))
    const body = yield* bind(block.bodyIn(opening))
    const outputs = yield* bind(
      block.resolvedIn(recordOf(opening), unListData(at(fields, 1)), unBData(at(fields, 2))),
    )
    const policy = yield* bind(unBData(at(fields, 3)))
    const name = yield* bind(unBData(at(fields, 4)))
    const quantityAt = (cbor: Bytes, output: Int): Int =>
      quantityIn(policy, name, cbor, valueAt(cbor, output))
    const spent = sumOverSupplied(block, outputs, (output) =>
      scope(function* () {
        const cbor = yield* bind(output)
        return quantityAt(cbor, integer(0))
      }),
    )
    const minted = scope(function* () {
      const mint = yield* bind(fieldAt(body, integer(0), BodyField.mint))
      return choose(isThere(mint), quantityOf(policy, name, body, mint), integer(0))
    })
    const paid = sumOver(body, fieldAt(body, integer(0), BodyField.outputs), (output) =>
      quantityAt(body, output),
    )
    const isAda = yield* bind(isEmpty(policy))
    return book.enforce({
      'resolved-outputs-are-those-of-inputs': equalsInteger(
        lengthOf(outputs),
        referenceCount(body, referencesIn(body, BodyField.inputs)),
      ),
      'value-is-not-preserved': not(
        equalsInteger(
          choose(isAda, integer(0), minted),
          subtractInteger(addInteger(paid, choose(isAda, feeIn(body), integer(0))), spent),
        ),
      ),
    })
  })

const feeIn = (body: Bytes): Int => argumentAt(body, fieldAt(body, integer(0), BodyField.fee))

/**
 * The fee is below the minimum. `[transaction, witness set, auxiliary data, outputs, hashes]`: without
 * auxiliary data, and for outputs that are not shown, the minimum counts as if there were none.
 * `FeeTooSmallUTxO`.
 */
const feeTooSmall =
  (parameters: RuleParameters): FraudCheck =>
  (book, block, fields) =>
    scope(function* () {
      const opening = yield* bind(unListData(at(fields, 0)))
      const body = yield* bind(block.bodyIn(opening))
      const witnessSet = yield* bind(block.witnessSetIn(recordOf(opening), at(fields, 1)))
      const shown = yield* bind(at(fields, 2))
      const auxiliaryData = yield* bind(
        choose(
          isGiven(shown),
          scope(function* () {
            const data = yield* bind(block.supplied(at(fieldsOf(shown), 0)))
            const hash = yield* bind(fieldAt(body, integer(0), BodyField.auxiliaryDataHash))
            yield* bind(
              book.enforce({
                'auxiliary-data-is-of-transaction': both(
                  isThere(hash),
                  // Behind the head of a string of 32 bytes.
                  equalsByteString(
                    sliceByteString(addInteger(hash, integer(2)), integer(32), body),
                    blake2b256(data),
                  ),
                ),
              }),
            )
            return lengthOfByteString(data)
          }),
          integer(1),
        ),
      )
      const outputs = yield* bind(
        block.resolvedIn(recordOf(opening), unListData(at(fields, 3)), unBData(at(fields, 4))),
      )
      const size = [lengthOfByteString(body), lengthOfByteString(witnessSet), auxiliaryData].reduce(
        addInteger,
        integer(1),
      )
      const minimum = [
        multiplyInteger(unIData(parameters.minFeeA), size),
        unIData(parameters.minFeeB),
        unitsPrice(witnessSet, {
          memory: unIData(parameters.memoryPrice),
          steps: unIData(parameters.stepPrice),
          denominator: unIData(parameters.unitPriceDenominator),
        }),
        referenceScriptsPrice(
          sumOverSupplied(block, outputs, referenceScriptSize),
          unIData(parameters.scriptPrice),
          unIData(parameters.scriptPriceDenominator),
        ),
      ].reduce(addInteger)
      return book.enforce({ 'fee-is-too-small': lessThanInteger(feeIn(body), minimum) })
    })

/**
 * The place of an output: `Output [index]` in the order of the body, or `CollateralReturn`. Reading at
 * `nowhere` fails.
 */
const outputAt = (body: Bytes, where: Data): Int =>
  scope(function* () {
    const shown = yield* bind(where)
    return choose(
      isGiven(shown),
      elementAt(body, fieldAt(body, integer(0), BodyField.outputs), unIData(at(fieldsOf(shown), 0))),
      fieldAt(body, integer(0), BodyField.collateralReturn),
    )
  })

/**
 * An output holds less lovelace than its size asks for. `[transaction, output]`. `BabbageOutputTooSmallUTxO`
 */
const outputTooSmall =
  (parameters: RuleParameters): FraudCheck =>
  (book, block, fields) =>
    scope(function* () {
      const body = yield* bind(block.bodyIn(unListData(at(fields, 0))))
      const output = yield* bind(outputAt(body, at(fields, 1)))
      const size = subtractInteger(skip(body, integer(1), output), output)
      return book.enforce({
        'output-is-too-small': lessThanInteger(
          lovelaceAt(body, valueAt(body, output)),
          multiplyInteger(addInteger(size, integer(entryOverhead)), unIData(parameters.coinsPerUtxoByte)),
        ),
      })
    })

/** What an output takes besides its own bytes. */
const entryOverhead = 160

/**
 * An output pays to an address of another network. `[transaction, output]`. `WrongNetwork`, but for Byron
 * addresses.
 */
const outputOnOtherNetwork =
  (parameters: RuleParameters): FraudCheck =>
  (book, block, fields) =>
    scope(function* () {
      const body = yield* bind(block.bodyIn(unListData(at(fields, 0))))
      const output = yield* bind(outputAt(body, at(fields, 1)))
      const address = yield* bind(addressAt(body, output))
      const header = yield* bind(indexByteString(body, addInteger(address, integer(2))))
      return book.enforce({
        // A string of 24 to 255 bytes, the first of which is not that of Byron addresses.
        'address-is-readable': both(
          equalsInteger(indexByteString(body, address), integer(0x58)),
          lessThanInteger(header, integer(0x80)),
        ),
        'address-is-on-other-network': not(
          equalsInteger(modInteger(header, integer(16)), unIData(parameters.networkId)),
        ),
      })
    })

/** The validity interval has no slot of the block. `[transaction]`. `OutsideValidityIntervalUTxO` */
const outsideInterval: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const body = yield* bind(block.bodyIn(unListData(at(fields, 0))))
    const from = yield* bind(fieldAt(body, integer(0), BodyField.invalidBefore))
    const until = yield* bind(fieldAt(body, integer(0), BodyField.invalidHereafter))
    const { first, last } = block.slots()
    return book.enforce({
      'interval-misses-block': either(
        both(isThere(from), lessThanInteger(last, argumentAt(body, from))),
        both(
          isThere(until),
          scope(function* () {
            const end = yield* bind(argumentAt(body, until))
            return either(
              lessThanEqualsInteger(end, first),
              both(isThere(from), lessThanEqualsInteger(end, argumentAt(body, from))),
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
  scope(function* () {
    const body = yield* bind(block.bodyIn(unListData(at(fields, 0))))
    const key = yield* bind(unIData(at(fields, 1)))
    return book.enforce({
      'field-is-forbidden': equalsInteger(indexByteString(bytes(allowedFields), key), integer(0)),
      'field-is-in-transaction': isThere(fieldUnder(body, integer(0), key)),
    })
  })

/** The body names another network. `[transaction]`. `WrongNetworkInTxBody` */
const wrongNetwork =
  (parameters: RuleParameters): FraudCheck =>
  (book, block, fields) =>
    scope(function* () {
      const body = yield* bind(block.bodyIn(unListData(at(fields, 0))))
      const network = fieldAt(body, integer(0), BodyField.networkId)
      return book.enforce({
        // Fails without the field.
        'transaction-is-of-other-network': not(
          equalsInteger(argumentAt(body, network), unIData(parameters.networkId)),
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
    scope(function* () {
      const body = yield* bind(block.bodyIn(unListData(at(fields, 0))))
      const withdrawals = yield* bind(fieldAt(body, integer(0), BodyField.withdrawals))
      const isAllowed = (place: Int): Bool =>
        every(
          equalsByteString(sliceByteString(place, integer(2), body), bytes(scriptAccount)),
          equalsInteger(
            indexByteString(body, addInteger(place, integer(2))),
            addInteger(integer(0xf0), unIData(parameters.networkId)),
          ),
          equalsInteger(indexByteString(body, addInteger(place, integer(zeroWithdrawal - 1))), integer(0)),
        )
      const allAllowed = withMap(body, withdrawals, (count, first) =>
        call<PBool>(
          recursive<PInt, PLam<PInt, PBool>>((self, left) =>
            lambda((place) =>
              choose(
                isEnd(body, left, place),
                boolean(true),
                both(
                  isAllowed(place),
                  call<PBool>(
                    self(subtractInteger(left, integer(1))),
                    addInteger(place, integer(zeroWithdrawal)),
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
  scope(function* () {
    const body = yield* bind(block.bodyIn(unListData(at(fields, 0))))
    return book.enforce({
      'transaction-has-no-inputs': equalsInteger(
        referenceCount(body, referencesIn(body, BodyField.inputs)),
        integer(0),
      ),
    })
  })

/** An input is a reference input too. `[transaction, index, index]`. `BabbageNonDisjointRefInputs` */
const inputIsReferenceInput: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const body = yield* bind(block.bodyIn(unListData(at(fields, 0))))
    const input = referenceAt(body, referencesIn(body, BodyField.inputs), unIData(at(fields, 1)))
    const read = referenceAt(body, referencesIn(body, BodyField.referenceInputs), unIData(at(fields, 2)))
    return book.enforce({ 'input-is-reference-input': equalsByteString(input, read) })
  })

/**
 * A body or witness set is not one that layer 1 can read. `Body [transaction]` or
 * `WitnessSet [record, witness set]`
 */
const unreadablePart: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const shown = yield* bind(at(fields, 0))
    const part = yield* bind(fieldsOf(shown))
    const opening = yield* bind(unListData(at(part, 0)))
    const cbor = yield* bind(
      choose(
        isGiven(shown),
        block.bodyIn(opening),
        block.witnessSetIn(block.transactionIn(opening), at(part, 1)),
      ),
    )
    return book.enforce({ 'part-is-unreadable': isUnreadable(cbor) })
  })

/**
 * An input, collateral input or reference input is not a definite array. `[transaction, set, index]`: the set
 * as a constructor. `IndefiniteReferencesNotSupported`
 */
const unreadableReference: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const body = yield* bind(block.bodyIn(unListData(at(fields, 0))))
    const inputs = branch(
      constructorOf(at(fields, 1)),
      [0, referencesIn(body, BodyField.inputs)],
      [1, referencesIn(body, BodyField.collateralInputs)],
      [2, referencesIn(body, BodyField.referenceInputs)],
    )
    const reference = yield* bind(elementAt(body, inputs, unIData(at(fields, 2))))
    return book.enforce({
      // Fails behind the last.
      'reference-is-unreadable': not(equalsInteger(indexByteString(body, reference), integer(0x82))),
    })
  })

/** The frauds that the transaction policy knows. */
export const transactionFrauds = (parameters: RuleParameters): Frauds<Opened> => ({
  open: openings(parameters),
  checks: [
    [TransactionFraud.valueNotPreserved, valueNotPreserved],
    [TransactionFraud.feeTooSmall, feeTooSmall(parameters)],
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
  ],
})
