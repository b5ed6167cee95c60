import { headerFieldIndex as Header, hashLength, headerFieldCount, rootLength } from '@ratatosk/block'
import { ConfirmedState, QueueAction, Registry, settlementAda } from '../../layout.js'
import {
  addressOf,
  anyHolds,
  authorises,
  datumOf,
  hasKey,
  inputHolding,
  inputsOf,
  lookUp,
  lovelaceOf,
  mintedName,
  mintedQuantity,
  mintOf,
  mintsUnderGuardOf,
  noTokens,
  oneToken,
  outputHolding,
  outputsOf,
  Purpose,
  policyOf,
  redeemerOf,
  referenceInputsOf,
  resolvedOf,
  scriptCredential,
  scriptInfoOf,
  signatoriesOf,
  spentAt,
  spentBy,
  tokenNameOf,
  transactionOf,
  validFromOf,
  validToOf,
} from '../core/context.js'
import {
  at,
  both,
  branch,
  constr,
  constructorOf,
  either,
  every,
  fieldsOf,
  hasShape,
  includes,
  isBytesOf,
  isSmall,
  isTrue,
  none,
  not,
  skipAbout,
  some,
} from '../core/data.js'
import { continuingOutputRules, outputRules, type RuleBook, type Rules } from '../core/rules.js'
import { countingAt, lastTurnOf, operatorInTurn, turnOf } from '../core/schedule.js'
import * as p from '../core/term.js'
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
  refundAddress,
} from './context.js'
import { prune, remove } from './removals.js'

/**
 * The state queue: one script that is both minting policy and spending validator, so that each knows the
 * other's hash.
 *
 * A token of the policy stays at the script's address from mint to burn. A transaction that spends there must
 * also mint or burn under the policy, so the policy's rules judge the whole transaction, once, however many
 * elements it spends.
 */
export const stateQueue = (book: RuleBook, parameters: QueueParameters, context: p.Data): p.Unit =>
  p.scope(function* () {
    const transaction = yield* p.bind(transactionOf(context))
    const info = yield* p.bind(scriptInfoOf(context))
    const purpose = yield* p.bind(constructorOf(info))
    return branch(
      purpose,
      [Purpose.minting, mint(book, parameters, transaction, at(fieldsOf(info), 0), redeemerOf(context))],
      [Purpose.spending, spend(book, transaction, at(fieldsOf(info), 0), redeemerOf(context))],
    )
  })

const mint = (
  book: RuleBook,
  parameters: QueueParameters,
  transaction: p.List,
  own: p.Data,
  redeemer: p.Data,
): p.Unit =>
  p.scope(function* () {
    const policy = yield* p.bind(own)
    const minted = yield* p.bind(p.mapOf(policy, lookUp(mintOf(transaction), policy)))
    const spent = yield* p.bind(spentAt(inputsOf(transaction), scriptCredential(policy)))
    const action = yield* p.bind(constructorOf(redeemer))
    const context: QueueContext = { parameters, transaction, policy, minted, spent }
    return branch(
      action,
      [QueueAction.commit, commit(book, context)],
      [QueueAction.merge, merge(book, context)],
      [QueueAction.init, init(book, context)],
      [QueueAction.deinit, deinit(book, context)],
      [QueueAction.remove, remove(book, context, redeemer)],
      [QueueAction.prune, prune(book, context, redeemer)],
    )
  })

/** @param redeemer a lower bound on the input's index, which spares a search where many elements are spent */
const spend = (book: RuleBook, transaction: p.List, reference: p.Data, redeemer: p.Data): p.Unit =>
  p.scope(function* () {
    const inputs = yield* p.bind(skipAbout(inputsOf(transaction), p.unIData(redeemer)))
    return book.enforce({
      'spend-under-policy': mintsUnderGuardOf(transaction, spentBy(inputs, reference)),
    })
  })

