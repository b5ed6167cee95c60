import type { WalletKeys } from '@ratatosk/ledger/builder'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import type { Layer1 } from '../types.js'

/** The fault of a request. */
export type SuiteFault = 'time-out' | 'refusal' | 'rate-limit' | 'failure' | 'garbage' | 'lost-answer'

/** The operation that a request is part of. */
export type SuiteOperation = 'utxos' | 'transaction' | 'submit' | 'evaluate' | 'parameters' | 'tip'

/** The options that a case gives to its harness. */
export interface HarnessOptions {
  /**
   * Whether the case waits for requests to time out. If so, a request times out in less than a second and is
   * attempted at least three times; otherwise it has seconds, so that a busy machine does not fail the case.
   */
  readonly shortTimeouts: boolean
}

/** A provider in front of a network that only this case uses and whose blocks it controls. */
export interface ProviderHarness {
  /** Attempts each request at least twice. */
  readonly layer1: Layer1
  /** The wallet's keys: at least two outputs of 1,000 ada each, and no others. */
  readonly keys: WalletKeys
  /** Keys without outputs. */
  readonly emptyKeys: WalletKeys
  readonly evaluator: Pick<Evaluator, 'evaluate'>
  /** Puts every pending transaction into a block. */
  produceBlock(): Promise<void>
  /** Rolls blocks back and drops their transactions. */
  rollBack(blocks: number): Promise<void>
  /** Makes the next `times` requests of an operation fail. */
  inject(fault: SuiteFault, operation: SuiteOperation, times: number): void
  clearFaults(): void
  close(): Promise<void>
}

/**
 * A test case for any test runner. `run` rejects with an `AssertionError` if the provider behaves
 * differently.
 */
export interface SuiteCase {
  readonly name: string
  run(): Promise<void>
}

/** Test cases by name. */
export type Scenes = Readonly<Record<string, (harness: ProviderHarness) => Promise<void>>>
