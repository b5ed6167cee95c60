import { toHex } from '@ratatosk/cbor'
import {
  encodeBridgeDatum,
  encodeBridgeSpend,
  encodeEventAction,
  encodeSettle,
  leastMerged,
} from '@ratatosk/contracts'
import { type Assets, blake2b256, type Utxo } from '@ratatosk/ledger'
import {
  addAssets,
  addValue,
  type DraftInput,
  type DraftMint,
  type DraftOutput,
  invalidDraft,
  type Quantities,
  type TransactionDraft,
  toValue,
} from '@ratatosk/ledger/builder'
import { type Proof, proofToCbor, type Trie, type TrieView } from '@ratatosk/trie'
import {
  bridgeOf,
  type DepositOutput,
  datumOfPayment,
  readBridge,
  readWithdrawal,
  type Settlement,
  withoutPolicy,
} from './bridge.js'
import { type Bridge, type Contracts, provideScripts } from './contracts.js'
import { isEmptyRoot } from './queue-drafts.js'
import type { RegistryElement } from './registry-drafts.js'
import { continueElement, type RootElement } from './state-queue.js'

/** The inputs of a payout. */
export interface Payout {
  readonly settlement: Settlement
  /** At least one, in the order in which they are deleted from the map. */
  readonly entries: readonly ProvenWithdrawal[]
  /** Of the map without the entries, 32 bytes. */
  readonly rootAfter: Uint8Array
  /** Reserves, and deposits of times before the settlement's: together at least what the entries hold. */
  readonly treasury: readonly Utxo[]
  /** Where the ada of the settlement go when its map is empty: Bech32, or the bytes of CIP-19. */
  readonly payer: string | Uint8Array
  readonly referenceScripts?: readonly Utxo[]
}

/**
 * Pays withdrawals of a settlement: each to its address on layer 1. The payer keeps `payoutFee` of each, and
 * pays the fee and what an output of layer 1 needs beyond the amount. No signature is needed, and anyone may.
 *
 * @throws {WalletError} `WALLET_INVALID_DRAFT` if an entry cannot be paid or the treasury is too small
 */
export function payWithdrawals(contracts: Contracts, payout: Payout): TransactionDraft {
  const bridge = bridgeOf(contracts)
  const { settlement, entries, rootAfter, payer, referenceScripts = [] } = payout
  if (entries.length === 0) throw invalidDraft('no withdrawal to pay')
  const withdrawals = entries.map(({ outref, output }) => {
    const read = readWithdrawal(contracts, outref, output)
    if (read === undefined) throw invalidDraft(`withdrawal ${toHex(outref)} cannot be paid`)
    return read
  })
  const treasury = treasuryOf(contracts, payout)
  const { rest, burning } = moneyOf(bridge, treasury)
  for (const { lovelace, assets } of withdrawals) addValue(rest, { lovelace, assets }, -1n)
  const leader = settlement.utxo
  const ends = isEmptyRoot(rootAfter)
  const after = encodeBridgeDatum({ kind: 'settlement', root: rootAfter, time: settlement.time })
  const { lovelace: held } = leader.output.value
  const ended: DraftMint = {
    policy: bridge.place.policy,
    assets: new Map([[toHex(settlement.headerHash), -1n]]),
    redeemer: encodeSettle(),
  }
  return {
    ...provideScripts([bridge.place, ...(burning ? [bridge.events] : [])], referenceScripts),
    inputs: [
      { utxo: leader, redeemer: encodeBridgeSpend({ kind: 'pay', entries: entries.map(entryOf) }) },
      ...treasury.map((utxo) => following(utxo, leader)),
    ],
    mint: [...(burning ? [burning] : []), ...(ends ? [ended] : [])],
    outputs: [
      ends ? { address: payer, lovelaceAtLeast: held } : continueElement(leader, after),
      ...withdrawals.map((withdrawal) => ({
        address: withdrawal.payTo,
        lovelaceAtLeast: atLeastZero(withdrawal.lovelace - bridge.terms.payoutFee),
        assets: withdrawal.assets,
        datum: datumOfPayment(withdrawal),
      })),
      ...reservesOf(bridge, rest, treasury.length),
    ],
    paidByAda: true,
  }
}