/** Appends a block: pays the last element back as output 0, linked to the new block, output 1. */
const commit = (book: RuleBook, context: QueueContext): p.Unit =>
  p.scope(function* () {
    const { transaction, policy, minted, spent, parameters } = context
    const last = yield* p.bind(p.headList(spent))
    const content = yield* p.bind(contentOf(last))
    const outputs = yield* p.bind(outputsOf(transaction))
    const added = yield* p.bind(at(outputs, 1))
    const header = yield* p.bind(contentOf(added))
    const fields = yield* p.bind(fieldsOf(header))
    const hash = yield* p.bind(p.blake2b224(p.serialiseData(header)))
    const name = yield* p.bind(mintedName(minted))

    const before = yield* p.bind(fieldsOf(content))
    const onRoot = yield* p.bind(isRoot(last, parameters.rootName))
    const hashBefore = p.choose(
      onRoot,
      at(before, ConfirmedState.headerHash),
      p.bData(hashInName(tokenNameOf(last))),
    )
    const rootBefore = p.choose(onRoot, at(before, ConfirmedState.utxoRoot), at(before, Header.utxosRoot))
    const endBefore = p.choose(onRoot, at(before, ConfirmedState.endTime), at(before, Header.endTime))
    const startTime = at(fields, Header.startTime)
    const endTime = at(fields, Header.endTime)

    return book.enforce({
      'commit-token-name': p.equalsByteString(name, blockName(hash)),
      'commit-mints-block-only': p.equalsData(minted, oneToken(policy, name, p.integer(1))),
      'commit-spends-one-element': p.nullList(p.tailList(spent)),
      'commit-spends-genuine-element': p.equalsData(policyOf(last), policy),
      'commit-extends-last-element': p.equalsData(linkOf(last), none()),
      'commit-prev-header-hash': p.equalsData(at(fields, Header.prevHeaderHash), hashBefore),
      'commit-prev-utxos-root': p.equalsData(at(fields, Header.prevUtxosRoot), rootBefore),
      'commit-start-time': p.equalsData(startTime, endBefore),
      'commit-end-time': p.equalsInteger(p.unIData(endTime), validToOf(transaction)),
      'commit-positive-duration': p.lessThanInteger(p.unIData(startTime), p.unIData(endTime)),
      'commit-header-shape': hasShape(header, 0, headerFieldCount),
      'commit-root-lengths': both(
        isBytesOf(at(fields, Header.utxosRoot), rootLength),
        isBytesOf(at(fields, Header.transactionsRoot), rootLength),
      ),
      'commit-event-roots': both(
        isEventRoot(at(fields, Header.depositsRoot), parameters),
        isEventRoot(at(fields, Header.withdrawalsRoot), parameters),
      ),
      'commit-block-version': p.equalsData(at(fields, Header.blockVersion), parameters.blockVersion),
      'commit-signed-by-operator': includes(signatoriesOf(transaction), at(fields, Header.operatorVkey)),
      ...scheduleRules(at(fields, Header.operatorVkey), p.unIData(startTime), context),
      ...continuingOutputRules(
        'commit-continues',
        p.headList(outputs),
        last,
        elementDatum(content, some(p.bData(hash))),
      ),
      ...outputRules('commit-appends', added, {
        address: addressOf(last),
        tokens: minted,
        datum: elementDatum(header, none()),
      }),
    })
  })

/** Whether a root has the length of one; without a bridge, whether it is that of an empty map. */
const isEventRoot = (root: p.Data, { bridge }: QueueParameters): p.Bool =>
  p.choose(isBytesOf(bridge, 0), p.equalsData(root, p.bData(emptyHash())), isBytesOf(root, rootLength))

/**
 * The validity interval lies in one turn, and so does the slot that includes the transaction. An operator who
 * is not in turn takes over only when nothing was committed for a while, and only for as long: a block that
 * ended with the turn would leave the one in turn nothing of it.
 *
 * @param endBefore end of the block before
 */
function scheduleRules(operator: p.Data, endBefore: p.Int, { transaction, parameters }: QueueContext): Rules {
  const turnLength = p.unIData(parameters.turnLength)
  const turn = turnOf(validFromOf(transaction), turnLength)
  const registry = inputHolding(referenceInputsOf(transaction), parameters.registryPolicy)
  const operators = p.unListData(at(fieldsOf(datumOf(resolvedOf(registry))), Registry.operators))
  return {
    'commit-in-turn': p.scope(function* () {
      const number = yield* p.bind(turn)
      const start = yield* p.bind(p.multiplyInteger(number, turnLength))
      const counting = yield* p.bind(countingAt(start, operators))
      const from = yield* p.bind(validFromOf(transaction))
      const after = yield* p.bind(p.unIData(parameters.takeOverAfter))
      return either(
        p.equalsData(operatorInTurn(number, counting), operator),
        every(
          p.lessThanEqualsInteger(p.addInteger(endBefore, after), from),
          p.lessThanEqualsInteger(validToOf(transaction), p.addInteger(from, after)),
          includes(counting, operator),
        ),
      )
    }),
    'commit-within-one-turn': p.equalsInteger(turn, lastTurnOf(transaction, turnLength)),
  }
}

/**
 * Merges the oldest block: spends the root and the block, burns the block's token, pays the root back as
 * output 0 with the block's state, and returns the block's ada to its operator as output 1. If outputs leave
 * layer 2 by the block, the bridge makes their settlement, which may take a part of this ada.
 */
