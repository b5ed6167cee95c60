import { compareBytes, fromHex } from '@ratatosk/cbor'
import type { Address, Credential } from '../../../address/types.js'
import { type SlotConfig, slotToTime } from '../../../parameters/types.js'
import { byCredential } from '../../../rules/script-use.js'
import type { Assets, ValidityInterval, Value } from '../../../transaction/types.js'
import { bytesData, constructorData, type DataValue, integerData, mapData } from '../values/data.js'

/** The parts that the script contexts of all languages share (plutus-ledger-api V1). */

function just(data: DataValue): DataValue {
  return constructorData(0, [data])
}

export const nothing = constructorData(1)

export function maybe(data: DataValue | undefined): DataValue {
  return data === undefined ? nothing : just(data)
}

export function tuple(first: DataValue, second: DataValue): DataValue {
  return constructorData(0, [first, second])
}

function boolean(value: boolean): DataValue {
  return constructorData(value ? 1 : 0)
}

export function credentialData({ kind, hash }: Credential): DataValue {
  return constructorData(kind === 'key' ? 0 : 1, [bytesData(hash)])
}

/** `StakingCredential`: a credential where a stake pointer is also possible. */
export function stakingCredentialData(credential: Credential): DataValue {
  return constructorData(0, [credentialData(credential)])
}

/** Thrown if a script context cannot represent the transaction: phase 2 checks it before scripts run. */
export class UntranslatableError extends Error {
  override readonly name = 'UntranslatableError'
}

export function addressData(address: Address): DataValue {
  if (address.kind === 'byron' || address.kind === 'reward') {
    throw new UntranslatableError('A script context cannot represent a Byron address')
  }
  const { payment, stake, pointer } = address
  let staking: DataValue | undefined
  if (stake !== undefined) staking = stakingCredentialData(stake)
  else if (pointer !== undefined) {
    const { slot, transactionIndex, certificateIndex } = pointer
    staking = constructorData(1, [slot, transactionIndex, certificateIndex].map(integerData))
  }
  return constructorData(0, [credentialData(payment), maybe(staking)])
}

const none = bytesData(new Uint8Array())

/** Lovelace is the first entry, with empty names, even if it is zero. */
export function lovelaceEntry(lovelace: bigint): readonly [DataValue, DataValue] {
  return [none, mapData([[none, integerData(lovelace)]])]
}

export function assetEntries(assets: Assets): (readonly [DataValue, DataValue])[] {
  return sortedByHex(assets).map(([policy, quantities]) => [
    bytesData(fromHex(policy)),
    mapData(
      sortedByHex(quantities).map(([name, quantity]) => [bytesData(fromHex(name)), integerData(quantity)]),
    ),
  ])
}

export function valueData({ lovelace, assets }: Value): DataValue {
  return mapData([lovelaceEntry(lovelace), ...assetEntries(assets)])
}

/** Hex sorts like bytes. */
export function sortedByHex<Item>(map: ReadonlyMap<string, Item>): [string, Item][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}

const negativeInfinity = constructorData(0)
const positiveInfinity = constructorData(2)

function finite(time: bigint): DataValue {
  return constructorData(1, [integerData(time)])
}

/** An interval in POSIX milliseconds. Infinite and lower bounds are closed, upper bounds open. */
export function intervalData(
  { invalidBefore, invalidHereafter }: ValidityInterval,
  slots: SlotConfig,
): DataValue {
  const lower = invalidBefore === undefined ? negativeInfinity : finite(slotToTime(slots, invalidBefore))
  const upper =
    invalidHereafter === undefined ? positiveInfinity : finite(slotToTime(slots, invalidHereafter))
  return constructorData(0, [
    constructorData(0, [lower, boolean(true)]),
    constructorData(0, [upper, boolean(invalidHereafter === undefined)]),
  ])
}

/** plutus-ledger-api sorts key credentials first, unlike the ledger. */
export function comparePlutusCredentials(a: Credential, b: Credential): number {
  return a.kind === b.kind ? compareBytes(a.hash, b.hash) : -byCredential(a, b)
}
