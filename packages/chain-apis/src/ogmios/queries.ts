import { toHex } from '@ratatosk/cbor'
import { type Credential, safeZone, slotToTime } from '@ratatosk/ledger'
import { readBlockHash } from '../block-hash.js'
import type { ConnectedClient } from '../client-signal.js'
import { referenceKey } from '../evaluation/additional-outputs.js'
import {
  InvalidInputError,
  isObject,
  type JsonObject,
  quoted,
  readAddress,
  readFields,
  readHex,
  readInteger,
  readList,
  readText,
} from '../input.js'
import { EncodedJson, lazyList } from '../json.js'
import { maxAddresses, maxCredentials, maxReferences } from '../limits.js'
import type { LongLists } from '../long-lists.js'
import { epochLength, epochOf } from '../mainnet-values.js'
import { readStakeCredential } from '../stake-credential.js'
import type { ChainOutput, ChainOutputQuery, ChainTip, ChainView, Point } from '../view/chain-view.js'
import { genesisConfiguration } from './json/genesis-json.js'
import { lovelaceJson, outputJson, referenceJson } from './json/output-json.js'
import { parametersJson } from './json/parameters-json.js'
import { utcTime } from './json/texts.js'
import type { Query } from './query.js'
import { ungoverned } from './ungoverned.js'

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
