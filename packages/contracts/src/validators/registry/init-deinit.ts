import { hashLength } from '@ratatosk/block'
import { Registry } from '../../layout.js'
import { authorises, isRenounced } from '../core/authority.js'
import { equalsData, equalsInteger, headList, integer, listOf, unBData } from '../core/builtins.js'
import {
  datumOf,
  inputHolding,
  inputsOf,
  mintedQuantity,
  oneToken,
  outputsOf,
  referenceOf,
  resolvedOf,
  scriptCredential,
} from '../core/context.js'
import { any, at, boolData, constr, either, fieldsOf, isBytesOf, none, not } from '../core/data.js'
import { outputRules } from '../core/output-rules.js'
import type { RuleBook } from '../core/rules.js'
import { bind, choose, scope, type Unit } from '../core/term.js'
import { type MintContext, registryDatum } from './context.js'

/**
 * Starts the registry: mints its token and pays it to the script's address as output 0. It spends the
 * deployment output, so it happens once: under one policy there is never more than one token. It names the
 * queue permanently.
 *
 * If the administrator is renounced, the owner of the deployment output starts the queue in the same
 * transaction, because it cannot be started later.
 */
export const init = (book: RuleBook, { transaction, policy, minted, parameters }: MintContext): Unit =>
  scope(function* () {
    const { administrator, tokenName, rootName, deploymentOutput } = parameters
    const token = yield* bind(oneToken(policy, unBData(tokenName), integer(1)))
    const renounced = yield* bind(isRenounced(administrator))
    const output = yield* bind(headList(outputsOf(transaction)))
    const queue = yield* bind(at(fieldsOf(datumOf(output)), Registry.queue))
    return book.enforce({
      'registry-init-spends-deployment-output': any(inputsOf(transaction), (input) =>
        equalsData(referenceOf(input), deploymentOutput),
      ),
      'registry-init-by-administrator': either(renounced, authorises(administrator, transaction)),
      'registry-init-mints-token-only': equalsData(minted, token),
      'registry-init-names-queue': isBytesOf(queue, hashLength),
      'registry-init-starts-queue': either(
        not(renounced),
        equalsInteger(mintedQuantity(transaction, queue, rootName), integer(1)),
      ),
      ...outputRules('registry-init', output, {
        address: constr(0, scriptCredential(policy), none()),
        tokens: token,
        datum: registryDatum(listOf(), queue, choose(renounced, boolData(true), boolData(false))),
      }),
    })
  })

/** Ends a registry that has no operator, and so holds no bond, and whose queue does not run. */
export const deinit = (book: RuleBook, { transaction, policy, minted, parameters }: MintContext): Unit =>
  scope(function* () {
    const registry = inputHolding(inputsOf(transaction), policy)
    const datum = yield* bind(datumOf(resolvedOf(registry)))
    return book.enforce({
      'registry-deinit-by-administrator': authorises(parameters.administrator, transaction),
      'registry-deinit-burns-token-only': equalsData(
        minted,
        oneToken(policy, unBData(parameters.tokenName), integer(-1)),
      ),
      'registry-deinit-empty': equalsData(
        datum,
        registryDatum(listOf(), at(fieldsOf(datum), Registry.queue), boolData(false)),
      ),
    })
  })
