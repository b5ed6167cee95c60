import { hashLength, rootLength } from '@ratatosk/block'
import { ConfirmedState, Registry } from '../../layout.js'
import { authorises } from '../core/authority.js'
import {
  equalsData,
  headList,
  integer,
  lessThanEqualsInteger,
  nullList,
  sndPair,
  unBData,
  unIData,
  unMapData,
} from '../core/builtins.js'
import {
  anyHolds,
  datumOf,
  hasKey,
  inputHolding,
  inputsOf,
  mintOf,
  oneToken,
  outputHolding,
  outputsOf,
  resolvedOf,
  scriptCredential,
} from '../core/context.js'
import {
  at,
  both,
  constr,
  either,
  every,
  fieldsOf,
  hasShape,
  isBytesOf,
  isSmall,
  isTrue,
  none,
  not,
} from '../core/data.js'
import { outputRules } from '../core/output-rules.js'
import type { RuleBook } from '../core/rules.js'
import { type Bool, bind, type Data, scope, type Unit } from '../core/term.js'
import { contentOf, elementDatum, type QueueContext } from './context.js'

/** Bytes: the policy of the queue that an output of the registry names. */
const queueOf = (registry: Data): Data => at(fieldsOf(datumOf(registry)), Registry.queue)
const isRunning = (registry: Data): Bool => isTrue(at(fieldsOf(datumOf(registry)), Registry.running))

/**
 * Starts the queue: mints its root, pays it to the script's address as output 1, and has the registry, output
 * 0, note that the queue runs. The registry asks for the administrator; if the administrator is renounced, it
 * starts in the same transaction.
 */
export const init = (
  book: RuleBook,
  { transaction, policy, minted, spent, parameters }: QueueContext,
): Unit =>
  scope(function* () {
    const outputs = yield* bind(outputsOf(transaction))
    const output = yield* bind(at(outputs, 1))
    const state = yield* bind(contentOf(output))
    const fields = yield* bind(fieldsOf(state))
    const root = yield* bind(oneToken(policy, unBData(parameters.rootName), integer(1)))
    const { registryPolicy } = parameters
    const before = inputHolding(inputsOf(transaction), registryPolicy)
    const after = yield* bind(outputHolding(outputs, registryPolicy))
    return book.enforce({
      'init-mints-root-only': equalsData(minted, root),
      'init-spends-no-element': nullList(spent),
      'init-not-running': either(
        hasKey(mintOf(transaction), registryPolicy),
        not(isRunning(resolvedOf(before))),
      ),
      'init-registry-notes': both(equalsData(queueOf(after), policy), isRunning(after)),
      'init-state-well-formed': every(
        hasShape(state, 0, ConfirmedState.size),
        isBytesOf(at(fields, ConfirmedState.headerHash), hashLength),
        isBytesOf(at(fields, ConfirmedState.prevHeaderHash), hashLength),
        isBytesOf(at(fields, ConfirmedState.utxoRoot), rootLength),
        lessThanEqualsInteger(
          unIData(at(fields, ConfirmedState.startTime)),
          unIData(at(fields, ConfirmedState.endTime)),
        ),
        isSmall(at(fields, ConfirmedState.blockVersion)),
      ),
      ...outputRules('init-root', output, {
        address: constr(0, scriptCredential(policy), none()),
        tokens: root,
        datum: elementDatum(state, none()),
      }),
    })
  })

/**
 * Burns every element that the transaction spends: the whole queue, or a part of it. When the root is among
 * them, the registry notes that the queue no longer runs.
 */
export const deinit = (book: RuleBook, { transaction, policy, minted, parameters }: QueueContext): Unit =>
  scope(function* () {
    const outputs = yield* bind(outputsOf(transaction))
    const names = unMapData(sndPair(headList(unMapData(minted))))
    return book.enforce({
      'deinit-by-administrator': authorises(parameters.administrator, transaction),
      'deinit-leaves-no-token': not(anyHolds(outputs, policy)),
      'deinit-registry-notes': either(
        not(hasKey(names, parameters.rootName)),
        not(isRunning(outputHolding(outputs, parameters.registryPolicy))),
      ),
    })
  })
