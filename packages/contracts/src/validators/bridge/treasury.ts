import type { PBool, PData, PInt, PLam, PList, PType, PUnit, Term } from '@harmoniclabs/plu-ts'
import { BridgeDatum, Deposit, leastMerged, OutputDatum, Registry } from '../../layout.js'
import {
  addressOf,
  datumFieldOf,
  datumOf,
  inputHolding,
  inputsOf,
  lovelaceOf,
  mintOf,
  paymentCredentialOf,
  referenceInputsOf,
  resolvedOf,
  scriptFieldOf,
  valueFieldOf,
} from '../core/context.js'
import { any, at, both, constr, constructorOf, either, fieldsOf, includes, none, not } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import * as p from '../core/term.js'

/** The parameters of the bridge's script, as data, in the blueprint's order. */
export interface BridgeParameters {
  /** Bytes: policy of the operator registry, which names the state queue. */
  readonly registryPolicy: p.Data
  /** Bytes: asset name of the state queue's root. */
  readonly rootName: p.Data
  /** List of bytes: the policies that layer 1 backs. */
  readonly bridged: p.Data
  /** Integer: least lovelace in a reserve. */
  readonly reserveMin: p.Data
  /** Integer: lovelace of a withdrawal that the payer may keep. */
  readonly payoutFee: p.Data
}

/** A transaction that spends from the bridge. */
export interface BridgeSpending {
  /** The fields of `TxInfo`. */
  readonly transaction: p.List
  /** The reference to the output that the script is run for, and the output. */
  readonly reference: p.Data
  readonly own: p.Data
}

/** Bytes: the policy of the state queue, by the registry among the reference inputs. */
export const queueOf = (transaction: p.List, { registryPolicy }: BridgeParameters): p.Data =>
  at(
    fieldsOf(datumOf(resolvedOf(inputHolding(referenceInputsOf(transaction), registryPolicy)))),
    Registry.queue,
  )

/** The judgement of what a transaction takes from the treasury and gives back. */
export interface Treasury {
  /**
   * The reserves among some outputs, and what is owed, are at least what the transaction takes.
   *
   * @param isPayout whether the input that leads is a settlement, and not of the treasury. A payout makes no
   * more reserves than it takes outputs, and the first may be small. Tidying makes one. If a reserve leads
   * it, it takes reserves too, and many outputs
   * @param confirmed POSIX milliseconds: deposits with an earlier time are of the treasury
   * @param owed lovelace
   */
  balances(isPayout: boolean, confirmed: p.Int, outputs: p.List, owed: p.Int): p.Unit
}

/** Whether an output holds only ada. */
export const holdsOnlyAda = p.define<PData, PBool>((output) =>
  p.nullList(p.tailList(p.unMapData(valueFieldOf(output)))),
)

/**
 * Opens the treasury: the outputs at the bridge but the settlements. Reserves have no datum. A deposit's
 * money is of the treasury once the block that credits it is confirmed.
 *
 * Only ada is counted. Other assets of the treasury stay there or are paid, because no output elsewhere
 * holds any but what is paid, and because the transaction mints and burns none that the bridge backs.
 */
export function* treasuryOf(
  book: RuleBook,
  parameters: BridgeParameters,
  spending: BridgeSpending,
): Generator<Term<PType>, Treasury, Term<PType>> {
  const { transaction, own } = spending
  const credential = yield* p.bind(paymentCredentialOf(own))

  const judged = yield* p.bind(
    p.lambda<PBool, PLam<PInt, PLam<PList<PData>, PLam<PInt, PUnit>>>>((isPayout) =>
      p.lambda((confirmed) =>
        p.lambda((outputs) =>
          p.lambda((owed) =>
            p.scope(function* () {
              const isOfReserves = yield* p.bind(isReserve(own))
              return taken(
                book,
                spending,
                credential,
                isPayout,
                either(isPayout, isOfReserves),
                confirmed,
                (spent, count) =>
                  p.scope(function* () {
                    const most = p.choose(isPayout, count, p.integer(1))
                    const rest = yield* p.bind(
                      returned(book, parameters, credential, outputs, isPayout, most),
                    )
                    return book.enforce({
                      'treasury-mints-nothing': not(
                        any(mintOf(transaction), (entry) =>
                          includes(p.unListData(parameters.bridged), p.fstPair(entry)),
                        ),
                      ),
                      'treasury-balances': p.lessThanEqualsInteger(spent, p.addInteger(owed, rest)),
                      'tidy-many': either(
                        not(isOfReserves),
                        p.lessThanEqualsInteger(p.integer(leastMerged), count),
                      ),
                    })
                  }),
              )
            }),
          ),
        ),
      ),
    ),
  )
  return {
    balances: (isPayout, confirmed, outputs, owed) =>
      p.call(judged, p.boolean(isPayout), confirmed, outputs, owed),
  }
}

