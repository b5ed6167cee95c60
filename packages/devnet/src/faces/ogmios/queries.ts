import { type Credential, isDecodeError, slotToTime, toHex } from '@ratatosk/ledger'
import type { ChainOutput, Point, Tip } from '../../chain/types.js'
import type { Devnet } from '../../types.js'
import { epochLength, epochOf } from '../epochs.js'
import { readStakeCredential } from '../stake-credential.js'
import { lovelaceJson, outputJson, referenceJson } from './output-json.js'
import { parametersJson } from './parameters-json.js'
import { invalidParams, isObject, RpcError, type RpcRequest } from './rpc.js'

type Query = (devnet: Devnet, params: RpcRequest['params']) => unknown

/** The queries of ledger state and network that have an answer here. */
export const queries: Readonly<Record<string, Query>> = {
  'queryLedgerState/tip': (devnet) => pointJson(devnet.tip()),
  'queryLedgerState/epoch': (devnet) => epochOf(devnet.tip().slot),
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
  'queryLedgerState/protocolParameters': (devnet) => parametersJson(devnet),
  'queryLedgerState/utxo': (devnet, params) => utxosBy(devnet, params).map(utxoJson),
  'queryLedgerState/rewardAccountSummaries': rewardAccounts,
  'queryLedgerState/treasuryAndReserves': () => ({ treasury: lovelaceJson(0n), reserves: lovelaceJson(0n) }),
  'queryNetwork/tip': (devnet) => pointJson(devnet.tip()),
  'queryNetwork/blockHeight': (devnet) => (devnet.tip().height === 0 ? 'origin' : devnet.tip().height),
  'queryNetwork/startTime': ({ slots }) => utcTime(slots.zeroTime),
  'queryNetwork/genesisConfiguration': genesisConfiguration,
}

const eraStart = { time: { seconds: 0 }, slot: 0, epoch: 0 }

export function pointJson({ height, slot, hash }: Tip): 'origin' | { slot: bigint; id: string } {
  return height === 0 ? 'origin' : { slot, id: hash }
}

export function tipJson({
  height,
  slot,
  hash,
}: Tip): 'origin' | { slot: bigint; id: string; height: number } {
  return height === 0 ? 'origin' : { slot, id: hash, height }
}

/** @throws {RpcError} -32602 */
export function readPoint(point: unknown): 'origin' | Point {
  if (point === 'origin') return point
  if (!isObject(point) || typeof point.id !== 'string' || !Number.isSafeInteger(point.slot)) {
    throw invalidParams('A point is "origin" or { "slot", "id" }.')
  }
  return { slot: BigInt(Number(point.slot)), hash: point.id }
}

export function utxoJson({ key, output }: ChainOutput) {
  return { ...referenceJson(key), ...outputJson(output) }
}

export function utcTime(milliseconds: bigint): string {
  return new Date(Number(milliseconds)).toISOString().replace(/\.000Z$/, 'Z')
}

function utxosBy(devnet: Devnet, { outputReferences, addresses }: RpcRequest['params']): ChainOutput[] {
  if (outputReferences !== undefined) return devnet.utxos({ references: readReferences(outputReferences) })
  if (addresses === undefined) return devnet.utxos()
  if (!Array.isArray(addresses)) throw invalidParams('"addresses" must be an array.')
  try {
    return addresses.flatMap((address) => devnet.utxos({ address: String(address) }))
  } catch (error) {
    if (isDecodeError(error)) throw invalidParams(`Not an address: ${error.message}`)
    throw error
  }
}

/** Accounts that are registered; there are no rewards here. */
function rewardAccounts(devnet: Devnet, { keys = [], scripts = [] }: RpcRequest['params']): unknown {
  if (!Array.isArray(keys) || !Array.isArray(scripts))
    throw invalidParams('"keys" and "scripts" must be arrays.')
  const read = (text: unknown, kind: Credential['kind']): Credential => {
    const credential = readStakeCredential(String(text), kind)
    if (credential === undefined) throw invalidParams(`Not a stake credential: ${String(text).slice(0, 120)}`)
    return credential
  }
  const credentials = [
    ...keys.map((key) => read(key, 'key')),
    ...scripts.map((script) => read(script, 'script')),
  ]
  return credentials.flatMap((credential) => {
    const deposit = devnet.stakeDeposit(credential)
    if (deposit === undefined) return []
    return {
      from: credential.kind === 'key' ? 'verificationKey' : 'script',
      credential: toHex(credential.hash),
      rewards: lovelaceJson(0n),
      deposit: lovelaceJson(deposit),
    }
  })
}

function readReferences(references: unknown): string[] {
  if (!Array.isArray(references)) throw invalidParams('"outputReferences" must be an array.')
  return references.map((reference: unknown) => {
    const { transaction, index } = isObject(reference) ? reference : {}
    const id = isObject(transaction) ? transaction.id : undefined
    if (typeof id !== 'string' || !Number.isSafeInteger(index)) {
      throw invalidParams('An output reference is { "transaction": { "id" }, "index" }.')
    }
    return `${id.toLowerCase()}#${index}`
  })
}

function genesisConfiguration(devnet: Devnet, { era }: RpcRequest['params']): unknown {
  if (era !== 'shelley') {
    throw new RpcError(
      2004,
      'The devnet begins in the Conway era; only "shelley" has a configuration.',
      String(era),
    )
  }
  return {
    era,
    startTime: utcTime(slotToTime(devnet.slots, 0n)),
    networkMagic: devnet.networkMagic,
    network: 'testnet',
    activeSlotsCoefficient: '1/1',
    securityParameter: devnet.securityParameter,
    epochLength,
    slotsPerKesPeriod: 129_600,
    maxKesEvolutions: 62,
    slotLength: { milliseconds: devnet.slots.slotLength },
    updateQuorum: 5,
    maxLovelaceSupply: 45_000_000_000_000_000n,
    initialParameters: parametersJson(devnet),
    initialDelegates: [],
    initialFunds: {},
    initialStakePools: { stakePools: {}, delegators: {} },
  }
}
