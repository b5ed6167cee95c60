import type { ProtocolParameters, SlotConfig } from '@ratatosk/ledger'

/** The protocol parameters of mainnet in the Conway era without cost models, with the given fees. */
function parametersWith(fees: { minFeeA: bigint; minFeeB: bigint }): ProtocolParameters {
  return {
    ...fees,
    maxTransactionSize: 16_384,
    maxValueSize: 5000,
    coinsPerUtxoByte: 4310n,
    collateralPercentage: 150n,
    maxCollateralInputs: 3,
    executionPrices: {
      memory: { numerator: 577n, denominator: 10_000n },
      steps: { numerator: 721n, denominator: 10_000_000n },
    },
    maxTransactionExecutionUnits: { memory: 14_000_000n, steps: 10_000_000_000n },
    maxBlockExecutionUnits: { memory: 62_000_000n, steps: 20_000_000_000n },
    referenceScriptCostPerByte: { numerator: 15n, denominator: 1n },
    costModels: {},
    ledgerVersion: { major: 10, minor: 0 },
    keyDeposit: 2_000_000n,
    poolDeposit: 500_000_000n,
    drepDeposit: 500_000_000n,
    governanceActionDeposit: 100_000_000_000n,
  }
}

/** Parameters without fees. */
export const freeOfCharge = parametersWith({ minFeeA: 0n, minFeeB: 0n })

/** Parameters with the fees of mainnet. */
export const documentFees = parametersWith({ minFeeA: 44n, minFeeB: 155_381n })

/** One slot per second since 2024-01-01. */
export const slots: SlotConfig = { zeroTime: 1_704_067_200_000n, zeroSlot: 0n, slotLength: 1000 }
