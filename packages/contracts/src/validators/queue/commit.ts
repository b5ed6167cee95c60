import { headerFieldIndex as Header, headerFieldCount, rootLength } from '@ratatosk/block'
import { ConfirmedState, Registry } from '../../layout.js'
import {
  addInteger,
  bData,
  blake2b224,
  equalsByteString,
  equalsData,
  equalsInteger,
  headList,
  integer,
  lessThanEqualsInteger,
  lessThanInteger,
  multiplyInteger,
  nullList,
  serialiseData,
  tailList,
  unIData,
  unListData,
} from '../core/builtins.js'
import {
  addressOf,
  datumOf,
  inputHolding,
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
import { at, both, either, every, fieldsOf, hasShape, includes, isBytesOf, none, some } from '../core/data.js'
import { continuingOutputRules, outputRules } from '../core/output-rules.js'
import type { RuleBook, Rules } from '../core/rules.js'
import { countingAt, lastTurnOf, operatorInTurn, turnOf } from '../core/schedule.js'
import { type Bool, bind, choose, type Data, type Int, scope, type Unit } from '../core/term.js'
import { emptyHash } from '../mpf/merkle.js'
import {
  blockName,
  contentOf,
  elementDatum,
  hashInName,
  isRoot,
  linkOf,
  type QueueContext,
  type QueueParameters,
} from './context.js'

/** Appends a block: pays the last element back as output 0, linked to the new block, output 1. */
export const commit = (book: RuleBook, context: QueueContext): Unit =>
  scope(function* () {
    const { transaction, policy, minted, spent, parameters } = context
    const last = yield* bind(headList(spent))
    const content = yield* bind(contentOf(last))
    const outputs = yield* bind(outputsOf(transaction))
    const added = yield* bind(at(outputs, 1))
    const header = yield* bind(contentOf(added))
    const fields = yield* bind(fieldsOf(header))
    const hash = yield* bind(blake2b224(serialiseData(header)))
    const name = yield* bind(mintedName(minted))

    const before = yield* bind(fieldsOf(content))
    const onRoot = yield* bind(isRoot(last, parameters.rootName))
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
      'commit-token-name': equalsByteString(name, blockName(hash)),
      'commit-mints-block-only': equalsData(minted, oneToken(policy, name, integer(1))),
      'commit-spends-one-element': nullList(tailList(spent)),
      'commit-spends-genuine-element': equalsData(policyOf(last), policy),
      'commit-extends-last-element': equalsData(linkOf(last), none()),
      'commit-prev-header-hash': equalsData(at(fields, Header.prevHeaderHash), hashBefore),
      'commit-prev-utxos-root': equalsData(at(fields, Header.prevUtxosRoot), rootBefore),
      'commit-start-time': equalsData(startTime, endBefore),
      'commit-end-time': equalsInteger(unIData(endTime), validToOf(transaction)),
      'commit-positive-duration': lessThanInteger(unIData(startTime), unIData(endTime)),
      'commit-header-shape': hasShape(header, 0, headerFieldCount),
      'commit-root-lengths': both(
        isBytesOf(at(fields, Header.utxosRoot), rootLength),
        isBytesOf(at(fields, Header.transactionsRoot), rootLength),
      ),
      'commit-event-roots': both(
        isEventRoot(at(fields, Header.depositsRoot), parameters),
        isEventRoot(at(fields, Header.withdrawalsRoot), parameters),
      ),
      'commit-block-version': equalsData(at(fields, Header.blockVersion), parameters.blockVersion),
      'commit-signed-by-operator': includes(signatoriesOf(transaction), at(fields, Header.operatorVkey)),
      ...scheduleRules(at(fields, Header.operatorVkey), unIData(startTime), context),
      ...continuingOutputRules(
        'commit-continues',
        headList(outputs),
        last,
        elementDatum(content, some(bData(hash))),
      ),
      ...outputRules('commit-appends', added, {
        address: addressOf(last),
        tokens: minted,
        datum: elementDatum(header, none()),
      }),
    })
  })

/** Whether a root has the length of one; without a bridge, whether it is that of an empty map. */
const isEventRoot = (root: Data, { bridge }: QueueParameters): Bool =>
  choose(isBytesOf(bridge, 0), equalsData(root, bData(emptyHash())), isBytesOf(root, rootLength))

/**
 * The validity interval lies in one turn, and so does the slot that includes the transaction. An operator who
 * is not in turn takes over only when nothing was committed for a while, and only for as long: a block that
 * ended with the turn would leave the one in turn nothing of it.
 *
 * @param endBefore end of the block before
 */
function scheduleRules(operator: Data, endBefore: Int, { transaction, parameters }: QueueContext): Rules {
  const turnLength = unIData(parameters.turnLength)
  const turn = turnOf(validFromOf(transaction), turnLength)
  const registry = inputHolding(referenceInputsOf(transaction), parameters.registryPolicy)
  const operators = unListData(at(fieldsOf(datumOf(resolvedOf(registry))), Registry.operators))
  return {
    'commit-in-turn': scope(function* () {
      const number = yield* bind(turn)
      const start = yield* bind(multiplyInteger(number, turnLength))
      const counting = yield* bind(countingAt(start, operators))
      const from = yield* bind(validFromOf(transaction))
      const after = yield* bind(unIData(parameters.takeOverAfter))
      return either(
        equalsData(operatorInTurn(number, counting), operator),
        every(
          lessThanEqualsInteger(addInteger(endBefore, after), from),
          lessThanEqualsInteger(validToOf(transaction), addInteger(from, after)),
          includes(counting, operator),
        ),
      )
    }),
    'commit-within-one-turn': equalsInteger(turn, lastTurnOf(transaction, turnLength)),
  }
}
