import type { ProtocolParameters } from '@ratatosk/ledger'
import type { Test } from 'tap'

/**
 * A ledger served by the APIs of layer 1, whose blocks a test makes. It starts with the outputs of
 * `aliceGenesis`.
 */
export interface ServedLedger {
  readonly layer: 1 | 2
  /** Base URLs of the APIs. */
  readonly blockfrost: string
  readonly ogmios: string
  readonly parameters: ProtocolParameters
  readonly genesisHash: string
  currentSlot(): bigint
  submit(cbor: Uint8Array): Promise<unknown>
  /**
   * Makes a block of everything that is accepted. Layer 2 has no empty blocks: it puts a transaction of its
   * own into one.
   */
  produceBlock(): Promise<{ readonly slot: bigint; readonly hash: string }>
  /** Reverts the newest blocks. */
  rollBack(blocks: number): Promise<unknown>
  /** Begins again with the genesis. */
  reset(): Promise<void>
  isConfirmed(hash: string): Promise<boolean>
}

/** Opens a ledger for one test. */
export type OpenLedger = (t: Test) => Promise<ServedLedger>

/** tap's `test`. */
export type RunTest = (name: string, run: (t: Test) => Promise<void>) => unknown
