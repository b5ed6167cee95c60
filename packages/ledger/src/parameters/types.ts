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

/** Returns the start of a slot in POSIX milliseconds. */
export function slotToTime(slots: SlotConfig, slot: bigint): bigint {
  return slots.zeroTime + (slot - slots.zeroSlot) * BigInt(slots.slotLength)
}

/**
 * Returns the slot that contains a time.
 *
 * @param time POSIX milliseconds; a time before `zeroTime` yields a slot before `zeroSlot`
 */
export function timeToSlot(slots: SlotConfig, time: bigint): bigint {
  const length = BigInt(slots.slotLength)
  const elapsed = time - slots.zeroTime
  const whole = elapsed / length
  return slots.zeroSlot + (elapsed < 0n && elapsed % length !== 0n ? whole - 1n : whole)
}

/**
 * For how many slots after the newest block the time of a slot is known: 3 · k / f of mainnet. Layer 1 may
 * change the length of slots in a hard fork after them, so it runs no script on a later bound.
 */
export const safeZone = 129_600n

/** The last slot whose time is known in a slot: {@link RuleContext.forecastHorizon}. */
export function forecastHorizon(slot: bigint): bigint {
  return slot + safeZone
}
