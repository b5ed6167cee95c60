import { equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { decodeBridgeDatum, depositOutput } from '@ratatosk/contracts'
import { type Assets, blake2b256, type Utxo } from '@ratatosk/ledger'
import { invalidDraft } from '@ratatosk/ledger/builder'
import { PlutusDataError } from '@ratatosk/ledger/plutus-data'
import type { Bridge, Contracts } from './contracts.js'

/** A deposit on layer 1. */
export interface DepositOutput {
  readonly utxo: Utxo
  /** The name of its token and the transaction id of its output on layer 2, 32 bytes. */
  readonly id: Uint8Array
  /** POSIX milliseconds: the block whose interval has this time credits it. */
  readonly time: bigint
  /** The address on layer 2. */
  readonly address: Uint8Array
  /** The output on layer 2, CBOR. */
  readonly output: Uint8Array
}

/** A debt of the bridge: the outputs that left by a merged block. */
export interface Settlement {
  readonly utxo: Utxo
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** Of the map from output reference to output of what is left to be paid, 32 bytes. */
  readonly root: Uint8Array
  /** POSIX milliseconds: it pays from reserves, and from deposits of earlier times. */
  readonly time: bigint
}

/** The outputs at the bridge. */
export interface BridgeState {
  readonly deposits: readonly DepositOutput[]
  /** Money of the treasury: the largest first, those with assets that are not bridged last. */
  readonly reserves: readonly Utxo[]
  readonly settlements: readonly Settlement[]
  /** Nothing of the bridge: anyone can leave outputs there. One with the token of an event is a fault. */
  readonly strays: readonly Utxo[]
}

/**
 * Reads the outputs at the bridge's address, as `layer1.utxosAt(bridge.place.addressText)` returns them;
 * nothing if the contracts have no bridge. An output whose hash differs from what its deposit states is
 * a stray: the script and this reader would disagree about it.
 */
export function readBridge({ bridge }: Contracts, utxos: readonly Utxo[]): BridgeState {
  const deposits: DepositOutput[] = []
  const reserves: Utxo[] = []
  const settlements: Settlement[] = []
  const strays: Utxo[] = []
  if (bridge === undefined) return { deposits, reserves, settlements, strays }
  for (const utxo of utxos) {
    if (!equalBytes(utxo.output.address.bytes, bridge.place.address)) continue
    if (isReserve(utxo)) {
      reserves.push(utxo)
      continue
    }
    const read = readDatum(bridge, utxo)
    if (read === undefined) strays.push(utxo)
    else if ('headerHash' in read) settlements.push(read)
    else deposits.push(read)
  }
  reserves.sort(byUse(bridge))
  return { deposits, reserves, settlements, strays }
}

/** The bridge of contracts. @throws {WalletError} `WALLET_INVALID_DRAFT` if they have none */
export function bridgeOf({ bridge }: Contracts): Bridge {
  if (bridge === undefined) throw invalidDraft('these contracts have no bridge')
  return bridge
}

/** Whether an address (CIP-19) is the bridge's, with any stake part: a payment to it on layer 1 is a gift. */
export const paysBridge = ({ place }: Bridge, address: Uint8Array): boolean =>
  equalBytes(address.subarray(1, 29), place.script.hash)

/** Whether all assets may be deposited and withdrawn. */
export function areBridged({ terms }: Bridge, assets: Assets): boolean {
  const policies = new Set(terms.bridged.map(toHex))
  return [...assets.keys()].every((policy) => policies.has(policy))
}

/** Assets without those of a policy. */
export const withoutPolicy = (assets: Assets, policy: string): Assets =>
  new Map([...assets].filter(([other]) => other !== policy))

/** A payer may leave any assets in a reserve, tokens of events that are over among them. */
const isReserve = ({ output }: Utxo): boolean =>
  output.datum.kind === 'none' && output.referenceScript === undefined

/** Those with assets that are not bridged last; the largest first. */
function byUse(bridge: Bridge): (a: Utxo, b: Utxo) => number {
  const strange = ({ output }: Utxo) => Number(!areBridged(bridge, output.value.assets))
  const size = ({ output }: Utxo) => output.value.lovelace
  return (a, b) => strange(a) - strange(b) || (size(a) > size(b) ? -1 : size(a) < size(b) ? 1 : 0)
}

function readDatum(bridge: Bridge, utxo: Utxo): DepositOutput | Settlement | undefined {
  const { datum, referenceScript } = utxo.output
  if (datum.kind !== 'inline' || referenceScript !== undefined) return undefined
  try {
    const read = decodeBridgeDatum(datum.data)
    return read.kind === 'deposit' ? readDeposit(bridge, utxo, read) : readSettlement(bridge, utxo, read)
  } catch (error) {
    if (error instanceof PlutusDataError) return undefined
    throw error
  }
}

type BridgeDatum = ReturnType<typeof decodeBridgeDatum>

function readDeposit(
  bridge: Bridge,
  utxo: Utxo,
  { id, time, address, datum, outputHash }: Extract<BridgeDatum, { kind: 'deposit' }>,
): DepositOutput | undefined {
  const { lovelace, assets: all } = utxo.output.value
  const { policy } = bridge.events
  const assets = withoutPolicy(all, policy)
  if (!isOnly(all.get(policy), toHex(id)) || !areBridged(bridge, assets)) return undefined
  const output = depositOutput({ address, lovelace, assets, datum })
  return equalBytes(blake2b256(output), outputHash) ? { utxo, id, time, address, output } : undefined
}

function readSettlement(
  { place }: Bridge,
  utxo: Utxo,
  { root, time }: Extract<BridgeDatum, { kind: 'settlement' }>,
): Settlement | undefined {
  const { assets } = utxo.output.value
  const names = assets.get(place.policy)
  const [name = ''] = names?.keys() ?? []
  return assets.size === 1 && isOnly(names, name)
    ? { utxo, headerHash: fromHex(name), root, time }
    : undefined
}

const isOnly = (names: ReadonlyMap<string, bigint> | undefined, name: string): boolean =>
  names?.size === 1 && names.get(name) === 1n
