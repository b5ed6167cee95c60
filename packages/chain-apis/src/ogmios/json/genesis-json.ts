import { slotToTime } from '@ratatosk/ledger'
import { InvalidInputError, type JsonObject, quoted, readText } from '../../input.js'
import { epochLength, maxSupply, referenceScriptTiers } from '../../mainnet-values.js'
import type { OgmiosVersion } from '../../versions.js'
import type { ChainView } from '../../view/chain-view.js'
import { parametersJson } from './parameters-json.js'
import { networkName, utcTime } from './texts.js'

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
