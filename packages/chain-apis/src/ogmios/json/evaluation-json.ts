import type { RedeemerFault } from '@ratatosk/ledger'
import type { EvaluationFailure, EvaluationResult, RedeemerPointer } from '@ratatosk/ledger/plutus'
import type { ScriptEvaluation } from '../../view/chain-view.js'
import { RpcError, type RpcErrorObject, unavailable } from '../rpc.js'
import { plutusLanguages, purposes, referenceJson } from './transaction-json.js'

/**
 * The result of `evaluateTransaction`.
 *
 * @param byRedeemer whether the error 3004 is given for each redeemer, also for unknown inputs, as Blockfrost
 *   does; the schema of Ogmios has it for the whole transaction only
 * @throws {RpcError} if there is none
 */
export function evaluationJson(
  evaluation: Exclude<ScriptEvaluation, { kind: 'malformed' }>,
  byRedeemer = false,
): unknown {
  switch (evaluation.kind) {
    case 'busy':
      throw new RpcError(unavailable, 'Too many evaluations are running. Try again in a second.')
    case 'overlapping-outputs':
      throw new RpcError(3002, 'Some additional outputs conflict with outputs of the chain.', {
        overlappingOutputReferences: evaluation.references.map(referenceJson),
      })
    case 'faulty-redeemers': {
      const failures = evaluation.faults.map(({ fault, ...pointer }) => ({
        pointer,
        error: faultJson(fault, pointer, byRedeemer),
      }))
      throw scriptFailures(failures, byRedeemer)
    }
    case 'evaluated':
      return resultJson(evaluation.result)
  }
}

/** The error for CBOR that is no transaction of the current era. */
export function incompatibleEra(era: string): RpcError {
  return new RpcError(3000, 'Trying to evaluate a transaction from an old era (prior to Alonzo).', {
    incompatibleEra: era,
  })
}

function resultJson({ ok, redeemers, failure }: EvaluationResult): unknown {
  if (failure?.kind === 'EngineFailure' || failure?.kind === 'InvalidCostModel') {
    throw noContext(failure.message)
  }
  if (ok) {
    return inOrder(redeemers).flatMap(({ outcome, ...pointer }) =>
      outcome.kind === 'Succeeded'
        ? [
            {
              validator: validator(pointer),
              budget: { memory: outcome.used.memory, cpu: outcome.used.steps },
            },
          ]
        : [],
    )
  }
  const failures = redeemers.flatMap(({ outcome, ...pointer }) =>
    outcome.kind === 'Succeeded' || outcome.kind === 'NotReached'
      ? []
      : [{ pointer, error: failureJson(outcome) }],
  )
  const [first] = redeemers
  if (failures.length === 0 && failure !== undefined && first !== undefined) {
    failures.push({ pointer: first, error: failureJson(failure) })
  }
  throw scriptFailures(failures)
}

interface PointerError {
  readonly pointer: RedeemerPointer
  readonly error: RpcErrorObject
}

/** One error for all redeemers. Errors of the script context concern them all, and stand alone. */
function scriptFailures(failures: readonly PointerError[], byRedeemer = false): RpcError {
  const own = failures.filter(({ error }) => byRedeemer || !(error instanceof RpcError))
  const [first] = failures
  if (own.length === 0 && first?.error instanceof RpcError) return first.error
  const data = inOrder(own.map(({ pointer, error }) => ({ ...pointer, error }))).map(
    ({ error: { code, message, data }, ...pointer }) => ({
      validator: validator(pointer),
      error: { code, message, data },
    }),
  )
  return new RpcError(3010, 'Some scripts of the transactions terminated with error(s).', data)
}

const order = Object.keys(purposes)

/** In the order of the ledger: by purpose and index. */
function inOrder<Entry extends RedeemerPointer>(entries: readonly Entry[]): readonly Entry[] {
  return [...entries].sort((a, b) => order.indexOf(a.purpose) - order.indexOf(b.purpose) || a.index - b.index)
}

function failureJson(failure: EvaluationFailure): RpcErrorObject {
  if (failure.kind === 'BudgetExceeded') {
    const { memory, steps } = failure.used ?? failure.declared
    return { code: 3161, message: failure.message, data: { budgetUsed: { memory, cpu: steps } } }
  }
  return {
    code: 3012,
    message: 'A script failed. See "data.validationError" for the reason and "data.traces" for its traces.',
    data: { validationError: failure.message, traces: 'logs' in failure ? failure.logs : [] },
  }
}

function faultJson(fault: RedeemerFault, pointer: RedeemerPointer, byRedeemer: boolean): RpcErrorObject {
  switch (fault.kind) {
    case 'Extraneous':
      return {
        code: 3110,
        message: 'The redeemer belongs to no script. Inputs count in the order of the ledger.',
        data: { extraneousRedeemers: [validator(pointer)] },
      }
    case 'MissingScript':
      return {
        code: 3011,
        message: `The script ${fault.scriptHash} is missing: add it, or refer to an output that has it.`,
        data: { missingScripts: [validator(pointer)] },
      }
    case 'UnknownInputs':
      if (byRedeemer) return noContext(unknownInput(fault.references))
      return {
        code: 3117,
        message: 'The transaction references outputs that are unknown or spent.',
        data: { unknownOutputReferences: fault.references.map(referenceJson) },
      }
    case 'NoCostModel':
      return {
        code: 3115,
        message: `The protocol parameters have no cost model for ${fault.language}.`,
        data: { missingCostModels: [plutusLanguages[fault.language]] },
      }
    case 'BadTranslation':
      return noContext(contextReason(fault.reason))
  }
}

function noContext(reason: string): RpcError {
  return new RpcError(3004, 'Unable to create the evaluation context from the given transaction.', { reason })
}

/** The reason of an unknown input, in Ogmios's words, which clients search for. */
export function unknownInput([reference = '']: readonly string[]): string {
  return `Unknown transaction input (missing from UTxO set): ${reference}`
}

/** The other reasons for which a transaction has no script context, in Ogmios's words. */
const reasons: Readonly<Record<string, string>> = {
  TimeTranslationPastHorizon:
    "Uncomputable slot arithmetic; transaction's validity bounds go beyond the foreseeable end " +
    'of the current era',
  ByronTxOutInContext: "Found inputs locked by a (legacy) Byron/Bootstrap address. Don't use those.",
  InlineDatumsNotSupported: 'Inline datums not supported in plutus:v1. Use plutus:v2 or higher.',
  ReferenceInputsNotDisjointFromInputs:
    'Reference inputs overlap with regular inputs. They must be disjoint.',
}

/** @param reason the ledger's name, and details after it */
export function contextReason(reason: string): string {
  const [name = ''] = reason.split(':')
  const words = reasons[name]
  return words === undefined ? reason : `${words} (${reason})`
}

function validator({ purpose, index }: RedeemerPointer) {
  return { purpose: purposes[purpose], index }
}
