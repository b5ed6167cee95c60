import type { PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import { at, both, fieldsOf, includes, lengthOf, not } from '../../core/data.js'
import * as p from '../../core/term.js'
import { quantityIn, quantityOf, referenceScriptAt, sumOver, valueAt } from '../cbor/outputs.js'
import { argumentAt, fieldAt, isEnd, isMap, untagged, withArray, withFields, withHead } from '../cbor/read.js'
import { BodyField, isThere, referenceCount } from '../cbor/references.js'
import { skip } from '../cbor/skip.js'
import { isGiven, recordOf } from '../policy.js'
import { isEmpty } from '../records.js'
import { type FraudCheck, type RuleParameters, type SumOverOutputs, sumOverAll } from './opening.js'

/**
 * The consumed quantity of an asset is not the produced one.
 * `[transaction, outputs, hashes, policy, name]`: policy and name as CBOR, both empty for ada; the outputs of
 * all inputs. `ValueNotConservedUTxO`, where neither certificates, withdrawals, proposals nor a donation move
 * ada: no valid transaction of layer 2 has those.
 */
export const valueNotPreserved: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const opening = yield* p.bind(p.unListData(at(fields, 0)))
    const body = yield* p.bind(block.bodyIn(opening))
    const spent = yield* p.bind(
      block.resolvedIn(recordOf(opening), p.unListData(at(fields, 1)), p.unBData(at(fields, 2))),
    )
    const policy = yield* p.bind(p.unBData(at(fields, 3)))
    const name = yield* p.bind(p.unBData(at(fields, 4)))
    const { inputs: ofInputs, outputs: ofOutputs, fee: ofFee, mint: ofMint } = BodyField
    const quantity = (cbor: p.Bytes, output: p.Int): p.Int =>
      quantityIn(policy, name, cbor, valueAt(cbor, output))
    return withFields(body, [ofInputs, ofOutputs, ofFee, ofMint], (inputs, outputs, fee, mint) => {
      const moved = p.choose(
        isEmpty(policy),
        p.subtractInteger(p.integer(0), argumentAt(body, fee)),
        p.choose(isThere(mint), quantityOf(policy, name, body, mint), p.integer(0)),
      )
      return book.enforce({
        'resolved-outputs-are-those-of-inputs': p.equalsInteger(
          lengthOf(spent),
          referenceCount(body, untagged(body, inputs)),
        ),
        'value-is-not-preserved': not(
          p.equalsInteger(
            p.addInteger(
              moved,
              sumOverAll(spent, (output) => quantity(output, p.integer(0))),
            ),
            sumOver(body, outputs, (output) => quantity(body, output)),
          ),
        ),
      })
    })
  })

const feeIn = (body: p.Bytes): p.Int => argumentAt(body, fieldAt(body, p.integer(0), BodyField.fee))

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
    p.scope(function* () {
      const opening = yield* p.bind(p.unListData(at(fields, 0)))
      const body = yield* p.bind(block.bodyIn(opening))
      const witnessSet = yield* p.bind(block.witnessSetIn(recordOf(opening), at(fields, 1)))
      const shown = yield* p.bind(at(fields, 2))
      const auxiliaryData = yield* p.bind(
        p.choose(
          isGiven(shown),
          p.scope(function* () {
            const data = yield* p.bind(block.supplied(at(fieldsOf(shown), 0)))
            const hash = yield* p.bind(fieldAt(body, p.integer(0), BodyField.auxiliaryDataHash))
            yield* p.bind(
              book.enforce({
                'auxiliary-data-is-of-transaction': both(
                  isThere(hash),
                  // Behind the head of a string of 32 bytes.
                  p.equalsByteString(
                    p.sliceByteString(p.addInteger(hash, p.integer(2)), p.integer(32), body),
                    p.blake2b256(data),
                  ),
                ),
              }),
            )
            return p.lengthOfByteString(data)
          }),
          p.integer(1),
        ),
      )
      const outputs = yield* p.bind(
        block.resolvedIn(recordOf(opening), p.unListData(at(fields, 3)), p.unBData(at(fields, 4))),
      )
      const size = [p.lengthOfByteString(body), p.lengthOfByteString(witnessSet), auxiliaryData].reduce(
        p.addInteger,
        p.integer(1),
      )
      const minimum = [
        p.multiplyInteger(p.unIData(parameters.minFeeA), size),
        p.unIData(parameters.minFeeB),
        unitsPrice(witnessSet, {
          memory: p.unIData(parameters.memoryPrice),
          steps: p.unIData(parameters.stepPrice),
          denominator: p.unIData(parameters.unitPriceDenominator),
        }),
        referenceScriptsPrice(
          sumOverOutputs(outputs, referenceScriptSize),
          p.unIData(parameters.scriptPrice),
          p.unIData(parameters.scriptPriceDenominator),
        ),
      ].reduce(p.addInteger)
      return book.enforce({ 'fee-is-too-small': p.lessThanInteger(feeIn(body), minimum) })
    })