/** Ends with the lovelace that the transaction takes from the treasury, and in how many outputs. */
const taken = (
  book: RuleBook,
  { transaction, reference }: BridgeSpending,
  credential: p.Data,
  isPayout: p.Bool,
  mayTakeReserves: p.Bool,
  confirmed: p.Int,
  end: (spent: p.Int, count: p.Int) => p.Unit,
): p.Unit =>
  p.call<PUnit>(
    p.recursive<PList<PData>, PLam<PInt, PLam<PInt, PUnit>>>((self, rest) =>
      p.lambda((spent) =>
        p.lambda((count) =>
          p.choose(
            p.nullList(rest),
            end(spent, count),
            p.scope(function* () {
              const input = yield* p.bind(fieldsOf(p.headList(rest)))
              const output = yield* p.bind(at(input, 1))
              const next = yield* p.bind(self(p.tailList(rest)))
              return p.choose(
                both(
                  p.equalsData(paymentCredentialOf(output), credential),
                  not(both(isPayout, p.equalsData(p.headList(input), reference))),
                ),
                book.guard(
                  { 'treasury-is-confirmed': isConfirmed(output, mayTakeReserves, confirmed) },
                  p.call<PUnit>(
                    next,
                    p.addInteger(lovelaceOf(output), spent),
                    p.addInteger(p.integer(1), count),
                  ),
                ),
                p.call<PUnit>(next, spent, count),
              )
            }),
          ),
        ),
      ),
    )(inputsOf(transaction)),
    p.integer(0),
    p.integer(0),
  )

/** The lovelace of the reserves that the transaction makes. @param most how many there may be */
const returned = (
  book: RuleBook,
  { reserveMin }: BridgeParameters,
  credential: p.Data,
  outputs: p.List,
  mayBeSmall: p.Bool,
  most: p.Int,
): p.Int =>
  p.call<PInt>(
    p.recursive<PList<PData>, PLam<PBool, PLam<PInt, PInt>>>((self, rest) =>
      p.lambda((isFirst) =>
        p.lambda((left) =>
          p.choose(
            p.nullList(rest),
            p.integer(0),
            p.scope(function* () {
              const output = yield* p.bind(p.headList(rest))
              const next = yield* p.bind(self(p.tailList(rest)))
              return p.choose(
                p.equalsData(paymentCredentialOf(output), credential),
                book.guard(
                  {
                    'reserve-count': p.lessThanInteger(p.integer(0), left),
                    'reserve-address': p.equalsData(addressOf(output), constr(0, credential, none())),
                    'reserve-no-datum': p.equalsData(datumFieldOf(output), constr(OutputDatum.none)),
                    'reserve-no-script': p.equalsData(scriptFieldOf(output), none()),
                    'reserve-ada': either(
                      isFirst,
                      p.lessThanEqualsInteger(p.unIData(reserveMin), lovelaceOf(output)),
                    ),
                  },
                  p.addInteger(
                    lovelaceOf(output),
                    p.call<PInt>(next, p.boolean(false), p.subtractInteger(left, p.integer(1))),
                  ),
                ),
                book.guard(
                  { 'treasury-keeps-assets': holdsOnlyAda(output) },
                  p.call<PInt>(next, isFirst, left),
                ),
              )
            }),
          ),
        ),
      ),
    )(outputs),
    mayBeSmall,
    most,
  )

/** Whether an output of the treasury is a reserve. */
const isReserve = (output: p.Data): p.Bool =>
  p.equalsInteger(constructorOf(datumFieldOf(output)), p.integer(OutputDatum.none))

/** Whether an output is a reserve that may be taken, or a deposit with an earlier time. */
const isConfirmed = (output: p.Data, mayTakeReserves: p.Bool, confirmed: p.Int): p.Bool =>
  p.choose(
    isReserve(output),
    mayTakeReserves,
    p.scope(function* () {
      const datum = yield* p.bind(datumOf(output))
      return both(
        p.equalsInteger(constructorOf(datum), p.integer(BridgeDatum.deposit)),
        p.lessThanInteger(p.unIData(at(fieldsOf(datum), Deposit.time)), confirmed),
      )
    }),
  )
