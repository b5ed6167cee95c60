import { isDecodeError, toHex } from '@ratatosk/cbor'
import { type Credential, type Rational, slotToTime } from '@ratatosk/ledger'
import { readBlockHash } from '../block-hash.js'
import type { ConnectedClient } from '../client-signal.js'
import { EncodedJson, isObject, lazyList } from '../json.js'
import { maxAddresses, maxCredentials, maxReferences } from '../limits.js'
import type { LongLists } from '../long-lists.js'
import {
  defaultMaxReferenceScriptsSize,
  epochLength,
  epochOf,
  type Ratio,
  referenceScriptTiers,
  unusedParameters as unused,
} from '../mainnet-values.js'
import { readStakeCredential } from '../stake-credential.js'
import type { OgmiosVersion } from '../versions.js'
import { readAddressText } from '../view/address-text.js'
import type { ChainOutput, ChainOutputQuery, ChainTip, ChainView, Point } from '../view/chain-view.js'
import { lovelaceJson, outputJson, referenceJson } from './json/output-json.js'
import { checkList, invalidParams, RpcError, type RpcRequest } from './rpc.js'

type Query = (chain: ChainView, params: RpcRequest['params'], version: OgmiosVersion) => unknown

export const queries: Readonly<Record<string, Query>> = {
  'queryLedgerState/tip': async (chain) => pointJson(await chain.tip()),
  'queryLedgerState/epoch': async (chain) => epochOf((await chain.tip()).slot),
  'queryLedgerState/eraStart': () => eraStart,
  'queryLedgerState/eraSummaries': ({ slots, securityParameter }) => [
    {
      start: eraStart,
      parameters: {
        epochLength,
        slotLength: { milliseconds: slots.slotLength },
        safeZone: 3 * securityParameter,
      },
    },
  ],
  'queryLedgerState/protocolParameters': (chain, _params, version) => parametersJson(chain, version),
  'queryLedgerState/rewardAccountSummaries': rewardAccounts,
  'queryLedgerState/treasuryAndReserves': () => ({ treasury: lovelaceJson(0n), reserves: lovelaceJson(0n) }),
  'queryNetwork/tip': async (chain) => pointJson(await chain.tip()),
  'queryNetwork/blockHeight': async (chain) => {
    const { height } = await chain.tip()
    return height === 0 ? 'origin' : height
  },
  'queryNetwork/startTime': ({ slots }) => utcTime(slotToTime(slots, 0n)),
  'queryNetwork/genesisConfiguration': genesisConfiguration,
}

const eraStart = { time: { seconds: 0 }, slot: 0, epoch: 0 }

export function pointJson({ height, slot, hash }: ChainTip): 'origin' | { slot: bigint; id: string } {
  return height === 0 ? 'origin' : { slot, id: hash }
}

export function tipJson({
  height,
  slot,
  hash,
}: ChainTip): 'origin' | { slot: bigint; id: string; height: number } {
  return height === 0 ? 'origin' : { slot, id: hash, height }
}

/** @throws {RpcError} -32602 */
export function readPoint(point: unknown): 'origin' | Point {
  if (point === 'origin') return point
  if (!isObject(point) || typeof point.id !== 'string' || !Number.isSafeInteger(point.slot)) {
    throw invalidParams('A point is "origin" or { "slot", "id" }.')
  }
  return { slot: BigInt(Number(point.slot)), hash: readBlockHash(point.id) }
}

export async function unspentOutputs(
  chain: ChainView,
  lists: LongLists,
  params: RpcRequest['params'],
  client: ConnectedClient,
): Promise<EncodedJson> {
  const pages = pagesOf(chain, utxoQueries(params))
  return new EncodedJson(await lists.read(pages, (page) => lazyList(page, utxoJson), client))
}

function utxoJson({ key, output }: ChainOutput) {
  return { ...referenceJson(key), ...outputJson(output) }
}

export function utcTime(milliseconds: bigint): string {
  return new Date(Number(milliseconds)).toISOString().replace(/\.000Z$/, 'Z')
}

