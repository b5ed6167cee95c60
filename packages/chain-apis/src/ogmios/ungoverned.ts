import { referenceKey } from '../evaluation/additional-outputs.js'
import {
  InvalidInputError,
  type JsonObject,
  quoted,
  readFields,
  readList,
  readQuantity,
  readText,
} from '../input.js'
import { maxCredentials, maxReferences } from '../limits.js'
import { unusedParameters } from '../mainnet-values.js'
import { readStakeCredential } from '../stake-credential.js'
import { readBech32 } from '../view/bech32-text.js'
import { emptyConstitution } from './json/genesis-json.js'
import { lovelaceJson } from './json/output-json.js'
import { ratio } from './json/parameters-json.js'
import type { Query } from './query.js'

const none = lovelaceJson(0n)

/** The queries about stake pools and governance, on a chain that has neither. */
export const ungoverned: Readonly<Record<string, Query>> = {
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
