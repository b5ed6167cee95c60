import type { Assets, OutputDatum, ProtocolParameters, SlotConfig, Transaction } from '@ratatosk/ledger'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import type { SigningKey } from '../keys/types.js'
import type { Utxo } from '../types.js'
import type { ScriptContent } from './encode-output.js'

export interface DraftOutput {
  /** Bech32, or the bytes of CIP-19. */
  readonly address: string | Uint8Array
  /** Default: the least that the ledger allows for this output. */
  readonly lovelace?: bigint
  /** Where `lovelace` is not given: this much, or the least that the ledger allows if that is more. */
  readonly lovelaceAtLeast?: bigint
  readonly assets?: Assets
  readonly datum?: OutputDatum
  readonly referenceScript?: ScriptContent
}

/** An output that the transaction must spend. */
export interface DraftInput {
  readonly utxo: Utxo
  /** Plutus data, where a Plutus script locks it. */
  readonly redeemer?: Uint8Array
  /** Plutus data, where the output holds only its hash. */
  readonly datum?: Uint8Array
}

export interface DraftMint {
  /** The policy's script hash: 56 hex digits. */
  readonly policy: string
  /** Asset name in hex → quantity; negative burns. */
  readonly assets: ReadonlyMap<string, bigint>
  /** Plutus data, where the policy is a Plutus script. */
  readonly redeemer?: Uint8Array
}

/** What a transaction shall do. Funds, fee, change, collateral, budgets and signatures are found for it. */
export interface TransactionDraft {
  readonly inputs?: readonly DraftInput[]
  /** They keep their order and come before the change. */
  readonly outputs?: readonly DraftOutput[]
  readonly mint?: readonly DraftMint[]
  /** Scripts that are needed and that no input or reference input carries. */
  readonly scripts?: readonly ScriptContent[]
  readonly referenceInputs?: readonly Utxo[]
  /** Key hashes that must sign beside those that inputs ask for. */
  readonly requiredSigners?: readonly Uint8Array[]
  /** The first slot in which it may be included. */
  readonly validFrom?: bigint
  /** The first slot in which it may not be any more. */
  readonly validUntil?: bigint
}

/** What a transaction is built from. */
export interface BuildContext {
  /**
   * Outputs that may be spent as they are needed; all are locked by keys of `signers`. Those that hold a script for reference are
   * spent only where a draft names them.
   */
  readonly funds: readonly Utxo[]
  /** The bytes of CIP-19. */
  readonly changeAddress: Uint8Array
  /** All of them sign. */
  readonly signers: readonly SigningKey[]
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
  /** The slot that the rules are judged at. */
  readonly slot: bigint
  readonly networkId: 0 | 1
  /** Needed where Plutus scripts run. */
  readonly evaluator?: Pick<Evaluator, 'evaluate'>
  /** From 0 up to 1; default `Math.random`. Which outputs are spent is no secret. */
  readonly random?: () => number
}

/** A signed transaction that keeps all rules, as it would be sent. */
export interface BuiltTransaction {
  readonly bytes: Uint8Array
  /** 64 hex digits. */
  readonly id: string
  readonly fee: bigint
  readonly transaction: Transaction
  readonly spent: readonly Utxo[]
  readonly collateral: readonly Utxo[]
  /** What it makes, change included: spendable at once by a chained transaction. */
  readonly produced: readonly Utxo[]
}
