// Mainnet's values for what the chain does not have: the APIs must show them, and no rule reads them.

/** The most lovelace that there can ever be. */
export const maxSupply = 45_000_000_000_000_000n

/** Slots per epoch. Nothing happens at an epoch boundary. */
export const epochLength = 432_000n

export function epochOf(slot: bigint): number {
  return Number(slot / epochLength)
}

/** Protocol parameters that no rule reads. Fractions are `[numerator, denominator]`, amounts lovelace. */
export const unusedParameters = {
  maxBlockHeaderSize: 1100,
  stakePoolRetirementEpochBound: 18,
  desiredNumberOfStakePools: 500,
  stakePoolPledgeInfluence: [3, 10],
  monetaryExpansion: [3, 1000],
  treasuryExpansion: [1, 5],
  minStakePoolCost: 170_000_000n,
  committeeMinSize: 7,
  committeeMaxTermLength: 146,
  governanceActionLifetime: 6,
  drepMaxIdleTime: 20,
  pool: {
    noConfidence: [51, 100],
    committeeNormal: [51, 100],
    committeeNoConfidence: [51, 100],
    hardForkInitiation: [51, 100],
    security: [51, 100],
  },
  drep: {
    noConfidence: [67, 100],
    constitution: [75, 100],
    committeeNormal: [67, 100],
    committeeNoConfidence: [60, 100],
    hardForkInitiation: [60, 100],
    network: [67, 100],
    economic: [67, 100],
    technical: [67, 100],
    governance: [75, 100],
    treasuryWithdrawals: [67, 100],
  },
} as const

/** The price of reference scripts grows by `multiplier` every `range` bytes. */
export const referenceScriptTiers = { range: 25_600, multiplier: 1.2 } as const

/** Largest total size of the reference scripts of a transaction in bytes, if the parameters do not set it. */
export const defaultMaxReferenceScriptsSize = 204_800

export type Ratio = readonly [number, number]
