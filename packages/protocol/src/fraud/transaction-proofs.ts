import { type Header, headerToData } from '@ratatosk/block'
import { CborWriter } from '@ratatosk/cbor'
import { TransactionFraud } from '@ratatosk/contracts'
import { constr, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'
import {
  type RecordOpening,
  recordData,
  type SuppliedBytes,
  suppliedData,
  type TransactionOpening,
  transactionData,
} from './openings.js'
import type { AssetPlace } from './shapes.js'

/** The outputs of a transaction's inputs and, behind them, of its reference inputs. */
export interface ResolvedOutputs {
  /** CBOR of the outputs of the first of them. */
  readonly outputs: readonly SuppliedBytes[]
  /** Blake2b-256 of the others, 32 bytes each. */
  readonly hashes: Uint8Array
}

/** A native asset; ada without a policy. Policy id 28 bytes, name up to 32. */
export interface Asset {
  readonly policy?: Uint8Array
  readonly name?: Uint8Array
}

/** An output by its index in the body, or the collateral return. */
export type OutputPlace = number | 'collateralReturn'

const inputSets = { inputs: 0, collateralInputs: 1, referenceInputs: 2 } as const

/** A transaction's record and witness set. */
export interface WitnessSetOpening {
  readonly record: RecordOpening
  /** CBOR. */
  readonly witnessSet: SuppliedBytes
}

/** The outputs of a transaction's first inputs, or of all and the first reference inputs. */
interface ResolvedPart {
  readonly record: RecordOpening
  readonly resolved: ResolvedOutputs
}

/** A body, or a witness set. */
export type PartOpening = TransactionOpening | WitnessSetOpening

/**
 * A rule that a transaction of a block breaks, and the proof of it: an argument of the transaction policy.
 * `index` counts in the order of the body.
 */
export type TransactionFraudProof =
  /**
   * The consumed quantity of an asset is not the produced one. `resolved` has the outputs of all
   * inputs.
   */
  | {
      readonly fraud: 'valueNotPreserved'
      readonly transaction: TransactionOpening
      readonly resolved: ResolvedOutputs
      readonly asset: Asset
    }
  /**
   * The fee is below the minimum. Without `auxiliaryData`, and for outputs that `resolved` does not have, the
   * minimum counts as if there were none.
   */
  | {
      readonly fraud: 'feeTooSmall'
      readonly transaction: TransactionOpening
      readonly witnessSet: SuppliedBytes
      readonly auxiliaryData?: SuppliedBytes
      readonly resolved?: ResolvedOutputs
    }
  /** An output holds less than its minimum, or pays to an address of another network. */
  | {
      readonly fraud: 'outputTooSmall' | 'outputOnOtherNetwork'
      readonly transaction: TransactionOpening
      readonly output: OutputPlace
    }
  /**
   * The validity interval has no slot of the block; the body names another network; a withdrawal is not of
   * zero by a script of this network; there are no inputs.
   */
  | {
      readonly fraud: 'outsideInterval' | 'wrongNetwork' | 'forbiddenWithdrawal' | 'noInputs'
      readonly transaction: TransactionOpening
    }
  /** The body has a field that layer 2 does not allow, by its key in the CDDL. */
  | {
      readonly fraud: 'forbiddenField'
      readonly transaction: TransactionOpening
      readonly key: number
    }
  /** An input is a reference input too. */
  | {
      readonly fraud: 'inputIsReferenceInput'
      readonly transaction: TransactionOpening
      readonly input: number
      readonly referenceInput: number
    }
  /**
   * A body, a witness set, or what inputs and reference inputs stand for has too many items or bytes for
   * layer 1 to read it, or a head that is not in its shortest form.
   */
  | { readonly fraud: 'unreadablePart'; readonly part: PartOpening | ResolvedPart }
  /** There are too many inputs and reference inputs, outputs, key witnesses, scripts, datums or redeemers. */
  | { readonly fraud: 'tooMany'; readonly part: PartOpening }
  /** A reference is not one, or not a definite array in shortest heads. */
  | {
      readonly fraud: 'unreadableReference'
      readonly transaction: TransactionOpening
      readonly set: keyof typeof inputSets
      readonly index: number
    }
  /** A body or witness set is not one item of CBOR. */
  | { readonly fraud: 'malformedPart'; readonly part: PartOpening }
  /**
   * A body or witness set is not a map, or has a field that it may not have, or twice or of another type, or
   * lacks one. `key` is the first byte of the field's key; `asset` is read of a mint, by default the first.
   */
  | {
      readonly fraud: 'strangeField'
      readonly part: PartOpening
      readonly key: number
      readonly asset?: AssetPlace
    }
  /** An item among the outputs has another shape. `asset` is read of its value, by default the first. */
  | {
      readonly fraud: 'strangeOutput'
      readonly transaction: TransactionOpening
      readonly output: OutputPlace
      readonly asset?: AssetPlace
    }
  /**
   * An item is not what the ledger decodes there. `path` leads to it: which part of the whole, which part of
   * that, and so on; of a map keys and values in turn, of one of fields the key. `same` are two of its parts
   * that are equal, of a map by entry.
   */
  | {
      readonly fraud: 'strangeItem'
      readonly part: PartOpening
      readonly path: readonly number[]
      readonly same?: readonly [number, number]
    }
  /** An item among the key witnesses or the bootstrap witnesses has another shape. */
  | ({
      readonly fraud: 'strangeWitness'
      readonly isBootstrap: boolean
      readonly index: number
    } & WitnessSetOpening)
  /** Two references of a set are the same. */
  | {
      readonly fraud: 'repeatedReference'
      readonly transaction: TransactionOpening
      readonly set: keyof typeof inputSets
      readonly index: number
      readonly other: number
    }

/**
 * The redeemer of the transaction policy that proves a fraud.
 *
 * @param header of the block; the verdict's name is its hash
 * @returns Plutus data CBOR
 */
export const encodeTransactionFraudProof = (header: Header, proof: TransactionFraudProof): Uint8Array =>
  encodePlutusData(constr(TransactionFraud[proof.fraud], headerToData(header), ...fieldsOf(proof)))

function fieldsOf(proof: TransactionFraudProof): PlutusData[] {
  switch (proof.fraud) {
    case 'unreadablePart': {
      const { part } = proof
      if ('resolved' in part) return [constr(2, recordData(part.record), ...resolvedData(part.resolved))]
      return [partData(part)]
    }
    case 'malformedPart':
    case 'tooMany':
      return [partData(proof.part)]
    case 'strangeField':
      return [partData(proof.part), BigInt(proof.key), ...assetData(proof.asset)]
    case 'strangeItem':
      return [partData(proof.part), proof.path.map(BigInt), (proof.same ?? []).map(BigInt)]
    case 'strangeWitness': {
      const { record, witnessSet, isBootstrap, index } = proof
      return [recordData(record), suppliedData(witnessSet), isBootstrap ? 1n : 0n, BigInt(index)]
    }
  }
  const transaction = transactionData(proof.transaction)
  switch (proof.fraud) {
    case 'valueNotPreserved': {
      const { policy, name } = proof.asset
      return [transaction, ...resolvedData(proof.resolved), stringCbor(policy), stringCbor(policy && name)]
    }
    case 'feeTooSmall': {
      const { witnessSet, auxiliaryData, resolved } = proof
      const shown = auxiliaryData === undefined ? constr(1) : constr(0, suppliedData(auxiliaryData))
      return [transaction, suppliedData(witnessSet), shown, ...resolvedData(resolved)]
    }
    case 'outputTooSmall':
    case 'outputOnOtherNetwork':
      return [transaction, placeData(proof.output)]
    case 'strangeOutput':
      return [transaction, placeData(proof.output), ...assetData(proof.asset)]
    case 'forbiddenField':
      return [transaction, BigInt(proof.key)]
    case 'inputIsReferenceInput':
      return [transaction, BigInt(proof.input), BigInt(proof.referenceInput)]
    case 'unreadableReference':
      return [transaction, constr(inputSets[proof.set]), BigInt(proof.index)]
    case 'repeatedReference': {
      const { set, index, other } = proof
      return [transaction, constr(inputSets[set]), BigInt(index), BigInt(other)]
    }
    default:
      return [transaction]
  }
}

/** A body or witness set in a redeemer. */
export const partData = (part: PartOpening): PlutusData =>
  'witnessSet' in part
    ? constr(1, recordData(part.record), suppliedData(part.witnessSet))
    : constr(0, transactionData(part))

const placeData = (output: OutputPlace): PlutusData =>
  output === 'collateralReturn' ? constr(1) : constr(0, BigInt(output))

const assetData = ({ policy, name }: AssetPlace = { policy: 0, name: 0 }): PlutusData[] => [
  BigInt(policy),
  BigInt(name),
]

const resolvedData = (resolved: ResolvedOutputs | undefined): PlutusData[] => [
  resolved?.outputs.map(suppliedData) ?? [],
  resolved?.hashes ?? new Uint8Array(),
]

/** A byte string in CBOR, as bodies have it; nothing for none. */
const stringCbor = (bytes: Uint8Array | undefined): Uint8Array =>
  bytes === undefined ? new Uint8Array() : new CborWriter(40).bytes(bytes).toBytes()
