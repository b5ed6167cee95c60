import type { Address, Credential } from '../address/types.js'

/** The output of a transaction, named by the transaction's id (32 bytes) and the output's position (0 … 65535). */
export interface OutputReference {
  readonly transactionId: Uint8Array
  readonly index: number
}

/** Quantities of native assets: policy id in hex → asset name in hex → quantity. Never holds an empty inner map. */
export type Assets = ReadonlyMap<string, ReadonlyMap<string, bigint>>

/** Lovelace and native assets. */
export interface Value {
  readonly lovelace: bigint
  readonly assets: Assets
}

export type PlutusLanguage = 'PlutusV1' | 'PlutusV2' | 'PlutusV3'

export type NativeScript =
  | { readonly kind: 'signature'; readonly keyHash: Uint8Array }
  | { readonly kind: 'all' | 'any'; readonly scripts: readonly NativeScript[] }
  | { readonly kind: 'at-least'; readonly required: bigint; readonly scripts: readonly NativeScript[] }
  | { readonly kind: 'invalid-before' | 'invalid-hereafter'; readonly slot: bigint }

/** A script with the hash that addresses and policies name it by. `bytes` is what the hash's language tag is put before. */
export type Script =
  | {
      readonly language: 'native'
      readonly hash: Uint8Array
      readonly bytes: Uint8Array
      readonly script: NativeScript
    }
  | { readonly language: PlutusLanguage; readonly hash: Uint8Array; readonly bytes: Uint8Array }

export type OutputDatum =
  | { readonly kind: 'none' }
  | { readonly kind: 'hash'; readonly hash: Uint8Array }
  /** `data`: the Plutus data as submitted, inside its tag-24 byte string. */
  | { readonly kind: 'inline'; readonly data: Uint8Array }

export interface TransactionOutput {
  /** The output as submitted. */
  readonly bytes: Uint8Array
  readonly format: 'array' | 'map'
  readonly address: Address
  readonly value: Value
  readonly datum: OutputDatum
  readonly referenceScript?: Script
}

/** Slots; the lower bound is inclusive, the upper bound exclusive. */
export interface ValidityInterval {
  readonly invalidBefore?: bigint
  readonly invalidHereafter?: bigint
}

export interface Withdrawal {
  readonly account: Address
  readonly lovelace: bigint
}

/**
 * A part that needs stake or governance state. The kind is the CDDL's name, so that a rejection can name it;
 * its fields are decoded as far as the rules that hold without that state need them.
 */
export interface Certificate {
  readonly kind: string
  readonly bytes: Uint8Array
  /** Lovelace taken as a deposit (positive) or refunded (negative), where the certificate itself says so. */
  readonly deposit?: bigint
  /** The credential whose witness the certificate needs. */
  readonly witness?: Credential
  /** Of a pool registration: the key hashes of the owners, who must sign too. */
  readonly owners?: readonly Uint8Array[]
}

export interface TransactionBody {
  /** The body as submitted: the transaction id is its Blake2b-256. */
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

export interface VotingProcedure {
  readonly voter: { readonly role: 'committee' | 'drep' | 'pool'; readonly credential: Credential }
  readonly bytes: Uint8Array
}

export interface ProposalProcedure {
  readonly kind: string
  readonly deposit: bigint
  readonly returnAccount: Address
  /** The guardrails script that the action names. */
  readonly policyHash?: Uint8Array
  readonly bytes: Uint8Array
}

export interface KeyWitness {
  readonly publicKey: Uint8Array
  readonly signature: Uint8Array
}

export interface BootstrapWitness extends KeyWitness {
  readonly chainCode: Uint8Array
  readonly attributes: Uint8Array
}

export type RedeemerPurpose = 'spend' | 'mint' | 'cert' | 'reward' | 'vote' | 'propose'

export interface Redeemer {
  readonly purpose: RedeemerPurpose
  readonly index: number
  readonly data: Uint8Array
  readonly executionUnits: { readonly memory: bigint; readonly steps: bigint }
}

export interface WitnessSet {
  readonly bytes: Uint8Array
  readonly keyWitnesses: readonly KeyWitness[]
  readonly bootstrapWitnesses: readonly BootstrapWitness[]
  readonly scripts: readonly Script[]
  /** Datums by their hash in hex; the bytes are as submitted. */
  readonly datums: ReadonlyMap<string, Uint8Array>
  /** The datums' field as submitted: it enters the script data hash. */
  readonly datumsBytes?: Uint8Array
  readonly redeemers: readonly Redeemer[]
  /** The redeemers' field as submitted, in list or map form: it enters the script data hash. */
  readonly redeemersBytes?: Uint8Array
}

export interface AuxiliaryData {
  readonly bytes: Uint8Array
  readonly scripts: readonly Script[]
}

/** A transaction of the Conway era, every part with the bytes that were submitted for it. */
export interface Transaction {
  readonly bytes: Uint8Array
  /** Blake2b-256 of the body's bytes. */
  readonly id: Uint8Array
  readonly body: TransactionBody
  readonly witnesses: WitnessSet
  readonly isValid: boolean
  readonly auxiliaryData?: AuxiliaryData
}
