import type { ProtocolParameters, SlotConfig } from '../parameters/types.js'
import type { UtxoView } from '../rules/context.js'
import type { RedeemerPurpose, Transaction } from '../transaction/types.js'

/** Memory units and CPU steps, as redeemers declare them and cost models count them. */
export interface ExecutionUnits {
  readonly memory: bigint
  readonly steps: bigint
}

/** Names one redeemer: what it is for, and its place among the sorted things of that purpose. */
export interface RedeemerPointer {
  readonly purpose: RedeemerPurpose
  readonly index: number
}

/**
 * Why a script did not succeed.
 *
 * `ScriptFailure`, `BudgetExceeded` and `MalformedScript` are judgements on the transaction: every node finds the same.
 * `InvalidCostModel` and `MissingInput` are faults of what the caller gave. `EngineFailure` says nothing of the
 * transaction: the engine could not judge it within its limits.
 */
export type EvaluationFailure =
  | { readonly kind: 'ScriptFailure'; readonly message: string; readonly logs: readonly string[] }
  | {
      readonly kind: 'BudgetExceeded'
      readonly message: string
      readonly declared: ExecutionUnits
      /** What it had asked for when it was stopped: of steps or of memory more than declared. */
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

/** What became of one redeemer. `NotReached`: another redeemer failed, so this one was not judged. */
export type RedeemerOutcome =
  | { readonly kind: 'Succeeded'; readonly used: ExecutionUnits }
  | { readonly kind: 'NotReached' }
  | EvaluationFailure

export interface RedeemerResult extends RedeemerPointer {
  readonly declared: ExecutionUnits
  readonly outcome: RedeemerOutcome
}

export interface EvaluationResult {
  /** True when every script succeeded within what its redeemer declares, or there was none to run. */
  readonly ok: boolean
  /** In the order of the transaction's redeemers. */
  readonly redeemers: readonly RedeemerResult[]
  /** The first failure; it belongs to no redeemer where the scripts were not run. */
  readonly failure?: EvaluationFailure
}

/** The outputs that a transaction's inputs and reference inputs name, by `outputReferenceKey`; others may be among them. */
export type ResolvedOutputs = UtxoView

/** Runs the Plutus scripts of transactions: phase 2. */
export interface Evaluator {
  /**
   * Runs every redeemer's script against the transaction as it was submitted.
   *
   * Inputs, reference inputs and scripts are those that phase 1 has found in order. A transaction without redeemers
   * is answered at once.
   *
   * @throws {EvaluatorClosedError} (rejects) when the evaluator is or becomes closed
   */
  evaluate(
    transaction: Transaction,
    utxos: ResolvedOutputs,
    parameters: ProtocolParameters,
    slots: SlotConfig,
  ): Promise<EvaluationResult>
  /** Stops all threads at once; evaluations under way reject with {@link EvaluatorClosedError}. */
  close(): Promise<void>
}

/** Bounds on what evaluation may take. Times are milliseconds of wall clock, sizes are mebibytes. */
export interface EvaluatorOptions {
  /** Threads that evaluate side by side; default: one fewer than the processors, from 1 to 4. */
  readonly threads?: number
  /** After this an evaluation is stopped whatever it does; default 10,000. No budget that a network allows takes as long. */
  readonly timeLimitMs?: number
  /** Heap of one thread; default 256. */
  readonly memoryLimitMb?: number
  /** Evaluations that may wait; more are refused with {@link EvaluatorBusyError}. Default 10,000. */
  readonly queueLimit?: number
  /** Where the thread's program lies, for those who bundle this package into one file. */
  readonly threadProgram?: URL
}
