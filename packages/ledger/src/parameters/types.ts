import type { PlutusLanguage } from '../transaction/types.js'

/** An exact fraction, as the ledger keeps prices and ratios. */
export interface Rational {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** The parameters that the UTXO, UTXOW and UTXOS rules read. Amounts in lovelace, sizes in bytes. */
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
  /** Lovelace a byte of reference scripts, in the first tier. */
  readonly referenceScriptCostPerByte: Rational
  /** Bytes of reference scripts that one transaction may touch; the ledger's 204,800 where it is not given. */
  readonly maxReferenceScriptsSize?: number
  readonly costModels: { readonly [language in PlutusLanguage]?: readonly bigint[] }
  readonly protocolVersion: { readonly major: number; readonly minor: number }
  readonly keyDeposit: bigint
  readonly poolDeposit: bigint
  readonly drepDeposit: bigint
  readonly governanceActionDeposit: bigint
}

/** How slots stand in time: slot `zeroSlot` began at `zeroTime` (POSIX milliseconds), each lasts `slotLength` milliseconds. */
export interface SlotConfig {
  readonly zeroTime: bigint
  readonly zeroSlot: bigint
  readonly slotLength: number
}
