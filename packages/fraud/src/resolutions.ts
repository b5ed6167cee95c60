import { type Header, headerHash, headerToData } from '@ratatosk/block'
import { concatBytes } from '@ratatosk/cbor'
import { LedgerPart } from '@ratatosk/contracts'
import { blake2b256 } from '@ratatosk/ledger'
import { constr, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'
import {
  numberKey,
  type OutputOpening,
  optionData as option,
  type TransactionOpening,
  transactionData as transaction,
  type UnspentOpening,
  unspentData as unspent,
} from './openings.js'

/** The output of one input or reference input. `before` is needed if the block does not note the output. */
export interface ResolvedOpening {
  readonly output: OutputOpening
  readonly before?: UnspentOpening
}

/**
 * A part of a proof of `wrongResolvedHash`: what some consecutive inputs and, behind them, reference inputs
 * stand for. The ledger policy mints a token that shows it, to which the proof then refers.
 */
export interface Resolution {
  readonly transaction: TransactionOpening
  /** The place of the first of these references among all of the transaction. */
  readonly first: number
  readonly outputs: readonly ResolvedOpening[]
  /** Whether no reference follows. */
  readonly isLast: boolean
}

/**
 * Steps of the proofs of a part, and references. The maker of an output chooses how many steps lead to it: a
 * step costs layer 1 up to 0.4 % of a transaction's memory, a reference 0.9 %, and 138 and 70 bytes.
 */
const stepsInPart = 64
const referencesInPart = 16

/** The parts that show what all references of a transaction stand for, from the one at `first` on. */
export function resolutionsOf(
  transaction: TransactionOpening,
  outputs: readonly ResolvedOpening[],
  first = 0,
): readonly [Resolution, ...Resolution[]] {
  let [count, steps] = [0, 0]
  for (const { output, before } of outputs.slice(first, first + referencesInPart)) {
    steps += output.proof.length + (before?.proof.length ?? 0)
    if (count > 0 && steps > stepsInPart) break
    count++
  }
  const next = first + count
  const isLast = next === outputs.length
  const part = { transaction, first, outputs: outputs.slice(first, next), isLast }
  return isLast ? [part] : [part, ...resolutionsOf(transaction, outputs, next)]
}

/** The redeemer of the ledger policy that mints the token of a part. @returns Plutus data CBOR */
export const encodeResolution = (
  header: Header,
  { transaction: opening, first, outputs }: Omit<Resolution, 'isLast'>,
): Uint8Array =>
  encodePlutusData(
    constr(
      LedgerPart.resolution,
      headerToData(header),
      transaction(opening),
      BigInt(first),
      outputs.map(({ output, before }): PlutusData => [option(output.record, output), unspent(before)]),
    ),
  )

/** The name of the token of a part, 32 bytes. */
export function resolutionName(header: Header, resolution: Resolution): Uint8Array {
  const { transaction, first, outputs, isLast } = resolution
  return blake2b256(
    concatBytes(
      headerHash(header),
      numberKey(BigInt(transaction.position)),
      numberKey(BigInt(first)).subarray(4),
      numberKey(BigInt(first + outputs.length)).subarray(4),
      Uint8Array.of(Number(isLast)),
      resolvedHashes(resolution),
    ),
  )
}

/** The hashes of the outputs of a part; a reference to nothing adds none. */
export const resolvedHashes = ({ outputs }: Pick<Resolution, 'outputs'>): Uint8Array =>
  concatBytes(
    ...outputs.map(({ output, before }) => output.record?.subarray(16) ?? before?.hash ?? new Uint8Array()),
  )
