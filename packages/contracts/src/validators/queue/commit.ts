import { ActiveOperator, ConfirmedState, Header, Registry, rootLength } from '../../layout.js'
import {
  bData,
  blake2b224,
  divideInteger,
  equalsByteString,
  equalsData,
  equalsInteger,
  headList,
  integer,
  lessThanInteger,
  modInteger,
  nullList,
  serialiseData,
  subtractInteger,
  tailList,
  unIData,
  unListData,
} from '../core/builtins.js'
import {
  addressOf,
  datumOf,
  holds,
  mintedName,
  oneToken,
  outputsOf,
  policyOf,
  referenceInputsOf,
  resolvedOf,
  signatoriesOf,
  tokenNameOf,
  validFromOf,
  validToOf,
} from '../core/context.js'
import {
  at,
  every,
  fieldsOf,
  find,
  hasShape,
  includes,
  isBytesOf,
  isSmall,
  itemAt,
  lengthOf,
  none,
  some,
} from '../core/data.js'
import { carriedRules, outputRules } from '../core/output-rules.js'
import type { RuleBook, Rules } from '../core/rules.js'
import { choose, type Data, keep, naming, type Unit } from '../core/term.js'
import { blockName, contentOf, elementDatum, hashInName, isRoot, linkOf } from './list-element.js'
import type { Step } from './state-queue.js'

/**
 * Appends a block: spends the last element and pays it back as output 0, linked to the new block, which is output 1.
 */
export const commit = (book: RuleBook, step: Step): Unit =>
  naming(function* () {
    const { transaction, policy, minted, spent, parameters } = step
    const last = yield* keep(headList(spent))
    const content = yield* keep(contentOf(last))
    const outputs = yield* keep(outputsOf(transaction))
    const added = yield* keep(at(outputs, 1))
    const header = yield* keep(contentOf(added))
    const fields = yield* keep(fieldsOf(header))
    const hash = yield* keep(blake2b224(serialiseData(header)))
    const name = yield* keep(mintedName(minted))

    const before = yield* keep(fieldsOf(content))
    const onRoot = yield* keep(isRoot(last, parameters.rootName))
    const hashBefore = choose(
      onRoot,
      at(before, ConfirmedState.headerHash),
      bData(hashInName(tokenNameOf(last))),
    )
    const rootBefore = choose(onRoot, at(before, ConfirmedState.utxoRoot), at(before, Header.utxosRoot))
    const endBefore = choose(onRoot, at(before, ConfirmedState.endTime), at(before, Header.endTime))
    const startTime = at(fields, Header.startTime)
    const endTime = at(fields, Header.endTime)

    return book.enforce({
      'commit-token-is-header-hash': equalsByteString(name, blockName(hash)),
      'commit-mints-one-token': equalsData(minted, oneToken(policy, name, integer(1))),
      'commit-spends-one-element': nullList(tailList(spent)),
      'commit-spends-a-real-element': equalsData(policyOf(last), policy),
      'commit-at-the-tail': equalsData(linkOf(last), none()),
      'header-prev-header-hash': equalsData(at(fields, Header.prevHeaderHash), hashBefore),
      'header-prev-utxos-root': equalsData(at(fields, Header.prevUtxosRoot), rootBefore),
      'header-start-time': equalsData(startTime, endBefore),
      'header-end-time': equalsInteger(unIData(endTime), validToOf(transaction)),
      'header-not-empty': lessThanInteger(unIData(startTime), unIData(endTime)),
      'header-shape': hasShape(header, 0, Header.size),
      'header-roots': every(
        ...[Header.utxosRoot, Header.transactionsRoot, Header.depositsRoot, Header.withdrawalsRoot].map(
          (root) => isBytesOf(at(fields, root), rootLength),
        ),
      ),
      'header-protocol-version': isSmall(at(fields, Header.protocolVersion)),
      'commit-signed': includes(signatoriesOf(transaction), at(fields, Header.operatorVkey)),
      ...scheduleRules(at(fields, Header.operatorVkey), step),
      ...carriedRules('commit-carries', headList(outputs), last, elementDatum(content, some(bData(hash)))),
      ...outputRules('commit-adds', added, {
        address: addressOf(last),
        tokens: minted,
        datum: elementDatum(header, none()),
      }),
    })
  })

/**
 * Active operators take turns of equal length, counted from the beginning of POSIX time, in the order of the registry.
 * The whole validity interval lies in one turn, so the current slot does; and so no block can end far in the future.
 */
function scheduleRules(operator: Data, { transaction, parameters }: Step): Rules {
  const turnLength = unIData(parameters.turnLength)
  const turn = divideInteger(validFromOf(transaction), turnLength)
  const lastTurn = divideInteger(subtractInteger(validToOf(transaction), integer(1)), turnLength)
  const scheduled = naming(function* () {
    const registry = find(referenceInputsOf(transaction), (input) =>
      holds(resolvedOf(input), parameters.registryPolicy),
    )
    const active = yield* keep(unListData(at(fieldsOf(datumOf(resolvedOf(registry))), Registry.active)))
    const place = modInteger(turn, lengthOf(active))
    return at(fieldsOf(itemAt(active, place)), ActiveOperator.vkey)
  })
  return {
    'commit-in-turn': equalsData(scheduled, operator),
    'commit-within-one-turn': equalsInteger(turn, lastTurn),
  }
}