const entryOf = ({ outref: key, output, proof, children }: ProvenWithdrawal) => ({
  key,
  output,
  proof,
  ...(children && { children }),
})

/** The inputs of a tidying. */
export interface Tidying {
  /** Of times before the end of the newest merged block. */
  readonly deposits: readonly DepositOutput[]
  /** Merged with the deposits: none, or so many that there are ten outputs together. */
  readonly reserves?: readonly Utxo[]
  readonly root: RootElement
  readonly registry: RegistryElement
  readonly referenceScripts?: readonly Utxo[]
}

/**
 * Makes one reserve of deposits that are credited for good, and of reserves. No signature is needed, and
 * anyone may.
 *
 * @throws {WalletError} `WALLET_INVALID_DRAFT` if there is none, one is too young, or they are too few
 */
export function tidyDeposits(
  contracts: Contracts,
  { deposits, reserves = [], root, registry, referenceScripts = [] }: Tidying,
): TransactionDraft {
  const bridge = bridgeOf(contracts)
  const { endTime } = root.datum.state
  const merged = [...reserves, ...deposits.map(({ utxo }) => utxo)]
  const [leader] = merged
  if (leader === undefined) throw invalidDraft('no deposit to tidy')
  if (deposits.some(({ time }) => time >= endTime)) throw invalidDraft('a deposit is not confirmed')
  if (reserves.length > 0 && merged.length < leastMerged)
    throw invalidDraft(`fewer than ${leastMerged} outputs to merge`)
  const { rest, burning } = moneyOf(bridge, merged)
  const { lovelace, assets } = toValue(rest)
  const provided = provideScripts([bridge.place, ...(burning ? [bridge.events] : [])], referenceScripts)
  return {
    ...provided,
    referenceInputs: [...provided.referenceInputs, registry.utxo, root.utxo],
    inputs: merged.map((utxo) =>
      utxo === leader ? { utxo, redeemer: encodeBridgeSpend({ kind: 'tidy' }) } : following(utxo, leader),
    ),
    mint: burning ? [burning] : [],
    outputs: [
      {
        address: bridge.place.address,
        lovelaceAtLeast: larger(lovelace, bridge.terms.reserveMin),
        assets,
      },
    ],
    paidByAda: true,
  }
}

function treasuryOf(contracts: Contracts, { settlement, treasury }: Payout): readonly Utxo[] {
  const { deposits, reserves } = readBridge(contracts, treasury)
  if (deposits.length + reserves.length < treasury.length)
    throw invalidDraft('an output of the treasury is neither a reserve nor a deposit')
  if (deposits.some(({ time }) => time >= settlement.time))
    throw invalidDraft('a deposit of the treasury is younger than the settlement')
  return treasury
}

/** The sum of outputs of the treasury, and the burning of the tokens of events in them. */
function moneyOf(
  { events }: Bridge,
  utxos: readonly Utxo[],
): { readonly rest: Quantities; readonly burning: DraftMint | undefined } {
  const rest: Quantities = new Map()
  const burned = new Map<string, bigint>()
  for (const { output } of utxos) {
    const { lovelace, assets } = output.value
    addValue(rest, { lovelace, assets: withoutPolicy(assets, events.policy) })
    for (const [name, quantity] of assets.get(events.policy) ?? [])
      burned.set(name, (burned.get(name) ?? 0n) - quantity)
  }
  const burning = { policy: events.policy, assets: burned, redeemer: encodeEventAction() }
  return { rest, burning: burned.size > 0 ? burning : undefined }
}

