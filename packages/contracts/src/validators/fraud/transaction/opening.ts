import type { PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import { headerFieldIndex } from '@ratatosk/block'
import { at, either, fieldsOf, includes } from '../../core/data.js'
import * as p from '../../core/term.js'
import {
  type FraudCheck as CheckOf,
  type Frauds,
  type Opening,
  type Supplied,
  type Transactions,
  transactionsOf,
  witnessSetsOf,
} from '../policy.js'
import { hashesBefore, resolvedHashOf } from '../records.js'

/** The rules of the layer 2, as Plutus data. */
export interface RuleParameters {
  /** POSIX milliseconds at which slot 0 begins, or would begin. */
  readonly slotZeroTime: p.Data
  /** Milliseconds. */
  readonly slotLength: p.Data
  readonly networkId: p.Data
  readonly minFeeA: p.Data
  readonly minFeeB: p.Data
  /** Lovelace for a unit of memory and for a step: numerators over one denominator. */
  readonly memoryPrice: p.Data
  readonly stepPrice: p.Data
  readonly unitPriceDenominator: p.Data
  /** Lovelace for a byte of reference scripts in the first tier: numerator and denominator. */
  readonly scriptPrice: p.Data
  readonly scriptPriceDenominator: p.Data
  readonly coinsPerUtxoByte: p.Data
}

/** The parts of a header that these frauds read. */
export interface Opened extends Pick<Transactions, 'transactionIn' | 'bodyIn'>, Supplied {
  /** The slots that the block touches, both included. */
  slots(): { readonly first: p.Int; readonly last: p.Int }
  /**
   * Outputs of the first inputs of a record's transaction, then reference inputs: byte strings as data.
   * @param hashes of the outputs that the others stand for, 32 bytes each
   */
  resolvedIn(record: p.Bytes, outputs: p.List, hashes: p.Bytes): p.List
}

export const openings = (parameters: RuleParameters): Frauds<Opened>['open'] =>
  function* (book, evidence): Opening<Opened> {
    const { header } = evidence
    const { transactionIn, bodyIn } = yield* transactionsOf(book, evidence)
    const { supplied, suppliedAll, witnessSetIn } = yield* witnessSetsOf(book, evidence)
    const resolvedIn = yield* p.bind(
      p.lambda<PByteString, PLam<PList<PData>, PLam<PByteString, PList<PData>>>>((record) =>
        p.lambda((shown) =>
          p.lambda((hashes) =>
            p.scope(function* () {
              const outputs = yield* p.bind(suppliedAll(shown))
              yield* p.bind(
                book.enforce({
                  'resolved-outputs-are-recorded': either(
                    p.nullList(outputs),
                    p.equalsByteString(p.blake2b256(hashesBefore(outputs, hashes)), resolvedHashOf(record)),
                  ),
                }),
              )
              return outputs
            }),
          ),
        ),
      ),
    )
    const slotAt = (field: keyof typeof headerFieldIndex, earlier: number): p.Int =>
      p.divideInteger(
        p.subtractInteger(
          p.subtractInteger(p.unIData(at(fieldsOf(header), headerFieldIndex[field])), p.integer(earlier)),
          p.unIData(parameters.slotZeroTime),
        ),
        p.unIData(parameters.slotLength),
      )
    return {
      transactionIn,
      bodyIn,
      slots: () => ({ first: slotAt('startTime', 0), last: slotAt('endTime', 1) }),
      supplied,
      suppliedAll,
      witnessSetIn,
      resolvedIn: (record, outputs, hashes) => p.call<PList<PData>>(resolvedIn, record, outputs, hashes),
    }
  }

export type FraudCheck = CheckOf<Opened>

/** Sums over outputs as `resolvedIn` gives them. */
export type SumOverOutputs = (outputs: p.List, each: (output: p.Bytes) => p.Int) => p.Int

export const sumOverAll: SumOverOutputs = (outputs, each) =>
  p.recursive<PList<PData>, PInt>((self, rest) =>
    p.choose(
      p.nullList(rest),
      p.integer(0),
      p.addInteger(each(p.unBData(p.headList(rest))), self(p.tailList(rest))),
    ),
  )(outputs)

/**
 * The same, of equal outputs only once: an output that is an input and a reference input is there twice.
 * Other equal outputs count as one too, which makes the sum smaller.
 */
export const sumOverDistinct: SumOverOutputs = (outputs, each) =>
  p.call<PInt>(
    p.recursive<PList<PData>, PLam<PList<PData>, PInt>>((self, rest) =>
      p.lambda((counted) =>
        p.choose(
          p.nullList(rest),
          p.integer(0),
          p.scope(function* () {
            const output = yield* p.bind(p.headList(rest))
            return p.addInteger(
              p.choose(includes(counted, output), p.integer(0), each(p.unBData(output))),
              p.call<PInt>(self(p.tailList(rest)), p.prepend(output, counted)),
            )
          }),
        ),
      ),
    )(outputs),
    p.listOf(),
  )