const merge = (book: RuleBook, { transaction, policy, minted, spent, parameters }: QueueContext): p.Unit =>
  p.scope(function* () {
    const first = yield* p.bind(p.headList(spent))
    const second = yield* p.bind(at(spent, 1))
    const rootFirst = yield* p.bind(isRoot(first, parameters.rootName))
    const root = yield* p.bind(p.choose(rootFirst, first, second))
    const block = yield* p.bind(p.choose(rootFirst, second, first))
    const name = yield* p.bind(tokenNameOf(block))
    const hash = yield* p.bind(p.bData(hashInName(name)))
    const fields = yield* p.bind(fieldsOf(contentOf(block)))
    const outputs = yield* p.bind(outputsOf(transaction))
    const refund = yield* p.bind(at(outputs, 1))
    const owesNothing = yield* p.bind(p.equalsData(at(fields, Header.withdrawalsRoot), p.bData(emptyHash())))
    const state = constr(
      0,
      hash,
      at(fields, Header.prevHeaderHash),
      at(fields, Header.utxosRoot),
      at(fields, Header.startTime),
      at(fields, Header.endTime),
      at(fields, Header.blockVersion),
    )
    return book.enforce({
      'merge-spends-two-elements': p.nullList(p.tailList(p.tailList(spent))),
      'merge-spends-genuine-root': both(
        p.equalsData(policyOf(root), policy),
        p.equalsByteString(tokenNameOf(root), p.unBData(parameters.rootName)),
      ),
      'merge-follows-confirmed-state': p.equalsData(
        at(fields, Header.prevHeaderHash),
        at(fieldsOf(contentOf(root)), ConfirmedState.headerHash),
      ),
      'merge-oldest-block': p.equalsData(linkOf(root), some(hash)),
      'merge-burns-block-only': p.equalsData(minted, oneToken(policy, name, p.integer(-1))),
      // The bridge's rules say what the settlement is.
      'merge-settles': either(
        owesNothing,
        p.equalsInteger(mintedQuantity(transaction, parameters.bridge, hash), p.integer(1)),
      ),
      'merge-mature': p.lessThanEqualsInteger(
        p.addInteger(p.unIData(at(fields, Header.endTime)), p.unIData(parameters.maturityWindow)),
        validFromOf(transaction),
      ),
      ...continuingOutputRules(
        'merge-continues',
        p.headList(outputs),
        root,
        elementDatum(state, linkOf(block)),
      ),
      ...outputRules('merge-refunds', refund, {
        address: refundAddress(fields),
        tokens: noTokens(),
        // Names the block, so that no other contract can count this payment as its own.
        datum: hash,
      }),
      'merge-refunds-ada': p.lessThanEqualsInteger(
        lovelaceOf(block),
        p.addInteger(lovelaceOf(refund), p.choose(owesNothing, p.integer(0), p.integer(settlementAda))),
      ),
    })
  })

/** Bytes: the policy of the queue that an output of the registry names. */
const queueOf = (registry: p.Data): p.Data => at(fieldsOf(datumOf(registry)), Registry.queue)
const isRunning = (registry: p.Data): p.Bool => isTrue(at(fieldsOf(datumOf(registry)), Registry.running))

/**
 * Starts the queue: mints its root, pays it to the script's address as output 1, and has the registry, output
 * 0, note that the queue runs. The registry asks for the administrator; if the administrator is renounced, it
 * starts in the same transaction.
 */
const init = (book: RuleBook, { transaction, policy, minted, spent, parameters }: QueueContext): p.Unit =>
  p.scope(function* () {
    const outputs = yield* p.bind(outputsOf(transaction))
    const output = yield* p.bind(at(outputs, 1))
    const state = yield* p.bind(contentOf(output))
    const fields = yield* p.bind(fieldsOf(state))
    const root = yield* p.bind(oneToken(policy, p.unBData(parameters.rootName), p.integer(1)))
    const { registryPolicy } = parameters
    const before = inputHolding(inputsOf(transaction), registryPolicy)
    const after = yield* p.bind(outputHolding(outputs, registryPolicy))
    return book.enforce({
      'init-mints-root-only': p.equalsData(minted, root),
      'init-spends-no-element': p.nullList(spent),
      'init-not-running': either(
        hasKey(mintOf(transaction), registryPolicy),
        not(isRunning(resolvedOf(before))),
      ),
      'init-registry-notes': both(p.equalsData(queueOf(after), policy), isRunning(after)),
      'init-state-well-formed': every(
        hasShape(state, 0, ConfirmedState.size),
        isBytesOf(at(fields, ConfirmedState.headerHash), hashLength),
        isBytesOf(at(fields, ConfirmedState.prevHeaderHash), hashLength),
        isBytesOf(at(fields, ConfirmedState.utxoRoot), rootLength),
        p.lessThanEqualsInteger(
          p.unIData(at(fields, ConfirmedState.startTime)),
          p.unIData(at(fields, ConfirmedState.endTime)),
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
const deinit = (book: RuleBook, { transaction, policy, minted, parameters }: QueueContext): p.Unit =>
  p.scope(function* () {
    const outputs = yield* p.bind(outputsOf(transaction))
    const names = p.unMapData(p.sndPair(p.headList(p.unMapData(minted))))
    return book.enforce({
      'deinit-by-administrator': authorises(parameters.administrator, transaction),
      'deinit-leaves-no-token': not(anyHolds(outputs, policy)),
      'deinit-registry-notes': either(
        not(hasKey(names, parameters.rootName)),
        not(isRunning(outputHolding(outputs, parameters.registryPolicy))),
      ),
    })
  })