/*
 * The parts of the minimum fee that depend on scripts, as `minimumFee` of `@ratatosk/ledger` computes them.
 */

/** The price of an execution unit: numerators of lovelace over one denominator. */
interface UnitPrices {
  readonly memory: p.Int
  readonly steps: p.Int
  readonly denominator: p.Int
}

const redeemersField = 5
const openArray = 0x9f

/** The price of the execution units that the redeemers of a witness set declare, rounded up. */
const unitsPrice = (witnessSet: p.Bytes, prices: UnitPrices): p.Int =>
  p.scope(function* () {
    const place = yield* p.bind(fieldAt(witnessSet, p.integer(0), redeemersField))
    return p.choose(
      isThere(place),
      p.scope(function* () {
        const inMap = yield* p.bind(isMap(p.indexByteString(witnessSet, place)))
        const cost = yield* p.bind(
          sumOfLast(
            withHead(witnessSet, place, (count, first) =>
              p.call<PList<PData>>(
                p.fixed<PInt, PLam<PInt, PLam<PList<PData>, PList<PData>>>>((self, left) =>
                  p.lambda((redeemer) =>
                    p.lambda((before) =>
                      p.choose(
                        isEnd(witnessSet, left, redeemer),
                        before,
                        p.scope(function* () {
                          const pointer = yield* p.bind(withArray(witnessSet, redeemer, (_, start) => start))
                          // `[purpose, index, data, units]`, or `[purpose, index]` and `[data, units]`.
                          const own = yield* p.bind(
                            p.choose(inMap, skip(witnessSet, p.integer(1), redeemer), redeemer),
                          )
                          const units = yield* p.bind(
                            p.choose(
                              inMap,
                              withArray(witnessSet, own, (_, data) => skip(witnessSet, p.integer(1), data)),
                              skip(witnessSet, p.integer(3), pointer),
                            ),
                          )
                          const behind = yield* p.bind(skip(witnessSet, p.integer(1), units))
                          return p.call<PList<PData>>(
                            self(p.subtractInteger(left, p.integer(1))),
                            // Behind the break of an array of indefinite length.
                            p.choose(
                              p.equalsInteger(p.indexByteString(witnessSet, own), p.integer(openArray)),
                              p.addInteger(behind, p.integer(1)),
                              behind,
                            ),
                            p.prepend(
                              p.iData(pointerAt(witnessSet, pointer)),
                              p.prepend(p.iData(costAt(witnessSet, units, prices)), before),
                            ),
                          )
                        }),
                      ),
                    ),
                  ),
                ),
                count,
                first,
                p.listOf(),
              ),
            ),
          ),
        )
        const { denominator } = prices
        return p.divideInteger(p.addInteger(cost, p.subtractInteger(denominator, p.integer(1))), denominator)
      }),
      p.integer(0),
    )
  })

/** Purpose and index of a redeemer in one number: the index has at most 32 bits. */
const pointerAt = (cbor: p.Bytes, place: p.Int): p.Int =>
  p.addInteger(
    p.multiplyInteger(argumentAt(cbor, place), p.integer(2n ** 32n)),
    argumentAt(cbor, skip(cbor, p.integer(1), place)),
  )

