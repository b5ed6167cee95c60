import type { Evaluator } from '@ratatosk/ledger/plutus'
import type { WalletKeys } from '../keys/types.js'
import type { Layer1 } from '../types.js'

/** What a request meets. */
export type SuiteFault = 'time-out' | 'refusal' | 'rate-limit' | 'failure' | 'garbage' | 'lost-answer'

/** What is asked of the network. */
export type SuiteOperation = 'utxos' | 'transaction' | 'submit' | 'evaluate' | 'parameters' | 'tip'

/** A network of the suite's own behind a provider, with a hand on its blocks. */
export interface ProviderHarness {
  /** Tries each request twice at least, with time-outs of a second at most, since faults let them pass. */
  readonly layer1: Layer1
  /** Holds at least two outputs of 1,000 ada each, and nothing else. */
  readonly keys: WalletKeys
  /** Keeps nothing. */
  readonly emptyKeys: WalletKeys
  readonly evaluator: Pick<Evaluator, 'evaluate'>
  /** Makes a block of all that waits. */
  produceBlock(): Promise<void>
  /** Undoes blocks; their transactions are lost. */
  rollBack(blocks: number): Promise<void>
  /** Lets the next `times` requests of an operation go wrong. */
  inject(fault: SuiteFault, operation: SuiteOperation, times: number): void
  clearFaults(): void
  close(): Promise<void>
}

/** One behaviour, to be run by whatever runner. It rejects with an `AssertionError` where it is not shown. */
export interface SuiteCase {
  readonly name: string
  run(): Promise<void>
}

/** Runs something with a fresh harness. */
export type WithHarness = (run: (harness: ProviderHarness) => Promise<void>) => Promise<void>
