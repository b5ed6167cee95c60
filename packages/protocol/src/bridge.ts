import { type Deposit, type EventSource, isBridgeAddress } from '@ratatosk/block'
import { compareBytes, equalBytes, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import { decodeBridgeDatum, depositOutput } from '@ratatosk/contracts'
import {
  type Assets,
  blake2b256,
  decodeTransactionOutput,
  minimumLovelace,
  type OutputDatum,
  type SlotConfig,
  slotToTime,
  type TransactionOutput,
  type Utxo,
} from '@ratatosk/ledger'
import { invalidDraft, toOutput } from '@ratatosk/ledger/builder'
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

/** The read of layer 1 that events come from: `Layer1` of `@ratatosk/layer1` has it. */
export interface EventReads {
  utxosAsOf(
    address: string,
    options?: { readonly policy?: string; readonly signal?: AbortSignal },
  ): Promise<{ readonly utxos: readonly Utxo[]; readonly slot: bigint }>
}

/** The outputs at the bridge, and a slot up to which none is missing. */
export interface BridgeReading extends BridgeState {
  readonly slot: bigint
}

/** The deposits of layer 1. */
export interface BridgeEvents extends EventSource {
  /** All outputs at the bridge. */
  state(signal?: AbortSignal): Promise<BridgeReading>
  /** Those with a token of an event: deposits and what reads wrong, however many others are there. */
  events(signal?: AbortSignal): Promise<BridgeReading>
}

/** Milliseconds that are left out at the end of what was read. */
const margin = 2000n
/** Milliseconds for which a read is used again. */
const freshForMs = 250

/**
 * Reads the deposits of a deployment from layer 1. Without a bridge, there are none, and nothing is read.
 *
 * @example
 * const events = openEventSource(contracts, layer1, await layer1.slots())
 * const due = await events.between(header.startTime, header.endTime)
 */
export function openEventSource(contracts: Contracts, layer1: EventReads, slots: SlotConfig): BridgeEvents {
  const { bridge } = contracts
  const empty: BridgeReading = { deposits: [], reserves: [], settlements: [], strays: [], slot: 0n }

  function reader(policy?: string): (signal?: AbortSignal) => Promise<BridgeReading> {
    let last: { readonly at: number; readonly reading: BridgeReading } | undefined
    return async (signal) => {
      if (bridge === undefined) return empty
      const at = performance.now()
      if (last && at - last.at < freshForMs) return last.reading
      const { utxos, slot } = await layer1.utxosAsOf(bridge.place.addressText, {
        ...(policy !== undefined && { policy }),
        ...(signal && { signal }),
      })
      const reading = { ...readBridge(contracts, utxos), slot }
      last = { at, reading }
      return reading
    }
  }

  const state = reader()
  const events = reader(bridge?.events.policy)
  return {
    state,
    events,
    async between(start, end, signal) {
      if (bridge === undefined) return []
      const { deposits, slot } = await events(signal)
      if (end > slotToTime(slots, slot) + bridge.terms.eventWait - margin) return 'not read yet'
      return deposits
        .filter(({ time }) => start <= time && time < end)
        .map(({ id, output }): Deposit => ({ id, output }))
        .sort((a, b) => compareBytes(a.id, b.id))
    },
  }
}

/** An output that has left layer 2. */
export interface Withdrawal {
  /** Its reference on layer 2, CBOR. */
  readonly outref: Uint8Array
  /** CBOR. */
  readonly output: Uint8Array
  /** Its payer keeps `payoutFee` of it. */
  readonly lovelace: bigint
  readonly assets: Assets
  /** The address on layer 1. */
  readonly payTo: Uint8Array
  /** Of the datum that the payment states. */
  readonly datumHash?: Uint8Array
}

/**
 * Reads an output that has left layer 2.
 *
 * @param outref CBOR
 * @param output CBOR
 * @returns undefined if it cannot be paid
 */
export function readWithdrawal(
  { bridge, networkId }: Contracts,
  outref: Uint8Array,
  output: Uint8Array,
): Withdrawal | undefined {
  if (bridge === undefined) return undefined
  try {
    const decoded = decodeTransactionOutput(output)
    const target = targetOf(bridge, networkId, decoded)
    if (typeof target === 'string') return undefined
    return { outref, output, ...decoded.value, ...target }
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}

/**
 * Says why an output to the bridge's address on layer 2 must not be admitted: it could not be paid, or only
 * as a gift to the bridge, or its payer would lose by it. Blocks of others may have such outputs: no settler
 * pays them.
 *
 * @param coinsPerUtxoByte of layer 1
 * @returns undefined if it is admitted
 */
export function withdrawalFault(
  { bridge, networkId }: Contracts,
  output: TransactionOutput,
  coinsPerUtxoByte: bigint,
): string | undefined {
  if (bridge === undefined) return 'there is no bridge'
  const target = targetOf(bridge, networkId, output)
  if (typeof target === 'string') return target
  if (paysBridge(bridge, target.payTo))
    return "its datum is the bridge's own address, and not that of a wallet"
  const { lovelace } = output.value
  const { payoutFee } = bridge.terms
  const paid = paidOutput({ ...output.value, ...target }, lovelace > payoutFee ? lovelace - payoutFee : 0n)
  const least = payoutFee + minimumLovelace(paid, { coinsPerUtxoByte })
  return lovelace < least ? `it holds less than ${least} lovelace` : undefined
}

/** The datum of the payment of a withdrawal. */
export const datumOfPayment = ({ datumHash }: Pick<Withdrawal, 'datumHash'>): OutputDatum =>
  datumHash === undefined ? { kind: 'none' } : { kind: 'hash', hash: datumHash }

type Target = Pick<Withdrawal, 'payTo' | 'datumHash'>

const paidOutput = (
  { payTo, assets, datumHash }: Target & Pick<Withdrawal, 'assets'>,
  lovelace: bigint,
): TransactionOutput =>
  toOutput({
    address: payTo,
    value: { lovelace, assets },
    datum: datumOfPayment(datumHash === undefined ? {} : { datumHash }),
  })

const [enterpriseLength, baseLength, hashLength] = [29, 57, 32]

/** Where a withdrawal is paid, or its fault. */
function targetOf(
  bridge: Bridge,
  networkId: number,
  { address, value, datum, referenceScript }: TransactionOutput,
): Target | string {
  if (!isBridgeAddress(address.bytes, bridge.place.script.hash)) return 'it is not paid to the bridge'
  if (referenceScript !== undefined) return 'it holds a reference script'
  if (!areBridged(bridge, value.assets)) return 'it holds assets that are not bridged'
  if (datum.kind !== 'inline') return 'it has no inline datum with an address on layer 1'
  const content = byteStringOf(datum.data)
  if (content === undefined) return 'its datum is not one byte string'
  const { length } = content
  if (length !== enterpriseLength && length !== baseLength && length !== enterpriseLength + hashLength)
    return `its datum has ${length} bytes, and not ${enterpriseLength}, ${baseLength} or 61`
  const payTo = length === baseLength ? content : content.subarray(0, enterpriseLength)
  if (!isPaymentAddress(payTo, networkId)) return 'its datum is not a payment address of this network'
  return {
    payTo,
    ...(length === enterpriseLength + hashLength && { datumHash: content.subarray(enterpriseLength) }),
  }
}

/** A Shelley address without a pointer, of which the script can build the ledger's form. */
export function isPaymentAddress(address: Uint8Array, networkId: number): boolean {
  const [header = 0] = address
  const type = header >> 4
  const hasLength =
    type < 4
      ? address.length === baseLength
      : (type === 6 || type === 7) && address.length === enterpriseLength
  return hasLength && (header & 0x0f) === networkId
}

/** The content of a definite byte string with a head of two bytes. */
function byteStringOf(data: Uint8Array): Uint8Array | undefined {
  const [head, length = 0] = data
  return head === 0x58 && data.length === length + 2 ? data.subarray(2) : undefined
}
