import { toHex } from '@ratatosk/cbor'
import { type Credential, safeZone, slotToTime } from '@ratatosk/ledger'
import { referenceKey } from '../evaluation/additional-outputs.js'
import {
  InvalidInputError,
  isObject,
  type JsonObject,
  maxAddresses,
  maxCredentials,
  maxReferences,
  quoted,
  readAddress,
  readBlockHash,
  readFields,
  readHex,
  readInteger,
  readList,
  readQuantity,
  readText,
} from '../input.js'
import { EncodedJson, lazyList } from '../json.js'
import type { ConnectedClient, LongLists } from '../long-lists.js'
import { epochLength, epochOf, unusedParameters } from '../mainnet-values.js'
import type { OgmiosVersion } from '../options.js'
import { readBech32, readStakeCredential } from '../view/address-text.js'
import type { ChainOutput, ChainOutputQuery, ChainTip, ChainView, Point } from '../view/chain-view.js'
import { emptyConstitution, genesisConfiguration, parametersJson, ratio } from './json/parameters-json.js'
import { lovelaceJson, outputJson, referenceJson, utcTime } from './json/transaction-json.js'

/** The names of the parameters of a query, and its answer. */
export type Query = readonly [
  names: readonly string[],
  answer: (chain: ChainView, params: JsonObject, version: OgmiosVersion) => unknown,
]

const none = lovelaceJson(0n)

/** The queries about stake pools and governance, on a chain that has neither. */
const ungoverned: Readonly<Record<string, Query>> = {
  'queryLedgerState/constitution': [[], () => emptyConstitution],
  'queryLedgerState/constitutionalCommittee': [[], () => ({ members: [], quorum: null })],
  'queryLedgerState/delegateRepresentatives': [
    ['keys', 'scripts'],
    (_chain, { keys = [], scripts = [] }) => {
      for (const [name, list] of Object.entries({ keys, scripts })) {
        readEach(list, name, (text) => isHash(text, ['drep_vkh', 'drep_script']))
      }
      return ['abstain', 'noConfidence'].map((type) => ({ type, stake: none, delegators: [] }))
    },
  ],
  'queryLedgerState/governanceProposals': [
    ['proposals'],
    (_chain, { proposals = [] }) => {
      for (const [position, proposal] of readList(proposals, 'proposals', maxReferences).entries()) {
        const what = `proposals[${position}]`
        const { transaction, index } = readFields(proposal, what, ['transaction', 'index'])
        referenceKey(readFields(transaction, `${what}.transaction`, ['id']).id, index, what)
      }
      return []
    },
  ],
  'queryLedgerState/liveStakeDistribution': [[], () => ({})],
  'queryLedgerState/nonces': [
    [],
    () => ({
      epochNonce: 'neutral',
      candidateNonce: 'neutral',
      evolvingNonce: 'neutral',
      lastEpochLastAncestor: 'neutral',
    }),
  ],
  'queryLedgerState/operationalCertificates': [[], () => ({})],
  'queryLedgerState/projectedRewards': [['stake', 'scripts', 'keys'], projectedRewards],
  'queryLedgerState/rewardsProvenance': [
    [],
    () => ({
      totalStake: none,
      activeStake: none,
      fees: none,
      incentives: none,
      treasuryTax: none,
      totalRewards: none,
      efficiency: '0/1',
      stakePools: {},
    }),
  ],
  'queryLedgerState/stakePoolsPerformances': [
    [],
    () => ({
      desiredNumberOfStakePools: unusedParameters.desiredNumberOfStakePools,
      stakePoolPledgeInfluence: ratio(unusedParameters.stakePoolPledgeInfluence),
      totalRewardsInEpoch: none,
      activeStakeInEpoch: none,
      totalStakeInEpoch: none,
      stakePools: {},
    }),
  ],
  'queryLedgerState/stakePools': [
    ['includeStake', 'stakePools'],
    (_chain, { includeStake = false, stakePools = [] }) => {
      if (typeof includeStake !== 'boolean') {
        throw new InvalidInputError('includeStake must be true or false.')
      }
      const ids = readList(stakePools, 'stakePools', maxCredentials).map(
        (pool, position) => readFields(pool, `stakePools[${position}]`, ['id']).id,
      )
      readEach(ids, 'stakePools', (text) => isHash(text, ['pool']))
      return {}
    },
  ],
}

/** No pool rewards any amount, or the stake of any credential. */
function projectedRewards(_chain: unknown, { stake = [], scripts = [], keys = [] }: JsonObject): unknown {
  const amounts = readList(stake, 'stake', maxCredentials).map((value, position) => {
    const what = `stake[${position}]`
    const { ada } = readFields(value, what, ['ada'])
    return readQuantity(readFields(ada, `${what}.ada`, ['lovelace']).lovelace, `${what}.ada.lovelace`)
  })
  const hashes: string[] = []
  for (const [name, list, kind] of [
    ['scripts', scripts, 'script'],
    ['keys', keys, 'key'],
  ] as const) {
    readEach(list, name, (text) => {
      const credential = readStakeCredential(text, kind)
      if (credential !== undefined) hashes.push(Buffer.from(credential.hash).toString('hex'))
      return credential !== undefined
    })
  }
  return Object.fromEntries([...amounts.map(String), ...hashes].map((key) => [key, {}]))
}

