import { ConfirmedState, hashLength, rootLength } from '../../layout.js'
import {
  equalsData,
  headList,
  integer,
  lessThanEqualsInteger,
  nullList,
  unBData,
  unIData,
} from '../core/builtins.js'
import { holds, oneToken, outputsOf, scriptCredential, signatoriesOf } from '../core/context.js'
import {
  any,
  at,
  constr,
  every,
  fieldsOf,
  hasShape,
  includes,
  isBytesOf,
  isSmall,
  none,
  not,
} from '../core/data.js'
import { outputRules } from '../core/output-rules.js'
import type { RuleBook } from '../core/rules.js'
import { keep, naming, type Unit } from '../core/term.js'
import { contentOf, elementDatum } from './list-element.js'
import type { Step } from './state-queue.js'

/** Begins a queue: mints a root and pays it to the script's own address, without staking part, as output 0. */
export const init = (book: RuleBook, { transaction, policy, minted, spent, parameters }: Step): Unit =>
  naming(function* () {
    const output = yield* keep(headList(outputsOf(transaction)))
    const state = yield* keep(contentOf(output))
    const fields = yield* keep(fieldsOf(state))
    const root = yield* keep(oneToken(policy, unBData(parameters.rootName), integer(1)))
    return book.enforce({
      'init-signed': includes(signatoriesOf(transaction), parameters.administrator),
      'init-mints-a-root': equalsData(minted, root),
      'init-spends-nothing': nullList(spent),
      'init-state': every(
        hasShape(state, 0, ConfirmedState.size),
        isBytesOf(at(fields, ConfirmedState.headerHash), hashLength),
        isBytesOf(at(fields, ConfirmedState.prevHeaderHash), hashLength),
        isBytesOf(at(fields, ConfirmedState.utxoRoot), rootLength),
        lessThanEqualsInteger(
          unIData(at(fields, ConfirmedState.startTime)),
          unIData(at(fields, ConfirmedState.endTime)),
        ),
        isSmall(at(fields, ConfirmedState.protocolVersion)),
      ),
      ...outputRules('init', output, {
        address: constr(0, scriptCredential(policy), none()),
        tokens: root,
        datum: elementDatum(state, none()),
      }),
    })
  })

/** Ends queues, whole or in part: all that is spent at the script is burned. Repair and reset do this. */
export const deinit = (book: RuleBook, { transaction, policy, parameters }: Step): Unit =>
  book.enforce({
    'deinit-signed': includes(signatoriesOf(transaction), parameters.administrator),
    'deinit-leaves-no-token': not(any(outputsOf(transaction), (output) => holds(output, policy))),
  })
