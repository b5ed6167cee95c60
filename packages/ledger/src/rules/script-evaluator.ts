import type { ProtocolParameters, SlotConfig } from '../parameters/types.js'
import type { RedeemerPurpose, Transaction } from '../transaction/types.js'
import type { UtxoView } from './context.js'

/** A budget or cost of scripts in memory units and CPU steps, the units of redeemers and cost models. */
export interface ExecutionUnits {
  readonly memory: bigint
  readonly steps: bigint
}

/**
 * Identifies a redeemer by its purpose and by its index in the ledger's order of the items of that purpose.
 */
export interface RedeemerPointer {
  readonly purpose: RedeemerPurpose
  readonly index: number
}

/**
 * Why an evaluation failed.
 *
 * `ScriptFailure`, `BudgetExceeded` and `MalformedScript` are results for the transaction, the same on every
 * node. `InvalidCostModel` and `MissingInput` mean that the caller passed wrong parameters or outputs. After
 * an `EngineFailure`, the transaction may be valid or invalid: the engine could not evaluate it within its
 * limits.
 */
export type EvaluationFailure =
  | { readonly kind: 'ScriptFailure'; readonly message: string; readonly logs: readonly string[] }
  | {
      readonly kind: 'BudgetExceeded'
      readonly message: string
      readonly declared: ExecutionUnits
      /** The units requested when the script was stopped: its steps or its memory exceed those declared. */
      readonly used?: ExecutionUnits
      readonly logs: readonly string[]
    }
  | { readonly kind: 'MalformedScript'; readonly message: string; readonly scriptHash: string }
  | { readonly kind: 'InvalidCostModel'; readonly message: string }
  | { readonly kind: 'MissingInput'; readonly message: string }
  | {
      readonly kind: 'EngineFailure'
      readonly reason: 'refused' | 'timeout' | 'memory' | 'crashed'
      readonly message: string
    }

/** The outcome of one redeemer. `NotReached` means that another failure ended the evaluation first. */
export type RedeemerOutcome =
  | { readonly kind: 'Succeeded'; readonly used: ExecutionUnits }
  | { readonly kind: 'NotReached' }
  | EvaluationFailure

/** A redeemer, its declared budget and its outcome. */
export interface RedeemerResult extends RedeemerPointer {
  readonly declared: ExecutionUnits
  readonly outcome: RedeemerOutcome
}

/** The result of evaluating the scripts of a transaction. */
export interface EvaluationResult {
  /** Whether every script succeeded within its declared budget. True if there are no scripts to run. */
  readonly ok: boolean
  /** In the order of the transaction's redeemers. */
  readonly redeemers: readonly RedeemerResult[]
  /** The first failure. If no script was run, it is not among the outcomes of the redeemers. */
  readonly failure?: EvaluationFailure
}

/** Runs the Plutus scripts of transactions (phase 2). */
export interface Evaluator {
  /**
   * Runs the script of every redeemer. The transaction must have passed phase 1. A transaction without
   * redeemers succeeds at once, without a thread.
   *
   * @throws EvaluatorError (rejects) `EVALUATOR_CLOSED` if the evaluator is closed before the evaluation
   *   finishes, `EVALUATOR_BUSY` if the queue is full
   */
  evaluate(
    transaction: Transaction,
    utxos: UtxoView,
    parameters: ProtocolParameters,
    slots: SlotConfig,
  ): Promise<EvaluationResult>
  /** Terminates all threads. Pending evaluations reject with `EVALUATOR_CLOSED`. */
  close(): Promise<void>
}

/** Limits of an evaluator. Times are milliseconds of wall-clock time, sizes mebibytes. */
export interface EvaluatorOptions {
  /** Maximum number of threads; default: the number of processors minus one, from 1 to 4. */
  readonly threads?: number
  /** Time limit of one evaluation; default 10,000. The budgets that networks allow take less. */
  readonly timeLimitMs?: number
  /** Heap limit of one thread; default 256. */
  readonly memoryLimitMb?: number
  /** Maximum number of queued evaluations; more are refused with `EVALUATOR_BUSY`. Default 10,000. */
  readonly queueLimit?: number
  /** URL of `engine-thread.js`, if this package is bundled into one file. Default: next to this module. */
  readonly threadProgram?: URL
}