const following = (utxo: Utxo, leader: Utxo): DraftInput => ({
  utxo,
  redeemer: (placeOf) => encodeBridgeSpend({ kind: 'follow', leader: placeOf(leader) }),
})

/** Assets that an output holds at most, so that its value has a size that the ledger allows. */
const assetsPerReserve = 50

/**
 * The outputs that return money to the treasury.
 *
 * @param most how many the script allows
 */
function reservesOf({ place, terms }: Bridge, rest: Quantities, most: number): readonly DraftOutput[] {
  const lacking = [...rest].find(([, amount]) => amount < 0n)
  if (lacking) throw invalidDraft(`the treasury is short of ${-lacking[1]} ${lacking[0]}`)
  const { lovelace, assets } = toValue(rest)
  const groups = groupsOf(assets, most)
  if (groups.length === 0 && lovelace > 0n) groups.push(new Map())
  const others = terms.reserveMin * BigInt(Math.max(0, groups.length - 1))
  return groups.map((held, index) => ({
    address: place.address,
    lovelaceAtLeast: index === 0 ? atLeastZero(lovelace - others) : terms.reserveMin,
    assets: held,
  }))
}

function groupsOf(assets: Assets, most: number): Assets[] {
  const units = [...assets].flatMap(([policy, names]) =>
    Array.from(names, ([name, quantity]) => new Map([[policy, new Map([[name, quantity]])]])),
  )
  const size = Math.max(assetsPerReserve, Math.ceil(units.length / most))
  const groups: Assets[] = []
  for (let start = 0; start < units.length; start += size) {
    const sum: Quantities = new Map()
    for (const unit of units.slice(start, start + size)) addAssets(sum, unit)
    groups.push(toValue(sum).assets)
  }
  return groups
}

/** An output that has left layer 2. */
export interface OwedWithdrawal {
  /** CBOR. */
  readonly outref: Uint8Array
  /** CBOR. */
  readonly output: Uint8Array
}

/** One that is to be paid, with the proof that it is owed. */
export interface ProvenWithdrawal extends OwedWithdrawal {
  /** For the map without the entries before it, as `proofToCbor` of `@ratatosk/trie` writes it. */
  readonly proof: Uint8Array
  /** The children of the last branch on the way to it, if the proof ends there. */
  readonly children?: Uint8Array
}

/** Entries of a map, and the map without them: the parts of a payout that come from it. */
export interface TakenWithdrawals {
  readonly entries: ProvenWithdrawal[]
  /** 32 bytes. */
  readonly rootAfter: Uint8Array
}

/**
 * Takes entries out of the map of a settlement, in this order, for `payWithdrawals`.
 *
 * @param map the outputs that left by its block, without those paid: reference CBOR → output CBOR
 * @throws TrieError `TRIE_KEY_MISSING` if one is not owed
 */
export function takeOwed(map: Trie, wanted: readonly OwedWithdrawal[]): TakenWithdrawals {
  const entries = wanted.map(({ outref, output }) => {
    const proven = { outref, output, ...proveOwed(map, outref) }
    map.delete(outref)
    return proven
  })
  return { entries, rootAfter: Uint8Array.from(map.root) }
}

/** Proves that an output is owed. @param map before the output is paid */
function proveOwed(
  map: TrieView,
  key: Uint8Array,
): { readonly proof: Uint8Array; readonly children?: Uint8Array } {
  const steps = map.prove(key)
  const last = lastBranch(map, key, steps)
  return { proof: proofToCbor(steps), ...(last && { children: last }) }
}

function lastBranch(map: TrieView, key: Uint8Array, steps: Proof): Uint8Array | undefined {
  if (steps.at(-1)?.type !== 'branch') return undefined
  const depth = steps.slice(0, -1).reduce((above, { skip }) => above + skip + 1, 0)
  const node = map.nodeAt(blake2b256(key), depth)
  return node?.kind === 'branch' ? node.children : undefined
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const atLeastZero = (amount: bigint): bigint => larger(amount, 0n)
