import assert from 'node:assert/strict'
import { toHex } from '@ratatosk/cbor'
import { outputReferenceKey, type TransactionOutput, type Utxo } from '@ratatosk/ledger'
import type { WalletKeys } from '@ratatosk/ledger/builder'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import { isLayer1Error, type Layer1Error, type Layer1ErrorCode } from '../errors.js'
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

/** Asserts that a call rejects with a code, and returns the error. */
export async function failsWith(code: Layer1ErrorCode, work: Promise<unknown>): Promise<Layer1Error> {
  const error: unknown = await work.then(
    () => assert.fail(`succeeded instead of failing with "${code}"`),
    (reason: unknown) => reason,
  )
  if (!isLayer1Error(error)) throw error
  assert.equal(error.code, code)
  assert.doesNotMatch(JSON.stringify([error.message, error.reason]), /:\/\/|127\.0\.0\.1|localhost/)
  return error
}

/** The contents of an output, independent of its encoding. */
function contentsOf({ address, value, datum, referenceScript }: TransactionOutput) {
  const assets = [...value.assets].flatMap(([policy, names]) =>
    Array.from(names, ([name, quantity]) => `${quantity} ${policy}.${name}`),
  )
  return {
    address: toHex(address.bytes),
    lovelace: value.lovelace,
    assets: assets.sort(),
    datum: datum.kind === 'none' ? 'none' : toHex(datum.kind === 'hash' ? datum.hash : datum.data),
    datumKind: datum.kind,
    script: referenceScript && `${referenceScript.language} ${toHex(referenceScript.bytes)}`,
  }
}

export function sameUtxos(found: readonly Utxo[], expected: readonly Utxo[]): void {
  const listed = (utxos: readonly Utxo[]) =>
    utxos
      .map(({ reference, output }) => ({ key: outputReferenceKey(reference), ...contentsOf(output) }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
  assert.deepEqual(listed(found), listed(expected))
}