/** @throws {InvalidInputError} an entry is not valid */
function readEach(list: unknown, name: string, isValid: (text: string) => boolean): void {
  for (const [position, entry] of readList(list, name, maxCredentials).entries()) {
    const what = `${name}[${position}]`
    const text = readText(entry, what)
    if (!isValid(text)) throw new InvalidInputError(`${what} is not an id of its kind: ${quoted(text)}.`)
  }
}

/** Whether a text is 28 bytes, in hex or in bech32 with one of the prefixes. */
function isHash(text: string, prefixes: readonly string[]): boolean {
  if (/^[0-9a-fA-F]{56}$/.test(text)) return true
  return readBech32(text, Object.fromEntries(prefixes.map((prefix) => [prefix, 28]))) !== undefined
}

export const queries: Readonly<Record<string, Query>> = {
  'queryLedgerState/tip': [[], async (chain) => pointJson(await chain.tip())],
  'queryLedgerState/epoch': [[], async (chain) => epochOf((await chain.tip()).slot)],
  'queryLedgerState/eraStart': [[], () => eraStart],
  'queryLedgerState/eraSummaries': [
    [],
    ({ slots }) => [
      {
        start: eraStart,
        parameters: { epochLength, slotLength: { milliseconds: slots.slotLength }, safeZone },
      },
    ],
  ],
  'queryLedgerState/protocolParameters': [[], (chain, _params, version) => parametersJson(chain, version)],
  'queryLedgerState/rewardAccountSummaries': [['keys', 'scripts'], rewardAccounts],
  'queryLedgerState/treasuryAndReserves': [
    [],
    () => ({ treasury: lovelaceJson(0n), reserves: lovelaceJson(0n) }),
  ],
  'queryNetwork/tip': [[], async (chain) => pointJson(await chain.tip())],
  'queryNetwork/blockHeight': [
    [],
    async (chain) => {
      const { height } = await chain.tip()
      return height === 0 ? 'origin' : height
    },
  ],
  'queryNetwork/startTime': [[], ({ slots }) => utcTime(slotToTime(slots, 0n))],
  'queryNetwork/genesisConfiguration': [['era'], genesisConfiguration],
  ...ungoverned,
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

/** @throws {InvalidInputError} */
export function readPoint(point: unknown): 'origin' | Point {
  if (point === 'origin') return point
  if (!isObject(point)) throw new InvalidInputError('a point is "origin" or { "slot", "id" }.')
  // Clients pass tips, which also have a height.
  const { slot, id } = readFields(point, 'a point', ['slot', 'id', 'height'])
  const hash = readHex(id, 'the id of a point')
  if (hash.length !== 64 && hash.length !== 56) {
    throw new InvalidInputError('the id of a point must be 64 hex digits, or 56 on layer 2.')
  }
  return { slot: readInteger(slot, 'the slot of a point'), hash: readBlockHash(hash) }
}

export async function unspentOutputs(
  chain: ChainView,
  lists: LongLists,
  params: JsonObject,
  client: ConnectedClient,
): Promise<EncodedJson> {
  const pages = pagesOf(chain, utxoQueries(params))
  return new EncodedJson(await lists.read(pages, (page) => lazyList(page, utxoJson), client))
}

function utxoJson({ key, output }: ChainOutput) {
  return { ...referenceJson(key), ...outputJson(output) }
}

/** Only no parameters ask for all outputs. @throws {InvalidInputError} */
function utxoQueries(params: JsonObject): readonly ChainOutputQuery[] {
  const names = Object.keys(params)
  if (names.length > 1) throw new InvalidInputError('send either outputReferences or addresses.')
  if (names.length === 0) return [{}]
  const { outputReferences, addresses } = params
  if (outputReferences !== undefined) return [{ references: readReferences(outputReferences) }]
  const distinct = new Set(
    readList(addresses, 'addresses', maxAddresses).map((address, position) =>
      toHex(readAddress(address, `addresses[${position}]`).bytes),
    ),
  )
  return Array.from(distinct, (address) => ({ address }))
}

async function* pagesOf(chain: ChainView, queries: readonly ChainOutputQuery[]) {
  for (const query of queries) yield* chain.outputPages({ ...query, spent: false }, 'oldest-first')
}

async function rewardAccounts(chain: ChainView, { keys = [], scripts = [] }: JsonObject): Promise<unknown> {
  const read = (list: unknown, name: string, kind: Credential['kind']): readonly Credential[] =>
    readList(list, name, maxCredentials).map((entry, position) => {
      const text = readText(entry, `${name}[${position}]`)
      const credential = readStakeCredential(text, kind)
      if (credential !== undefined) return credential
      throw new InvalidInputError(
        `${name}[${position}] is not a stake credential, as 56 hex digits or in bech32: ${quoted(text)}.`,
      )
    })
  const credentials = [...read(keys, 'keys', 'key'), ...read(scripts, 'scripts', 'script')]
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
  return readList(references, 'outputReferences', maxReferences).map((reference, position) => {
    const what = `outputReferences[${position}]`
    const { transaction, index } = readFields(reference, what, ['transaction', 'index'])
    const { id } = readFields(transaction, `${what}.transaction`, ['id'])
    return referenceKey(id, index, what)
  })
}
