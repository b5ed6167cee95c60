/**
 * Protocol parameters that no rule here reads, with mainnet's values of the Conway era: SDKs ask for every field.
 * Fractions are `[numerator, denominator]`.
 */
export const unjudgedParameters = {
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

/** What a reference script costs a byte grows by this factor with every so many bytes. */
export const referenceScriptTiers = { range: 25_600, multiplier: 1.2 } as const

/** Bytes of reference scripts that one transaction may touch, where the parameters do not say. */
export const defaultMaxReferenceScriptsSize = 204_800

export type Fraction = readonly [number, number]
