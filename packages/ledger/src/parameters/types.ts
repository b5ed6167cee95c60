import type { PlutusLanguage } from '../transaction/types.js'

/** An exact fraction, used for prices. */
export interface Rational {
  readonly numerator: bigint
  readonly denominator: bigint
}

/**
 * The protocol parameters that the UTXO, UTXOW and UTXOS rules read. Amounts are in lovelace, sizes in bytes,
 * execution prices in lovelace per unit of memory or step. See {@link parseProtocolParameters}.
 */
export interface ProtocolParameters {
  readonly minFeeA: bigint
  readonly minFeeB: bigint
  readonly maxTransactionSize: number
  readonly maxValueSize: number
  readonly coinsPerUtxoByte: bigint
  readonly collateralPercentage: bigint
  readonly maxCollateralInputs: number
  readonly executionPrices: { readonly memory: Rational; readonly steps: Rational }
  readonly maxTransactionExecutionUnits: { readonly memory: bigint; readonly steps: bigint }
  readonly maxBlockExecutionUnits: { readonly memory: bigint; readonly steps: bigint }
  /** Lovelace per byte of reference scripts in the first tier of 25,600 bytes. */
  readonly referenceScriptCostPerByte: Rational
  /**
   * Maximum total size of the reference scripts that a transaction uses; default 204,800, fixed by Conway.
   */
  readonly maxReferenceScriptsSize?: number
  readonly costModels: { readonly [language in PlutusLanguage]?: readonly bigint[] }
  /** Cardano's protocol version. */
  readonly ledgerVersion: { readonly major: number; readonly minor: number }
  readonly keyDeposit: bigint
  readonly poolDeposit: bigint
  readonly drepDeposit: bigint
  readonly governanceActionDeposit: bigint
}

/**
 * The mapping of slots to time: slot `zeroSlot` begins at `zeroTime` (POSIX milliseconds), and each slot
 * lasts `slotLength` milliseconds.
 */
export interface SlotConfig {
  readonly zeroTime: bigint
  readonly zeroSlot: bigint
  readonly slotLength: number
}
