import type { PBool, PData, PInt, PLam, PList, PType, PUnit, Term } from '@harmoniclabs/plu-ts'
import { BridgeDatum, Deposit, leastMerged, OutputDatum } from '../../layout.js'
import {
  addInteger,
  boolean,
  equalsData,
  equalsInteger,
  fstPair,
  headList,
  integer,
  lessThanEqualsInteger,
  lessThanInteger,
  nullList,
  subtractInteger,
  tailList,
  unIData,
  unListData,
  unMapData,
} from '../core/builtins.js'
import {
  addressOf,
  datumFieldOf,
  datumOf,
  inputsOf,
  lovelaceOf,
  mintOf,
  paymentCredentialOf,
  scriptFieldOf,
  valueFieldOf,
} from '../core/context.js'
import { any, at, both, constr, constructorOf, either, fieldsOf, includes, none, not } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import {
  type Bool,
  bind,
  call,
  choose,
  type Data,
  define,
  type Int,
  type List,
  lambda,
  recursive,
  scope,
  type Unit,
} from '../core/term.js'
import type { BridgeParameters, BridgeSpending } from './context.js'

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
  balances(isPayout: boolean, confirmed: Int, outputs: List, owed: Int): Unit
}

/** Whether an output holds only ada. */
export const holdsOnlyAda = define<PData, PBool>((output) =>
  nullList(tailList(unMapData(valueFieldOf(output)))),
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
  const credential = yield* bind(paymentCredentialOf(own))

  const judged = yield* bind(
    lambda<PBool, PLam<PInt, PLam<PList<PData>, PLam<PInt, PUnit>>>>((isPayout) =>
      lambda((confirmed) =>
        lambda((outputs) =>
          lambda((owed) =>
            scope(function* () {
              const isOfReserves = yield* bind(isReserve(own))
              return taken(
                book,
                spending,
                credential,
                isPayout,
                either(isPayout, isOfReserves),
                confirmed,
                (spent, count) =>
                  scope(function* () {
                    const most = choose(isPayout, count, integer(1))
                    const rest = yield* bind(returned(book, parameters, credential, outputs, isPayout, most))
                    return book.enforce({
                      'treasury-mints-nothing': not(
                        any(mintOf(transaction), (entry) =>
                          includes(unListData(parameters.bridged), fstPair(entry)),
                        ),
                      ),
                      'treasury-balances': lessThanEqualsInteger(spent, addInteger(owed, rest)),
                      'tidy-many': either(
                        not(isOfReserves),
                        lessThanEqualsInteger(integer(leastMerged), count),
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
      call(judged, boolean(isPayout), confirmed, outputs, owed),
  }
}

/** Ends with the lovelace that the transaction takes from the treasury, and in how many outputs. */
const taken = (
  book: RuleBook,
  { transaction, reference }: BridgeSpending,
  credential: Data,
  isPayout: Bool,
  mayTakeReserves: Bool,
  confirmed: Int,
  end: (spent: Int, count: Int) => Unit,
): Unit =>
  call<PUnit>(
    recursive<PList<PData>, PLam<PInt, PLam<PInt, PUnit>>>((self, rest) =>
      lambda((spent) =>
        lambda((count) =>
          choose(
            nullList(rest),
            end(spent, count),
            scope(function* () {
              const input = yield* bind(fieldsOf(headList(rest)))
              const output = yield* bind(at(input, 1))
              const next = yield* bind(self(tailList(rest)))
              return choose(
                both(
                  equalsData(paymentCredentialOf(output), credential),
                  not(both(isPayout, equalsData(headList(input), reference))),
                ),
                book.guard(
                  { 'treasury-is-confirmed': isConfirmed(output, mayTakeReserves, confirmed) },
                  call<PUnit>(next, addInteger(lovelaceOf(output), spent), addInteger(integer(1), count)),
                ),
                call<PUnit>(next, spent, count),
              )
            }),
          ),
        ),
      ),
    )(inputsOf(transaction)),
    integer(0),
    integer(0),
  )

/** The lovelace of the reserves that the transaction makes. @param most how many there may be */
const returned = (
  book: RuleBook,
  { reserveMin }: BridgeParameters,
  credential: Data,
  outputs: List,
  mayBeSmall: Bool,
  most: Int,
): Int =>
  call<PInt>(
    recursive<PList<PData>, PLam<PBool, PLam<PInt, PInt>>>((self, rest) =>
      lambda((isFirst) =>
        lambda((left) =>
          choose(
            nullList(rest),
            integer(0),
            scope(function* () {
              const output = yield* bind(headList(rest))
              const next = yield* bind(self(tailList(rest)))
              return choose(
                equalsData(paymentCredentialOf(output), credential),
                book.guard(
                  {
                    'reserve-count': lessThanInteger(integer(0), left),
                    'reserve-address': equalsData(addressOf(output), constr(0, credential, none())),
                    'reserve-no-datum': equalsData(datumFieldOf(output), constr(OutputDatum.none)),
                    'reserve-no-script': equalsData(scriptFieldOf(output), none()),
                    'reserve-ada': either(
                      isFirst,
                      lessThanEqualsInteger(unIData(reserveMin), lovelaceOf(output)),
                    ),
                  },
                  addInteger(
                    lovelaceOf(output),
                    call<PInt>(next, boolean(false), subtractInteger(left, integer(1))),
                  ),
                ),
                book.guard(
                  { 'treasury-keeps-assets': holdsOnlyAda(output) },
                  call<PInt>(next, isFirst, left),
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
const isReserve = (output: Data): Bool =>
  equalsInteger(constructorOf(datumFieldOf(output)), integer(OutputDatum.none))

/** Whether an output is a reserve that may be taken, or a deposit with an earlier time. */
const isConfirmed = (output: Data, mayTakeReserves: Bool, confirmed: Int): Bool =>
  choose(
    isReserve(output),
    mayTakeReserves,
    scope(function* () {
      const datum = yield* bind(datumOf(output))
      return both(
        equalsInteger(constructorOf(datum), integer(BridgeDatum.deposit)),
        lessThanInteger(unIData(at(fieldsOf(datum), Deposit.time)), confirmed),
      )
    }),
  )
