import type { PBool, PData, PInt, PLam, PList, PType, PUnit, Term } from '@harmoniclabs/plu-ts'
import { BridgeDatum, Deposit, OutputDatum } from '../../layout.js'
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
   * @param isPayout whether the input that leads is a settlement, and not of the treasury. A payout also
   * takes reserves, and the first that it makes may be small
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
  { bridged, reserveMin }: BridgeParameters,
  { transaction, own, reference }: BridgeSpending,
): Generator<Term<PType>, Treasury, Term<PType>> {
  const credential = yield* bind(paymentCredentialOf(own))

  const taken = (isPayout: Bool, confirmed: Int): Int =>
    recursive<PList<PData>, PInt>((self, rest) =>
      choose(
        nullList(rest),
        integer(0),
        scope(function* () {
          const input = yield* bind(fieldsOf(headList(rest)))
          const output = yield* bind(at(input, 1))
          const others = yield* bind(self(tailList(rest)))
          return choose(
            equalsData(paymentCredentialOf(output), credential),
            choose(
              both(isPayout, equalsData(headList(input), reference)),
              others,
              book.guard(
                { 'treasury-is-confirmed': isConfirmed(output, isPayout, confirmed) },
                addInteger(lovelaceOf(output), others),
              ),
            ),
            others,
          )
        }),
      ),
    )(inputsOf(transaction))

  const returned = (outputs: List, mayBeSmall: Bool): Int =>
    call<PInt>(
      recursive<PList<PData>, PLam<PBool, PInt>>((self, rest) =>
        lambda((isFirst) =>
          choose(
            nullList(rest),
            integer(0),
            scope(function* () {
              const output = yield* bind(headList(rest))
              return choose(
                equalsData(paymentCredentialOf(output), credential),
                book.guard(
                  {
                    'reserve-address': equalsData(addressOf(output), constr(0, credential, none())),
                    'reserve-no-datum': equalsData(datumFieldOf(output), constr(OutputDatum.none)),
                    'reserve-no-script': equalsData(scriptFieldOf(output), none()),
                    'reserve-ada': either(
                      isFirst,
                      lessThanEqualsInteger(unIData(reserveMin), lovelaceOf(output)),
                    ),
                  },
                  addInteger(lovelaceOf(output), call<PInt>(self(tailList(rest)), boolean(false))),
                ),
                book.guard(
                  { 'treasury-keeps-assets': holdsOnlyAda(output) },
                  call<PInt>(self(tailList(rest)), isFirst),
                ),
              )
            }),
          ),
        ),
      )(outputs),
      mayBeSmall,
    )

  const judged = yield* bind(
    lambda<PBool, PLam<PInt, PLam<PList<PData>, PLam<PInt, PUnit>>>>((isPayout) =>
      lambda((confirmed) =>
        lambda((outputs) =>
          lambda((owed) =>
            scope(function* () {
              const spent = yield* bind(taken(isPayout, confirmed))
              const rest = yield* bind(returned(outputs, isPayout))
              return book.enforce({
                'treasury-mints-nothing': not(
                  any(mintOf(transaction), (entry) => includes(unListData(bridged), fstPair(entry))),
                ),
                'treasury-balances': lessThanEqualsInteger(spent, addInteger(owed, rest)),
              })
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

/** Whether an output is a reserve that may be taken, or a deposit with an earlier time. */
const isConfirmed = (output: Data, mayTakeReserves: Bool, confirmed: Int): Bool =>
  choose(
    equalsInteger(constructorOf(datumFieldOf(output)), integer(OutputDatum.none)),
    mayTakeReserves,
    scope(function* () {
      const datum = yield* bind(datumOf(output))
      return both(
        equalsInteger(constructorOf(datum), integer(BridgeDatum.deposit)),
        lessThanInteger(unIData(at(fieldsOf(datum), Deposit.time)), confirmed),
      )
    }),
  )
