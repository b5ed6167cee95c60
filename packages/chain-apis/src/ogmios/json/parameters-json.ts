import type { Rational } from '@ratatosk/ledger'
import {
  defaultMaxReferenceScriptsSize,
  type Ratio,
  referenceScriptTiers,
  unusedParameters as unused,
} from '../../mainnet-values.js'
import type { OgmiosVersion } from '../../versions.js'
import type { ChainView } from '../../view/chain-view.js'
import { lovelaceJson, plutusLanguages } from './output-json.js'

/** `queryLedgerState/protocolParameters`. Parameters that no rule reads are mainnet's. */
export function parametersJson(
  { parameters, maxBlockSize }: Pick<ChainView, 'parameters' | 'maxBlockSize'>,
  version: OgmiosVersion,
) {
  const { executionPrices, maxTransactionExecutionUnits, maxBlockExecutionUnits } = parameters
  const { pool, drep } = unused
  const { numerator, denominator } = parameters.referenceScriptCostPerByte
  return {
    minFeeCoefficient: parameters.minFeeA,
    minFeeConstant: lovelaceJson(parameters.minFeeB),
    minFeeReferenceScripts: { ...referenceScriptTiers, base: Number(numerator) / Number(denominator) },
    minUtxoDepositCoefficient: parameters.coinsPerUtxoByte,
    minUtxoDepositConstant: lovelaceJson(0n),
    maxBlockBodySize: { bytes: maxBlockSize },
    maxBlockHeaderSize: { bytes: unused.maxBlockHeaderSize },
    maxTransactionSize: { bytes: parameters.maxTransactionSize },
    maxValueSize: { bytes: parameters.maxValueSize },
    stakeCredentialDeposit: lovelaceJson(parameters.keyDeposit),
    stakePoolDeposit: lovelaceJson(parameters.poolDeposit),
    stakePoolRetirementEpochBound: unused.stakePoolRetirementEpochBound,
    stakePoolPledgeInfluence: ratio(unused.stakePoolPledgeInfluence),
    minStakePoolCost: lovelaceJson(unused.minStakePoolCost),
    desiredNumberOfStakePools: unused.desiredNumberOfStakePools,
    monetaryExpansion: ratio(unused.monetaryExpansion),
    treasuryExpansion: ratio(unused.treasuryExpansion),
    collateralPercentage: parameters.collateralPercentage,
    maxCollateralInputs: parameters.maxCollateralInputs,
    plutusCostModels: Object.fromEntries(
      (['PlutusV1', 'PlutusV2', 'PlutusV3'] as const).flatMap((language) => {
        const model = parameters.costModels[language]
        return model === undefined ? [] : [[plutusLanguages[language], model]]
      }),
    ),
    scriptExecutionPrices: { memory: exact(executionPrices.memory), cpu: exact(executionPrices.steps) },
    maxExecutionUnitsPerTransaction: units(maxTransactionExecutionUnits),
    maxExecutionUnitsPerBlock: units(maxBlockExecutionUnits),
    [version === '6' ? 'maxReferenceScriptsSize' : 'maxReferenceScriptsSizePerTransaction']: {
      bytes: parameters.maxReferenceScriptsSize ?? defaultMaxReferenceScriptsSize,
    },
    stakePoolVotingThresholds: {
      noConfidence: ratio(pool.noConfidence),
      constitutionalCommittee: {
        default: ratio(pool.committeeNormal),
        stateOfNoConfidence: ratio(pool.committeeNoConfidence),
      },
      hardForkInitiation: ratio(pool.hardForkInitiation),
      protocolParametersUpdate: { security: ratio(pool.security) },
    },
    constitutionalCommitteeMinSize: unused.committeeMinSize,
    constitutionalCommitteeMaxTermLength: unused.committeeMaxTermLength,
    governanceActionLifetime: unused.governanceActionLifetime,
    governanceActionDeposit: lovelaceJson(parameters.governanceActionDeposit),
    delegateRepresentativeVotingThresholds: {
      noConfidence: ratio(drep.noConfidence),
      constitution: ratio(drep.constitution),
      constitutionalCommittee: {
        default: ratio(drep.committeeNormal),
        stateOfNoConfidence: ratio(drep.committeeNoConfidence),
      },
      hardForkInitiation: ratio(drep.hardForkInitiation),
      protocolParametersUpdate: {
        network: ratio(drep.network),
        economic: ratio(drep.economic),
        technical: ratio(drep.technical),
        governance: ratio(drep.governance),
      },
      treasuryWithdrawals: ratio(drep.treasuryWithdrawals),
    },
    delegateRepresentativeDeposit: lovelaceJson(parameters.drepDeposit),
    delegateRepresentativeMaxIdleTime: unused.drepMaxIdleTime,
    version: parameters.ledgerVersion,
  }
}

function units({ memory, steps }: { readonly memory: bigint; readonly steps: bigint }) {
  return { memory, cpu: steps }
}

function exact({ numerator, denominator }: Rational): string {
  return `${numerator}/${denominator}`
}

export function ratio([numerator, denominator]: Ratio): string {
  return `${numerator}/${denominator}`
}
