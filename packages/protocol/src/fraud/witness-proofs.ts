import { type Header, headerToData } from '@ratatosk/block'
import { concatBytes } from '@ratatosk/cbor'
import { WitnessFraud, WitnessNeed } from '@ratatosk/contracts'
import type { Script } from '@ratatosk/ledger'
import { constr, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'
import {
  type OutputOpening,
  optionData,
  type RecordOpening,
  recordData,
  type SuppliedBytes,
  suppliedData,
  type TransactionOpening,
  transactionData,
} from './openings.js'

/** An output that a transaction spends. */
export interface SpentOpening {
  readonly kind: 'spent'
  /** Of the input, in the order of the body. */
  readonly index: number
  /** The block's record of the output. */
  readonly noted: OutputOpening
  /** CBOR of the output. */
  readonly output: SuppliedBytes
}

/**
 * The part of a transaction that needs a script: an input, a policy id of 28 bytes, or a reward account of
 * 29.
 */
export type ScriptNeed =
  | SpentOpening
  | { readonly kind: 'minted'; readonly policy: Uint8Array }
  | { readonly kind: 'withdrawn'; readonly account: Uint8Array }

/** The part of a transaction that needs a signature: an input, or the hash of a required signer, 28 bytes. */
export type SignatureNeed = SpentOpening | { readonly kind: 'required'; readonly keyHash: Uint8Array }

/** A transaction with its witness set. */
export interface TransactionWithWitnesses {
  readonly transaction: TransactionOpening
  /** CBOR of the witness set. */
  readonly witnesses: SuppliedBytes
}

/** A fraud in the witnesses of a transaction, and its proof: an argument of the witness policy. */
export type WitnessFraudProof =
  /**
   * A signature does not fit its key and the transaction's id. `index` counts the key witnesses, or the
   * bootstrap witnesses.
   */
  | {
      readonly fraud: 'invalidSignature'
      readonly transaction: RecordOpening
      readonly witnesses: SuppliedBytes
      readonly isBootstrap: boolean
      readonly index: number
    }
  /** A key that had to sign did not. */
  | ({ readonly fraud: 'missingSignature'; readonly need: SignatureNeed } & TransactionWithWitnesses)
  /** A native script that is needed is not satisfied, or more than layer 1 can read. `script` is its CBOR. */
  | ({
      readonly fraud: 'nativeScriptFails' | 'unreadableScript'
      readonly need: ScriptNeed
      readonly script: SuppliedBytes
    } & TransactionWithWitnesses)
  /**
   * A script that is needed is nowhere. `outputs` are all that inputs and, behind them, reference inputs
   * stand for.
   */
  | ({
      readonly fraud: 'scriptMissing'
      readonly need: ScriptNeed
      readonly outputs: readonly SuppliedBytes[]
    } & TransactionWithWitnesses)
  /** A Plutus script that is needed has no redeemer. `script` is the content of its byte string. */
  | ({
      readonly fraud: 'redeemerMissing'
      readonly need: ScriptNeed
      readonly language: Exclude<Script['language'], 'native'>
      readonly script: SuppliedBytes
    } & TransactionWithWitnesses)
  /**
   * An input with a redeemer stands for an output with the hash of a datum that is not in the witness set.
   */
  | ({ readonly fraud: 'datumMissing'; readonly spent: SpentOpening } & TransactionWithWitnesses)
  /** The script data hash is not that of redeemers, datums and cost models. */
  | ({ readonly fraud: 'wrongScriptDataHash' } & TransactionWithWitnesses)

/**
 * The redeemer of the witness policy that proves a fraud.
 *
 * @param header of the block; the verdict's name is its hash
 * @returns Plutus data CBOR
 */
export const encodeWitnessFraudProof = (header: Header, proof: WitnessFraudProof): Uint8Array =>
  encodePlutusData(
    constr(
      WitnessFraud[proof.fraud],
      headerToData(header),
      proof.fraud === 'invalidSignature' ? recordData(proof.transaction) : transactionData(proof.transaction),
      suppliedData(proof.witnesses),
      ...fieldsOf(proof),
    ),
  )

/** The byte before a script in the preimage of its hash. */
const languages = { native: 0n, PlutusV1: 1n, PlutusV2: 2n, PlutusV3: 3n } as const

function fieldsOf(proof: WitnessFraudProof): PlutusData[] {
  switch (proof.fraud) {
    case 'invalidSignature':
      return [proof.isBootstrap ? 1n : 0n, BigInt(proof.index)]
    case 'missingSignature':
      return [needData(proof.need)]
    case 'nativeScriptFails':
    case 'unreadableScript':
      return [needData(proof.need), suppliedData(proof.script)]
    case 'scriptMissing':
      return [needData(proof.need), proof.outputs.map(suppliedData)]
    case 'redeemerMissing':
      return [needData(proof.need), languages[proof.language], suppliedData(proof.script)]
    case 'datumMissing':
      return [needData(proof.spent)]
    case 'wrongScriptDataHash':
      return []
  }
}

/** The CBOR in the body names a need that is not an input. */
function needData(need: ScriptNeed | SignatureNeed): PlutusData {
  switch (need.kind) {
    case 'spent': {
      const { index, noted, output } = need
      return constr(WitnessNeed.spent, BigInt(index), optionData(noted.record, noted), suppliedData(output))
    }
    case 'minted':
      return constr(WitnessNeed.minted, byteString(need.policy))
    case 'withdrawn':
      return constr(WitnessNeed.withdrawn, byteString(need.account))
    case 'required':
      return constr(WitnessNeed.required, byteString(need.keyHash))
  }
}

/** The CBOR of 24 to 255 bytes. */
const byteString = (content: Uint8Array): Uint8Array =>
  concatBytes(Uint8Array.of(0x58, content.length), content)
