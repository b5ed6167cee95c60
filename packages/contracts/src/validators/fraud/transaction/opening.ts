import type { PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import { headerFieldIndex } from '@ratatosk/block'
import {
  addInteger,
  blake2b256,
  divideInteger,
  equalsByteString,
  headList,
  integer,
  listOf,
  nullList,
  prepend,
  subtractInteger,
  tailList,
  unBData,
  unIData,
} from '../../core/builtins.js'
import { at, either, fieldsOf, includes } from '../../core/data.js'
import {
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
} from '../../core/term.js'
import { type Opening, type Supplied, type Transactions, transactionsOf, witnessSetsOf } from '../openings.js'
import type { FraudCheck as CheckOf, Frauds } from '../policy.js'
import { hashesBefore, resolvedHashOf } from '../records.js'

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

/** The parts of a header that these frauds read. */
export interface Opened extends Pick<Transactions, 'transactionIn' | 'bodyIn'>, Supplied {
  /** The slots that the block touches, both included. */
  slots(): { readonly first: Int; readonly last: Int }
  /**
   * Outputs of the first inputs of a record's transaction, then reference inputs: byte strings as data.
   * @param hashes of the outputs that the others stand for, 32 bytes each
   */
  resolvedIn(record: Bytes, outputs: List, hashes: Bytes): List
}

export const openings = (parameters: RuleParameters): Frauds<Opened>['open'] =>
  function* (book, evidence): Opening<Opened> {
    const { header } = evidence
    const { transactionIn, bodyIn } = yield* transactionsOf(book, evidence)
    const { supplied, suppliedAll, witnessSetIn } = yield* witnessSetsOf(book, evidence)
    const resolvedIn = yield* bind(
      lambda<PByteString, PLam<PList<PData>, PLam<PByteString, PList<PData>>>>((record) =>
        lambda((shown) =>
          lambda((hashes) =>
            scope(function* () {
              const outputs = yield* bind(suppliedAll(shown))
              yield* bind(
                book.enforce({
                  'resolved-outputs-are-recorded': either(
                    nullList(outputs),
                    equalsByteString(blake2b256(hashesBefore(outputs, hashes)), resolvedHashOf(record)),
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
      suppliedAll,
      witnessSetIn,
      resolvedIn: (record, outputs, hashes) => call<PList<PData>>(resolvedIn, record, outputs, hashes),
    }
  }

export type FraudCheck = CheckOf<Opened>

/** Sums over outputs as `resolvedIn` gives them. */
export type SumOverOutputs = (outputs: List, each: (output: Bytes) => Int) => Int

export const sumOverAll: SumOverOutputs = (outputs, each) =>
  recursive<PList<PData>, PInt>((self, rest) =>
    choose(nullList(rest), integer(0), addInteger(each(unBData(headList(rest))), self(tailList(rest)))),
  )(outputs)

/**
 * The same, of equal outputs only once: an output that is an input and a reference input is there twice.
 * Other equal outputs count as one too, which makes the sum smaller.
 */
export const sumOverDistinct: SumOverOutputs = (outputs, each) =>
  call<PInt>(
    recursive<PList<PData>, PLam<PList<PData>, PInt>>((self, rest) =>
      lambda((counted) =>
        choose(
          nullList(rest),
          integer(0),
          scope(function* () {
            const output = yield* bind(headList(rest))
            return addInteger(
              choose(includes(counted, output), integer(0), each(unBData(output))),
              call<PInt>(self(tailList(rest)), prepend(output, counted)),
            )
          }),
        ),
      ),
    )(outputs),
    listOf(),
  )