const costAt = (cbor: p.Bytes, units: p.Int, { memory, steps }: UnitPrices): p.Int =>
  withArray(cbor, units, (_count, first) =>
    p.addInteger(
      p.multiplyInteger(memory, argumentAt(cbor, first)),
      p.multiplyInteger(steps, argumentAt(cbor, skip(cbor, p.integer(1), first))),
    ),
  )

/**
 * The sum of the costs in a list of pointers and costs, last redeemer first: of equal pointers, only the last
 * in the witness set counts.
 */
const sumOfLast = (redeemers: p.List): p.Int =>
  p.call<PInt>(
    p.recursive<PList<PData>, PLam<PList<PData>, PInt>>((self, rest) =>
      p.lambda((counted) =>
        p.choose(
          p.nullList(rest),
          p.integer(0),
          p.scope(function* () {
            const pointer = yield* p.bind(p.headList(rest))
            const others = yield* p.bind(p.tailList(rest))
            return p.addInteger(
              p.choose(includes(counted, pointer), p.integer(0), p.unIData(p.headList(others))),
              p.call<PInt>(self(p.tailList(others)), p.prepend(pointer, counted)),
            )
          }),
        ),
      ),
    )(redeemers),
    p.listOf(),
  )

/** The first bytes of a reference script: tag 24; and of its content: an array of two items. */
const encodedCbor = Uint8Array.of(0xd8, 0x18)
const pair = 0x82

/**
 * The size of an output's reference script: the bytes of a Plutus script, the CBOR of a native one. 0 without
 * one, and in any other encoding than the definite and shortest one.
 */
const referenceScriptSize = p.define<PByteString, PInt>((output) =>
  p.scope(function* () {
    const place = yield* p.bind(referenceScriptAt(output, p.integer(0)))
    return p.choose(
      isThere(place),
      p.choose(
        p.equalsByteString(p.sliceByteString(place, p.integer(2), output), p.bytes(encodedCbor)),
        withHead(output, p.addInteger(place, p.integer(2)), (length, content) =>
          p.choose(
            p.equalsInteger(p.indexByteString(output, content), p.integer(pair)),
            p.scope(function* () {
              const language = yield* p.bind(p.indexByteString(output, p.addInteger(content, p.integer(1))))
              return p.choose(
                p.equalsInteger(language, p.integer(0)),
                p.subtractInteger(length, p.integer(2)),
                p.choose(
                  p.lessThanInteger(language, p.integer(4)),
                  argumentAt(output, p.addInteger(content, p.integer(2))),
                  p.integer(0),
                ),
              )
            }),
            p.integer(0),
          ),
        ),
        p.integer(0),
      ),
      p.integer(0),
    )
  }),
)

const tierSize = 25_600

/** The price of reference scripts, rounded down: each tier costs 1.2 times the one before per byte. */
const referenceScriptsPrice = (size: p.Int, numerator: p.Int, denominator: p.Int): p.Int =>
  p.call<PInt>(
    p.recursive<PInt, PLam<PInt, PLam<PInt, PLam<PInt, PInt>>>>((self, left) =>
      p.lambda((price) =>
        p.lambda((over) =>
          p.lambda((sum) =>
            p.choose(
              p.lessThanInteger(left, p.integer(tierSize)),
              p.divideInteger(p.addInteger(sum, p.multiplyInteger(left, price)), over),
              p.call<PInt>(
                self(p.subtractInteger(left, p.integer(tierSize))),
                p.multiplyInteger(price, p.integer(6)),
                p.multiplyInteger(over, p.integer(5)),
                p.multiplyInteger(
                  p.addInteger(sum, p.multiplyInteger(p.integer(tierSize), price)),
                  p.integer(5),
                ),
              ),
            ),
          ),
        ),
      ),
    )(size),
    numerator,
    denominator,
    p.integer(0),
  )
