import type { Address, Credential } from '../address/types.js'

/**
 * Refers to an output by the id of its transaction (32 bytes) and its index in that transaction (0 to 65535).
 */
export interface OutputReference {
  readonly transactionId: Uint8Array
  readonly index: number
}

/**
 * Quantities of native assets: policy id in hex → asset name in hex → quantity. Inner maps are never empty.
 */
export type Assets = ReadonlyMap<string, ReadonlyMap<string, bigint>>

/** An amount of lovelace and native assets. Both are non-negative. */
export interface Value {
  readonly lovelace: bigint
  readonly assets: Assets
}

/** The version of a Plutus script, which determines its script context, builtins and cost model. */
export type PlutusLanguage = 'PlutusV1' | 'PlutusV2' | 'PlutusV3'

/** A native script (the CDDL's `native_script`). Key hashes have 28 bytes; `required` may be negative. */
export type NativeScript =
  | { readonly kind: 'signature'; readonly keyHash: Uint8Array }
  | { readonly kind: 'all' | 'any'; readonly scripts: readonly NativeScript[] }
  | { readonly kind: 'at-least'; readonly required: bigint; readonly scripts: readonly NativeScript[] }
  | { readonly kind: 'invalid-before' | 'invalid-hereafter'; readonly slot: bigint }

/**
 * A script and its hash (28 bytes), as used in addresses and policy ids. `bytes` is the CBOR of a native
 * script or the content of a Plutus script's byte string; see {@link scriptHash}.
 */
export type Script =
  | {
      readonly language: 'native'
      readonly hash: Uint8Array
      readonly bytes: Uint8Array
      readonly script: NativeScript
    }
  | { readonly language: PlutusLanguage; readonly hash: Uint8Array; readonly bytes: Uint8Array }

/** The datum of an output: none, a Blake2b-256 hash (32 bytes), or inline. */
export type OutputDatum =
  | { readonly kind: 'none' }
  | { readonly kind: 'hash'; readonly hash: Uint8Array }
  /** `data`: the CBOR of the Plutus data as submitted, without the surrounding tag 24 and byte string. */
  | { readonly kind: 'inline'; readonly data: Uint8Array }

/** A transaction output, in the array form of the Shelley era or the map form since Babbage. */
export interface TransactionOutput {
  /** The output as submitted. */
  readonly bytes: Uint8Array
  readonly format: 'array' | 'map'
  readonly address: Address
  readonly value: Value
  readonly datum: OutputDatum
  readonly referenceScript?: Script
}

/** The slots in which a transaction is valid. The lower bound is inclusive, the upper bound exclusive. */
export interface ValidityInterval {
  readonly invalidBefore?: bigint
  readonly invalidHereafter?: bigint
}

/** A withdrawal of rewards from a stake account. */
export interface Withdrawal {
  readonly account: Address
  readonly lovelace: bigint
}

/**
 * A certificate. `kind` is its name in the CDDL. Only the fields that the rules without stake and governance
 * state need are decoded; `bytes` has all of them.
 */
export interface Certificate {
  readonly kind: string
  readonly bytes: Uint8Array
  /** The deposit (positive) or refund (negative) in lovelace, if the certificate states it. */
  readonly deposit?: bigint
  /** The credential that must authorize the certificate. */
  readonly witness?: Credential
  /** In a pool registration: the key hashes of the owners, who must also sign. */
  readonly owners?: readonly Uint8Array[]
}

/**
 * The body of a Conway transaction. Amounts are in lovelace, hashes are raw bytes. Collections that are
 * absent in the CBOR are empty here; `treasuryDonation` is 0 if absent.
 */
