import type { ProtocolParameters, SlotConfig } from '../parameters/types.js'
import type { UtxoView } from '../rules/context.js'
import type { RedeemerPurpose, Transaction } from '../transaction/types.js'

/** Memory units and CPU steps, as redeemers declare them and cost models count them. */
export interface ExecutionUnits {
  readonly memory: bigint
  readonly steps: bigint
}

/** The Plutus implementations behind the door. */
export type EngineName = 'cek' | 'scalus' | 'aiken'

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
 * transaction: no engine could judge it within its limits.
 */
export type EvaluationFailure =
  | { readonly kind: 'ScriptFailure'; readonly message: string; readonly logs: readonly string[] }
  | {
      readonly kind: 'BudgetExceeded'
      readonly message: string
      readonly declared: ExecutionUnits
      /** Absent where evaluation was stopped at the declared budget. */
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
  /** The engine whose figures these are; absent where none ran. */
  readonly engine?: EngineName
  /** In the order of the transaction's redeemers. */
  readonly redeemers: readonly RedeemerResult[]
  /** The first failure; it belongs to no redeemer where no engine could say to which. */
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
  /** Threads of each engine that evaluate side by side; default: one fewer than the processors, from 1 to 4. */
  readonly threads?: number
  /**
   * How long scalus, which cannot be given a budget, may take before Aiken is asked whether the budget suffices: `base`
   * and, for a transaction that declares the largest budget allowed, `budget` more. Default 200 and 400.
   */
  readonly patienceMs?: { readonly base: number; readonly budget: number }
  /** After this an engine is stopped whatever it does; default 10,000. */
  readonly timeLimitMs?: number
  /** Heap of one thread, and likewise of its WebAssembly; default 256. */
  readonly memoryLimitMb?: number
  /** Evaluations that may wait; more are refused with {@link EvaluatorBusyError}. Default 10,000. */
  readonly queueLimit?: number
  /** Where the thread's program lies, for those who bundle this package into one file. */
  readonly threadProgram?: URL
}