/** @throws {RpcError} -32602 */
function utxoQueries({ outputReferences, addresses }: RpcRequest['params']): readonly ChainOutputQuery[] {
  if (outputReferences !== undefined) return [{ references: readReferences(outputReferences) }]
  if (addresses === undefined) return [{}]
  checkList('addresses', addresses, maxAddresses)
  const distinct = new Set(addresses.map((address) => addressBytes(String(address))))
  return Array.from(distinct, (address) => ({ address }))
}

async function* pagesOf(chain: ChainView, queries: readonly ChainOutputQuery[]) {
  for (const query of queries) yield* chain.outputPages({ ...query, spent: false }, 'oldest-first')
}

function addressBytes(text: string): string {
  try {
    return toHex(readAddressText(text).bytes)
  } catch (error) {
    if (isDecodeError(error)) throw invalidParams(`Not an address: ${error.message}`)
    throw error
  }
}

/** The network that Ogmios would name. */
export function networkName({ networkId }: Pick<ChainView, 'networkId'>): 'mainnet' | 'testnet' {
  return networkId === 1 ? 'mainnet' : 'testnet'
}

async function rewardAccounts(
  chain: ChainView,
  { keys = [], scripts = [] }: RpcRequest['params'],
): Promise<unknown> {
  checkList('keys', keys, maxCredentials)
  checkList('scripts', scripts, maxCredentials)
  const read = (text: unknown, kind: Credential['kind']): Credential => {
    const credential = readStakeCredential(String(text), kind)
    if (credential === undefined) throw invalidParams(`Not a stake credential: ${String(text).slice(0, 120)}`)
    return credential
  }
  const credentials = [
    ...keys.map((key) => read(key, 'key')),
    ...scripts.map((script) => read(script, 'script')),
  ]
  const accounts = await Promise.all(
    credentials.map(async (credential) => {
      const deposit = await chain.stakeDeposit(credential)
      if (deposit === undefined) return []
      return {
        from: credential.kind === 'key' ? 'verificationKey' : 'script',
        credential: toHex(credential.hash),
        rewards: lovelaceJson(0n),
        deposit: lovelaceJson(deposit),
      }
    }),
  )
  return accounts.flat()
}

function readReferences(references: unknown): string[] {
  checkList('outputReferences', references, maxReferences)
  return references.map((reference: unknown) => {
    const { transaction, index } = isObject(reference) ? reference : {}
    const id = isObject(transaction) ? transaction.id : undefined
    if (typeof id !== 'string' || !Number.isSafeInteger(index)) {
      throw invalidParams('An output reference is { "transaction": { "id" }, "index" }.')
    }
    return `${id.toLowerCase()}#${index}`
  })
}

function genesisConfiguration(
  chain: ChainView,
  { era }: RpcRequest['params'],
  version: OgmiosVersion,
): unknown {
  if (era !== 'shelley') {
    throw new RpcError(
      2004,
      'The chain starts in the Conway era: only "shelley" has a genesis configuration.',
      String(era),
    )
  }
  return {
    era,
    startTime: utcTime(slotToTime(chain.slots, 0n)),
    networkMagic: chain.networkMagic,
    network: networkName(chain),
    activeSlotsCoefficient: '1/1',
    securityParameter: chain.securityParameter,
    epochLength,
    slotsPerKesPeriod: 129_600,
    maxKesEvolutions: 62,
    slotLength: { milliseconds: chain.slots.slotLength },
    updateQuorum: 5,
    maxLovelaceSupply: 45_000_000_000_000_000n,
    initialParameters: parametersJson(chain, version),
    initialDelegates: [],
    initialFunds: {},
    initialStakePools: { stakePools: {}, delegators: {} },
  }
}

const languages = { PlutusV1: 'plutus:v1', PlutusV2: 'plutus:v2', PlutusV3: 'plutus:v3' } as const

/** `queryLedgerState/protocolParameters`. Parameters that no rule reads are mainnet's. */
function parametersJson(
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
        return model === undefined ? [] : [[languages[language], model]]
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

function ratio([numerator, denominator]: Ratio): string {
  return `${numerator}/${denominator}`
}