export interface TransactionBody {
  /** The body as submitted. The transaction id is its Blake2b-256. */
  readonly bytes: Uint8Array
  readonly inputs: readonly OutputReference[]
  readonly outputs: readonly TransactionOutput[]
  readonly fee: bigint
  readonly validityInterval: ValidityInterval
  readonly certificates: readonly Certificate[]
  readonly withdrawals: readonly Withdrawal[]
  readonly auxiliaryDataHash?: Uint8Array
  readonly mint: Assets
  readonly scriptDataHash?: Uint8Array
  readonly collateralInputs: readonly OutputReference[]
  readonly requiredSigners: readonly Uint8Array[]
  readonly networkId?: number
  readonly collateralReturn?: TransactionOutput
  readonly totalCollateral?: bigint
  readonly referenceInputs: readonly OutputReference[]
  readonly votingProcedures: readonly VotingProcedure[]
  readonly proposalProcedures: readonly ProposalProcedure[]
  readonly currentTreasury?: bigint
  readonly treasuryDonation: bigint
}

/** The votes of one voter. `bytes` is the CBOR map from governance action id to vote. */
export interface VotingProcedure {
  readonly voter: { readonly role: 'committee' | 'drep' | 'pool'; readonly credential: Credential }
  readonly bytes: Uint8Array
}

/** A governance proposal. `kind` is the name of its action in the CDDL; `deposit` is in lovelace. */
export interface ProposalProcedure {
  readonly kind: string
  readonly deposit: bigint
  readonly returnAccount: Address
  /** The hash of the guardrails script, if the action refers to one. */
  readonly policyHash?: Uint8Array
  readonly bytes: Uint8Array
}

/** An Ed25519 public key (32 bytes) and its signature (64 bytes) of the transaction id. */
export interface KeyWitness {
  readonly publicKey: Uint8Array
  readonly signature: Uint8Array
}

/**
 * The witness for a Byron address: a key witness, and what else is needed to derive the root of the address.
 */
export interface BootstrapWitness extends KeyWitness {
  readonly chainCode: Uint8Array
  readonly attributes: Uint8Array
}

/** The purpose of a redeemer: the kind of item that a script authorizes. */
export type RedeemerPurpose = 'spend' | 'mint' | 'cert' | 'reward' | 'vote' | 'propose'

/**
 * The argument and budget of one script. `index` counts in the ledger's order of the items of that purpose;
 * `data` is the CBOR of the Plutus data as submitted.
 */
export interface Redeemer {
  readonly purpose: RedeemerPurpose
  readonly index: number
  readonly data: Uint8Array
  readonly executionUnits: { readonly memory: bigint; readonly steps: bigint }
}

/** The witnesses of a transaction. Collections that are absent in the CBOR are empty here. */
export interface WitnessSet {
  readonly bytes: Uint8Array
  readonly keyWitnesses: readonly KeyWitness[]
  readonly bootstrapWitnesses: readonly BootstrapWitness[]
  readonly scripts: readonly Script[]
  /** Datums as submitted, by their hash in hex. */
  readonly datums: ReadonlyMap<string, Uint8Array>
  /** The field of the datums as submitted, for the script data hash. */
  readonly datumsBytes?: Uint8Array
  readonly redeemers: readonly Redeemer[]
  /** The field of the redeemers as submitted, in list or map form, for the script data hash. */
  readonly redeemersBytes?: Uint8Array
}

/** Auxiliary data. Its metadata is validated but not decoded; `bytes` contains it. */
export interface AuxiliaryData {
  readonly bytes: Uint8Array
  readonly scripts: readonly Script[]
}

/** A transaction of the Conway era. Each `bytes` is a view of the submitted bytes of that part. */
export interface Transaction {
  readonly bytes: Uint8Array
  /** Blake2b-256 of the body's bytes. */
  readonly id: Uint8Array
  readonly body: TransactionBody
  readonly witnesses: WitnessSet
  readonly isValid: boolean
  readonly auxiliaryData?: AuxiliaryData
}

/** An unspent output. */
export interface Utxo {
  readonly reference: OutputReference
  /**
   * The output. JSON providers do not return the bytes on chain; `output.bytes` is then another encoding of
   * the same contents.
   */
  readonly output: TransactionOutput
}
