import { shareAnswers } from '@ratatosk/http'
import { outputReferenceKey } from '@ratatosk/ledger'
import type { OwedCount, OwedReader } from '@ratatosk/sequencer/settler'
import type { BridgeAnswer, BridgeReader } from '@ratatosk/state-queue/bridge'
import { heldBy } from '../layer1/deployed-bridge.js'
import { type BridgeMoment, byNumber } from './moment.js'
import type { WithdrawalSource } from './withdrawals.js'

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
