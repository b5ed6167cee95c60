import { type Rational, slotToTime } from '@ratatosk/ledger'
import { InvalidInputError, type JsonObject, quoted, readText } from '../../input.js'
import {
  defaultMaxReferenceScriptsSize,
  epochLength,
  maxSupply,
  type Ratio,
  referenceScriptTiers,
  unusedParameters as unused,
} from '../../mainnet-values.js'
import type { OgmiosVersion } from '../../options.js'
import type { ChainView } from '../../view/chain-view.js'
import { lovelaceJson, networkName, plutusLanguages, utcTime } from './transaction-json.js'

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

/** The constitution of the ledger until one is ratified. */
export const emptyConstitution = { metadata: { url: '', hash: '00'.repeat(32) }, guardrails: null }

/** The parameters that the genesis of Alonzo has. */
const ofAlonzo = [
  'minUtxoDepositCoefficient',
  'collateralPercentage',
  'plutusCostModels',
  'maxCollateralInputs',
  'maxExecutionUnitsPerBlock',
  'maxExecutionUnitsPerTransaction',
  'maxValueSize',
  'scriptExecutionPrices',
] as const

/** The parameters that the genesis of Conway has. */
const ofConway = [
  'stakePoolVotingThresholds',
  'constitutionalCommitteeMinSize',
  'constitutionalCommitteeMaxTermLength',
  'governanceActionLifetime',
  'governanceActionDeposit',
  'delegateRepresentativeVotingThresholds',
  'delegateRepresentativeDeposit',
  'delegateRepresentativeMaxIdleTime',
] as const

/** Those that it has in Ogmios 7 as well. */
const ofConway7 = [...ofConway, 'plutusCostModels', 'minFeeReferenceScripts'] as const

/** Conway's limit of a block. */
const maxReferenceScriptsOfBlock = { bytes: 1_048_576 }

const eras = 'byron, shelley, alonzo, conway'

/** The genesis of an era, with the parameters of today: the chain starts in Conway. */
export function genesisConfiguration(chain: ChainView, { era }: JsonObject, version: OgmiosVersion): unknown {
  const name = readText(era, 'era').toLowerCase()
  const parameters = parametersJson(chain, version)
  const pick = (names: readonly (keyof typeof parameters)[]) =>
    Object.fromEntries(names.map((each) => [each, parameters[each]]))
  const start = {
    era: name,
    startTime: utcTime(slotToTime(chain.slots, 0n)),
    networkMagic: chain.networkMagic,
    securityParameter: chain.securityParameter,
  }
  if (name === 'dijkstra' && version === '7') {
    return {
      era: name,
      maxReferenceScriptsSizePerBlock: maxReferenceScriptsOfBlock,
      ...pick(['maxReferenceScriptsSizePerTransaction']),
      minFeeReferenceScripts: referenceScriptTiers,
    }
  }
  switch (name) {
    case 'byron':
      return {
        ...start,
        genesisKeyHashes: [],
        genesisDelegations: {},
        initialFunds: {},
        initialVouchers: {},
        updatableParameters: parameters,
      }
    case 'shelley':
      return {
        ...start,
        network: networkName(chain),
        activeSlotsCoefficient: '1/1',
        epochLength,
        slotsPerKesPeriod: 129_600,
        maxKesEvolutions: 62,
        slotLength: { milliseconds: chain.slots.slotLength },
        updateQuorum: 5,
        maxLovelaceSupply: maxSupply,
        initialParameters: parameters,
        initialDelegates: [],
        initialFunds: {},
        initialStakePools: { stakePools: {}, delegators: {} },
      }
    case 'alonzo':
      return { era: name, updatableParameters: pick(ofAlonzo) }
    case 'conway':
      return {
        era: name,
        constitution: emptyConstitution,
        constitutionalCommittee: { members: [], quorum: '0/1' },
        updatableParameters: pick(version === '6' ? ofConway : ofConway7),
      }
    default: {
      const known = version === '6' ? eras : `${eras}, dijkstra`
      throw new InvalidInputError(`era must be one of ${known}, not ${quoted(name)}.`)
    }
  }
}
