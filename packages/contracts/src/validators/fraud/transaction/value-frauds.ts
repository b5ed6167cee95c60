import {
  addInteger,
  blake2b256,
  equalsByteString,
  equalsInteger,
  integer,
  lengthOfByteString,
  lessThanInteger,
  multiplyInteger,
  sliceByteString,
  subtractInteger,
  unBData,
  unIData,
  unListData,
} from '../../core/builtins.js'
import { at, both, fieldsOf, lengthOf, not } from '../../core/data.js'
import { type Bytes, bind, choose, type Int, scope } from '../../core/term.js'
import { withFields } from '../cbor/fields.js'
import { argumentAt, fieldAt, untagged } from '../cbor/read.js'
import { BodyField, isThere, referenceCount } from '../cbor/references.js'
import { quantityIn, quantityOf, sumOver, valueAt } from '../cbor/values.js'
import { isGiven, recordOf } from '../openings.js'
import { isEmpty } from '../records.js'
import { referenceScriptSize, referenceScriptsPrice, unitsPrice } from './fees.js'
import { type FraudCheck, type RuleParameters, type SumOverOutputs, sumOverAll } from './opening.js'

/**
 * The consumed quantity of an asset is not the produced one.
 * `[transaction, outputs, hashes, policy, name]`: policy and name as CBOR, both empty for ada; the outputs of
 * all inputs. `ValueNotConservedUTxO`, where neither certificates, withdrawals, proposals nor a donation move
 * ada: no valid transaction of layer 2 has those.
 */
export const valueNotPreserved: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const opening = yield* bind(unListData(at(fields, 0)))
    const body = yield* bind(block.bodyIn(opening))
    const spent = yield* bind(
      block.resolvedIn(recordOf(opening), unListData(at(fields, 1)), unBData(at(fields, 2))),
    )
    const policy = yield* bind(unBData(at(fields, 3)))
    const name = yield* bind(unBData(at(fields, 4)))
    const { inputs: ofInputs, outputs: ofOutputs, fee: ofFee, mint: ofMint } = BodyField
    const quantity = (cbor: Bytes, output: Int): Int => quantityIn(policy, name, cbor, valueAt(cbor, output))
    return withFields(body, [ofInputs, ofOutputs, ofFee, ofMint], (inputs, outputs, fee, mint) => {
      const moved = choose(
        isEmpty(policy),
        subtractInteger(integer(0), argumentAt(body, fee)),
        choose(isThere(mint), quantityOf(policy, name, body, mint), integer(0)),
      )
      return book.enforce({
        'resolved-outputs-are-those-of-inputs': equalsInteger(
          lengthOf(spent),
          referenceCount(body, untagged(body, inputs)),
        ),
        'value-is-not-preserved': not(
          equalsInteger(
            addInteger(
              moved,
              sumOverAll(spent, (output) => quantity(output, integer(0))),
            ),
            sumOver(body, outputs, (output) => quantity(body, output)),
          ),
        ),
      })
    })
  })

const feeIn = (body: Bytes): Int => argumentAt(body, fieldAt(body, integer(0), BodyField.fee))

/**
 * The fee is below the minimum. `[transaction, witness set, auxiliary data, outputs, hashes]`: without
 * auxiliary data, and for outputs that are not shown, the minimum counts as if there were none.
 * `FeeTooSmallUTxO`.
 *
 * @param sumOverOutputs the outputs whose reference scripts count
 */
export const feeTooSmall =
  (parameters: RuleParameters, sumOverOutputs: SumOverOutputs): FraudCheck =>
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
          sumOverOutputs(outputs, referenceScriptSize),
          unIData(parameters.scriptPrice),
          unIData(parameters.scriptPriceDenominator),
        ),
      ].reduce(addInteger)
      return book.enforce({ 'fee-is-too-small': lessThanInteger(feeIn(body), minimum) })
    })
