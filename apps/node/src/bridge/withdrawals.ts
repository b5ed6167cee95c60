import { isBridgeAddress } from '@ratatosk/block'
import { BytesMap, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { shareAnswers } from '@ratatosk/http'
import {
  decodeAddress,
  decodeTransaction,
  effects,
  encodeBech32Address,
  encodeOutputReference,
  outputReferenceKey,
} from '@ratatosk/ledger'
import { readWithdrawal, type Withdrawal } from '@ratatosk/protocol'
import type { OwedCount, OwedReader } from '@ratatosk/sequencer/settler'
import type {
  BridgeAnswer,
  BridgeReader,
  WithdrawalAnswer,
  WithdrawalList,
  WithdrawalsPart,
} from '@ratatosk/state-queue/bridge'
import type { AcceptedPlace, Block, Store } from '@ratatosk/store'
import { heldBy } from '../layer1/open-deployment.js'
import { addressOn, type BridgeContracts, type BridgeMoment, byNumber, type Remaining } from './moment.js'

/** An output of an accepted transaction that left layer 2. */
interface FoundWithdrawal {
  readonly transactionId: Uint8Array
  readonly outref: string
  /** CBOR of the same reference. */
  readonly reference: Uint8Array
  readonly output: Uint8Array
  /** Undefined: no one can pay it. */
  readonly read: Withdrawal | undefined
}

type WithdrawalStore = Pick<Store, 'transaction' | 'historyPages' | 'placesOf'> & {
  readonly blocks: Pick<Store['blocks'], 'byHashes' | 'transactionsOf'>
}

/** Where withdrawals are read from. */
export interface WithdrawalSource {
  readonly contracts: BridgeContracts
  readonly store: WithdrawalStore
  readonly moment: () => Promise<BridgeMoment>
  readonly owed: Remaining
}

/** The most transactions that a list scans. */
const maxScanned = 50_000
/** Transactions of a block that are read at once. */
const atOnce = 500
/** Lists that wait while another is read. */
const maxWaiting = 20

/** The outputs of accepted transactions that left layer 2, in order of acceptance. */
export function openWithdrawals(source: WithdrawalSource): WithdrawalList {
  const { contracts } = source
  const inTurn = oneAtATime(maxWaiting)
  return {
    async list(part, signal) {
      const address = part.address === undefined ? undefined : addressOn(contracts.networkId, part.address)
      if (part.address !== undefined && address === undefined) return 'not an address'
      return inTurn(() => readPage(source, part, address?.bytes, signal))
    },
  }
}

async function readPage(
  source: WithdrawalSource,
  part: WithdrawalsPart,
  address: Uint8Array | undefined,
  signal: AbortSignal | undefined,
): Promise<{ readonly withdrawals: readonly WithdrawalAnswer[]; readonly hasMore: boolean }> {
  const { headerHash, state, offset, limit } = part
  const withdrawals: WithdrawalAnswer[] = []
  let skipped = 0
  for await (const piece of pieces(source, part)) {
    signal?.throwIfAborted()
    const fitting = address
      ? piece.filter(({ read }) => read !== undefined && equalBytes(read.payTo, address))
      : piece
    // Their states are read only where they matter.
    const mayFit = headerHash !== undefined || state !== undefined
    const rest = mayFit ? fitting : fitting.slice(Math.max(0, offset - skipped))
    if (!mayFit) skipped += fitting.length - rest.length
    for (const found of await listed(source, rest)) {
      if (state !== undefined && found.state !== state) continue
      if (headerHash && !(found.headerHash && equalBytes(found.headerHash, headerHash))) continue
      if (skipped < offset) skipped += 1
      else if (withdrawals.push(found) > limit)
        return { withdrawals: withdrawals.slice(0, limit), hasMore: true }
    }
  }
  return { withdrawals, hasMore: false }
}

/** The withdrawals that a part may be about, in pieces. */
async function* pieces(
  { store, contracts }: WithdrawalSource,
  { outref, headerHash }: WithdrawalsPart,
): AsyncGenerator<readonly FoundWithdrawal[], void> {
  if (outref !== undefined) {
    const cbor = await store.transaction(fromHex(outref.slice(0, 64)))
    if (cbor) yield withdrawalsIn(contracts, cbor).filter((found) => found.outref === outref)
    return
  }
  if (headerHash !== undefined) {
    for (let offset = 0; offset < maxScanned; offset += atOnce) {
      const transactions = await store.blocks.transactionsOf(headerHash, { offset, limit: atOnce })
      yield transactions.flatMap(({ cbor }) => withdrawalsIn(contracts, cbor))
      if (transactions.length < atOnce) return
    }
    return
  }
  const history = store.historyPages(contracts.bridge.place.address, { limit: maxScanned, offset: 0 })
  for await (const page of history) yield page.flatMap((cbor) => withdrawalsIn(contracts, cbor))
}

/** The outputs of a transaction that leave layer 2. */
function withdrawalsIn(contracts: BridgeContracts, cbor: Uint8Array): FoundWithdrawal[] {
  const bridge = contracts.bridge.place.script.hash
  const transaction = decodeTransaction(cbor)
  return effects(transaction)
    .produced.filter(({ output }) => isBridgeAddress(output.address.bytes, bridge))
    .map(({ reference, output: { bytes } }) => {
      const encoded = encodeOutputReference(reference)
      return {
        transactionId: transaction.id,
        outref: outputReferenceKey(reference),
        reference: encoded,
        output: bytes,
        read: readWithdrawal(contracts, encoded, bytes),
      }
    })
}

async function listed(
  { store, moment, owed }: WithdrawalSource,
  found: readonly FoundWithdrawal[],
): Promise<readonly WithdrawalAnswer[]> {
  if (found.length === 0) return []
  const places = await store.placesOf(found.map(({ transactionId }) => transactionId))
  const merged = new BytesMap<true>()
  for (const place of places) if (place?.block?.state === 'merged') merged.set(place.block.headerHash, true)
  const hashes = [...merged.keys()]
  const blocks = hashes.length === 0 ? [] : await store.blocks.byHashes(hashes)
  const owing = new BytesMap<(outref: string) => boolean>()
  for (const block of blocks) owing.set(block.headerHash, await owingOf(await moment(), owed, block))
  const payouts = new BytesMap<Awaited<ReturnType<Remaining['payouts']>>>()
  const answers: WithdrawalAnswer[] = []
  for (const [index, { outref, reference, output, read }] of found.entries()) {
    const place = places[index]
    // It was dropped or removed meanwhile.
    if (place === undefined) continue
    const headerHash = place.block?.headerHash
    const state = stateOf(place, outref, headerHash && owing.get(headerHash))
    const paidIn = state === 'paid' ? headerHash : undefined
    if (paidIn && !payouts.has(paidIn)) payouts.set(paidIn, await owed.payouts(paidIn))
    const payoutTxHash = paidIn && payouts.get(paidIn)?.get(reference)
    answers.push({
      outref,
      output,
      ...(read && { payTo: bech32Of(read.payTo) }),
      kind: 'transaction',
      state,
      ...(headerHash && { headerHash }),
      ...(payoutTxHash && { payoutTxHash }),
    })
  }
  return answers
}

/** In bech32, which payment addresses of withdrawals have. */
function bech32Of(bytes: Uint8Array): string {
  const address = decodeAddress(bytes)
  return address.kind === 'byron' ? toHex(bytes) : encodeBech32Address(address)
}

function stateOf(
  { block }: AcceptedPlace,
  outref: string,
  isOwed: ((outref: string) => boolean) | undefined,
): WithdrawalAnswer['state'] {
  if (block === undefined || block.state === 'built' || block.state === 'submitted') return 'accepted'
  if (block.state !== 'merged') return block.state
  return isOwed?.(outref) === false ? 'paid' : 'owed'
}

/** Whether a withdrawal of a merged block is owed still. */
async function owingOf(
  now: BridgeMoment,
  owed: Remaining,
  { headerHash, mergedAt }: Block,
): Promise<(outref: string) => boolean> {
  const isLeft = now.settlements.some((settlement) => equalBytes(settlement.headerHash, headerHash))
  if (isLeft) {
    const left = await owed.remaining(headerHash)
    return (outref) => left === undefined || left.has(outref)
  }
  // The moment may be older than the merge.
  const isRead = mergedAt !== undefined && now.readUntil >= BigInt(mergedAt.getTime())
  return () => !isRead
}

/** Does one thing after another. */
function oneAtATime(most: number): <T>(work: () => Promise<T>) => Promise<T | 'busy'> {
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()
  return async (work) => {
    if (waiting >= most) return 'busy'
    waiting += 1
    const done = last.then(work)
    last = done.catch(() => undefined).finally(() => waiting--)
    return done
  }
}

/** Milliseconds for which readers share an overview. */
const freshMs = 500
/** Settlements whose withdrawals are counted. */
const maxCounted = 20

/** Reads the terms of the bridge, its treasury, and what it owes. */
export function openOverview(source: WithdrawalSource, owed: Pick<OwedReader, 'count'>): BridgeReader {
  const share = shareAnswers<BridgeAnswer>(freshMs)
  const counts = rememberCounts(owed)
  return { read: () => share('', () => readView(source, counts)) }
}

async function readView(source: WithdrawalSource, counts: Counts): Promise<BridgeAnswer> {
  const { bridge } = source.contracts
  const now = await source.moment()
  const settlements: BridgeAnswer['settlements'][number][] = []
  const sorted = [...now.settlements].sort((a, b) => byNumber(a.time, b.time))
  for (const [place, { headerHash, utxo }] of sorted.entries()) {
    const outref = outputReferenceKey(utxo.reference)
    const counted = place < maxCounted ? await counts(headerHash, outref) : undefined
    settlements.push({ headerHash, outref, ...counted })
  }
  const outputs = [...now.reserves, ...now.deposits.map(({ utxo }) => utxo)]
  const held = heldBy(outputs, bridge.events.policy)
  const lovelace = held.get('lovelace') ?? 0n
  held.delete('lovelace')
  const owed = sumOf(settlements)
  return {
    address: bridge.place.addressText,
    policies: { bridge: bridge.place.script.hash, events: bridge.events.script.hash },
    assets: bridge.terms.bridged,
    eventWaitMs: bridge.terms.eventWait,
    payoutFee: bridge.terms.payoutFee,
    reserveMin: bridge.terms.reserveMin,
    ...endsOf(now),
    treasury: {
      lovelace,
      assets: [...held].map(([unit, quantity]) => ({ unit, quantity })),
      outputs: outputs.length,
      ...(owed !== undefined && { owed, backed: lovelace >= owed }),
    },
    settlements,
  }
}

function endsOf({
  unmerged,
  confirmed,
}: BridgeMoment): Pick<BridgeAnswer, 'creditedUntil' | 'confirmedUntil'> {
  const newest = unmerged.at(-1) ?? confirmed
  return {
    ...(newest && { creditedUntil: newest.endTime }),
    ...(confirmed && { confirmedUntil: confirmed.endTime }),
  }
}

type Counted = Pick<OwedCount, 'remaining' | 'lovelace'>
/** The sum that a settlement owes, by its block and output; undefined if it is unknown. */
type Counts = (headerHash: Uint8Array, outref: string) => Promise<Counted | undefined>

/** Counts anew only what a payout has changed. */
function rememberCounts(owed: Pick<OwedReader, 'count'>): Counts {
  const known = new Map<string, Counted>()
  return async (headerHash, outref) => {
    const before = known.get(outref)
    if (before !== undefined) return before
    const counted = await owed.count(headerHash)
    if (counted === undefined) return undefined
    const { remaining, lovelace } = counted
    known.set(counted.outref, { remaining, lovelace })
    const [oldest] = known.size > maxCounted ? known.keys() : []
    if (oldest !== undefined) known.delete(oldest)
    return { remaining, lovelace }
  }
}

/** Undefined if one is not known. */
function sumOf(settlements: BridgeAnswer['settlements']): bigint | undefined {
  let sum = 0n
  for (const { lovelace } of settlements) {
    if (lovelace === undefined) return undefined
    sum += lovelace
  }
  return sum
}
