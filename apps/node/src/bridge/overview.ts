import { BytesMap } from '@ratatosk/cbor'
import { shareAnswers } from '@ratatosk/http'
import { outputReferenceKey } from '@ratatosk/ledger'
import type { Settlement } from '@ratatosk/protocol'
import type { BridgeReader, BridgeView, ListedSettlement } from '@ratatosk/state-queue/bridge'
import { heldBy } from '../layer1/deployed-bridge.js'
import { type BridgeMoment, byNumber } from './moment.js'
import { type WithdrawalSource, withdrawalsIn } from './withdrawals.js'

/** Milliseconds for which readers share an overview. */
const freshMs = 500
/** Settlements whose withdrawals are counted, and blocks whose withdrawals are remembered. */
const maxCounted = 20
/** Transactions of a block that are read at once. */
const atOnce = 500

/** Reads the terms of the bridge, its treasury, and what it owes. */
export function openOverview(source: WithdrawalSource): BridgeReader {
  const share = shareAnswers<BridgeView>(freshMs)
  const amounts = rememberedAmounts(source)
  return { read: () => share('', () => readView(source, amounts)) }
}

type Amounts = (headerHash: Uint8Array) => Promise<ReadonlyMap<string, bigint>>

async function readView(source: WithdrawalSource, amounts: Amounts): Promise<BridgeView> {
  const { bridge } = source.contracts
  const now = await source.moment()
  const settlements: ListedSettlement[] = []
  const sorted = [...now.settlements].sort((a, b) => byNumber(a.time, b.time))
  for (const [place, settlement] of sorted.entries())
    settlements.push(await listed(source, settlement, place < maxCounted ? amounts : undefined))
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
      assets: held,
      outputs: outputs.length,
      ...(owed !== undefined && { owed, backed: lovelace >= owed }),
    },
    settlements,
  }
}

function endsOf({ unmerged, confirmed }: BridgeMoment): Pick<BridgeView, 'creditedUntil' | 'confirmedUntil'> {
  const newest = unmerged.at(-1) ?? confirmed
  return {
    ...(newest && { creditedUntil: newest.endTime }),
    ...(confirmed && { confirmedUntil: confirmed.endTime }),
  }
}

async function listed(
  { owed }: WithdrawalSource,
  { headerHash, utxo }: Settlement,
  amounts: Amounts | undefined,
): Promise<ListedSettlement> {
  const outref = outputReferenceKey(utxo.reference)
  const left = amounts && (await owed.remaining(headerHash))
  if (amounts === undefined || left === undefined) return { headerHash, outref }
  const known = await amounts(headerHash)
  const lovelace = [...left].reduce((sum, each) => sum + (known.get(each) ?? 0n), 0n)
  return { headerHash, outref, remaining: left.size, lovelace }
}

/** Undefined if one is not known. */
function sumOf(settlements: readonly ListedSettlement[]): bigint | undefined {
  let sum = 0n
  for (const { lovelace } of settlements) {
    if (lovelace === undefined) return undefined
    sum += lovelace
  }
  return sum
}

/** The lovelace of the withdrawals of merged blocks, which do not change. */
function rememberedAmounts({ store, contracts }: WithdrawalSource): Amounts {
  const known = new BytesMap<ReadonlyMap<string, bigint>>()

  async function read(headerHash: Uint8Array): Promise<ReadonlyMap<string, bigint>> {
    const amounts = new Map<string, bigint>()
    for (let offset = 0; ; offset += atOnce) {
      const transactions = await store.blocks.transactionsOf(headerHash, { offset, limit: atOnce })
      for (const { cbor } of transactions)
        for (const { outref, read: withdrawal } of withdrawalsIn(contracts, cbor))
          amounts.set(outref, withdrawal?.lovelace ?? 0n)
      if (transactions.length < atOnce) return amounts
    }
  }

  return async (headerHash) => {
    const amounts = known.get(headerHash) ?? (await read(headerHash))
    known.delete(headerHash)
    known.set(headerHash, amounts)
    const [oldest] = known.size > maxCounted ? known.keys() : []
    if (oldest !== undefined) known.delete(oldest)
    return amounts
  }
}
