import type { Assets, OutputDatum, ProtocolParameters, SlotConfig, Transaction, Utxo } from '../index.js'
import type { Evaluator } from '../plutus/index.js'
import type { ScriptContent } from './encode.js'
import type { SigningKey } from './keys.js'

export interface DraftOutput {
  /** Bech32, or the bytes of CIP-19. */
  readonly address: string | Uint8Array
  /** Default: the minimum that the ledger requires for this output. */
  readonly lovelace?: bigint
  /** Without `lovelace`: this amount, or the ledger's minimum if that is more. */
  readonly lovelaceAtLeast?: bigint
  readonly assets?: Assets
  readonly datum?: OutputDatum
  readonly referenceScript?: ScriptContent
}

/** The place of an output that the transaction spends among its inputs, which the ledger sorts. */
export type PlaceOfInput = (utxo: Pick<Utxo, 'reference'>) => number

/** An input that the transaction must spend. */
export interface DraftInput {
  readonly utxo: Utxo
  /**
   * Plutus data CBOR; required when a Plutus script locks the output. A function where it names the places of
   * inputs: the funds that are added can move them.
   */
  readonly redeemer?: Uint8Array | ((placeOf: PlaceOfInput) => Uint8Array)
  /** Plutus data CBOR; required when the output contains only a datum hash. */
  readonly datum?: Uint8Array
}

export interface DraftMint {
  /** The policy's script hash: 56 hex digits. */
  readonly policy: string
  /** Asset name in hex → quantity; negative burns. */
  readonly assets: ReadonlyMap<string, bigint>
  /** Plutus data CBOR; required when the policy is a Plutus script. */
  readonly redeemer?: Uint8Array
}

/** The effects of a transaction. The builder adds funds, fee, change, collateral, budgets and signatures. */
export interface TransactionDraft {
  readonly inputs?: readonly DraftInput[]
  /** In this order, before the change. */
  readonly outputs?: readonly DraftOutput[]
  readonly mint?: readonly DraftMint[]
  /** Scripts that no input or reference input holds; they go into the witness set. */
  readonly scripts?: readonly ScriptContent[]
  readonly referenceInputs?: readonly Utxo[]
  /** Whether only outputs without other assets than ada pay for it. */
  readonly paidByAda?: boolean
  /** Key hashes that must sign in addition to those that inputs require. */
  readonly requiredSigners?: readonly Uint8Array[]
  /** First slot in which the transaction is valid. */
  readonly validFrom?: bigint
  /** First slot in which the transaction is no longer valid. */
  readonly validUntil?: bigint
}

/** Everything a transaction is built from besides its draft. */
export interface BuildContext {
  /**
   * Outputs that may be spent, all locked by keys of `signers`. Outputs that hold a reference script are
   * spent only when a draft names them.
   */
  readonly funds: readonly Utxo[]
  /** The bytes of CIP-19. */
  readonly changeAddress: Uint8Array
  /** All of them sign. */
  readonly signers: readonly SigningKey[]
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
  /** The slot at which the ledger rules are checked. */
  readonly slot: bigint
  readonly networkId: 0 | 1
  /** Layer 2 has rules of its own, such as `profileLimits`; default 1. */
  readonly layer?: 1 | 2
  /** Required when the transaction runs Plutus scripts. */
  readonly evaluator?: Pick<Evaluator, 'evaluate'>
  /** Uniform in [0, 1); default `Math.random`. The selection is not a secret. */
  readonly random?: () => number
}

/** A signed transaction that satisfies the rules of its layer. */
export interface BuiltTransaction {
  readonly bytes: Uint8Array
  readonly id: Uint8Array
  readonly fee: bigint
  readonly transaction: Transaction
  readonly spent: readonly Utxo[]
  readonly collateral: readonly Utxo[]
  /** Its outputs, change included; a chained transaction can spend them at once. */
  readonly produced: readonly Utxo[]
}
