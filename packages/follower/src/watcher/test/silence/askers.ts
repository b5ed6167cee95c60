import { type Header, maxChunkLength } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { blake2b224, timeToSlot } from '@ratatosk/ledger'
import { type Contracts, summonsTerms } from '@ratatosk/protocol'
import { waveOf } from '../../allowance.js'
import { termAt } from '../../ask.js'
import { mostAtOnce } from '../../false-maps.js'
import { chunkNumberOf, type Subject } from '../../question-book.js'
import { inOwnOrder, leastAtOnce, mostPending } from '../../unavailable.js'
import type { OpenQuestions, Pace, SentQuestion } from './layer1.js'
import type { Next } from './search.js'

export interface Askers {
  readonly contracts: Contracts
  readonly pace: Pace
  readonly watchers: number
  /** Lovelace of a watcher in an hour, with the ada that questions lock; no limit by default. */
  readonly budget?: bigint
  /** Lovelace that a watcher has for questions; no limit by default. */
  readonly funds?: bigint
  /** Lovelace of fees of a question. */
  readonly fees: { readonly chunks: bigint; readonly nodes: bigint }
}

const hourMs = 3_600_000
const { bond, reward, byteReward } = summonsTerms(12n)
/** Lovelace for a full chunk, and for as much of a map. */
const mostReward = reward + byteReward * BigInt(maxChunkLength)

/** Watchers who ask about a block as the real ones do, each with a wallet of its own. */
export function openAskers(
  askers: Askers,
  questions: OpenQuestions,
  { endTime }: Header,
  headerHash: Uint8Array,
) {
  const { contracts, pace, budget, funds } = askers
  const { slots, validityMs } = pace
  const wallets = Array.from({ length: askers.watchers }, (_, by) => ({
    by,
    key: blake2b224(Uint8Array.of(by)),
    locked: 0n,
    spent: [] as { readonly at: number; readonly lovelace: bigint }[],
  }))
  const counts = { asked: 0, answered: 0, paid: 0n, mostLocked: 0n }
  type Wallet = (typeof wallets)[number]

  /** Whether a wallet can pay one more, beside so many. */
  function affords({ spent, locked }: Wallet, slot: number, fee: bigint, beside: number): boolean {
    while (spent[0] !== undefined && spent[0].at <= slot - hourMs / slots.slotLength) spent.shift()
    const count = BigInt(beside + 1)
    const sum = spent.reduce((total, { lovelace }) => total + lovelace, count * (fee + bond))
    return (budget === undefined || sum <= budget) && (funds === undefined || locked + count * bond <= funds)
  }

  function pay(wallet: Wallet, slot: number, fee: bigint): void {
    wallet.locked += bond
    wallet.spent.push({ at: slot, lovelace: fee + bond })
    counts.asked++
    counts.paid += fee
    if (wallet.locked > counts.mostLocked) counts.mostLocked = wallet.locked
  }

  /** @returns false if a question would end too late, and none waits */
  function askBy(wallet: Wallet, slot: number, round: number, { about, subjects }: Wanted): boolean {
    const [tip, { by }] = [BigInt(slot), wallet]
    const term = termAt(contracts, { slots, validityMs, slot: tip, current: tip }, endTime)
    const isOfChunks = about === 'chunks'
    const own = questions.all().filter((each) => each.by === by)
    let pending = own.filter((each) => !questions.isShown(each, slot)).length
    // It sees its own, and those of others that layer 1 shows.
    const isAsked = (subject: Subject) =>
      questions.about(subject).some((each) => each.by === by || questions.isShown(each, slot))
    const wanted = (isOfChunks ? subjects : subjects.slice(0, mostAtOnce)).filter((each) => !isAsked(each))
    let allowed = waveOf(counts.answered) - (subjects.length - wanted.length)
    const isLater = (subject: Subject) => isOfChunks && chunkNumberOf(subject.key) > 0
    if (wanted.length > 0 && !term.isInTime) return !isOfChunks && !questions.isEmpty()
    const next: Subject[] = []
    for (const subject of isOfChunks ? inOrderOf(wallet.key, wanted) : wanted) {
      if (isLater(subject) && allowed-- <= 0) break
      if (isOfChunks && pending++ >= mostPending(wanted.length)) break
      if (!affords(wallet, slot, askers.fees[about], next.length)) break
      next.push(subject)
    }
    const least = isOfChunks && wanted.length < subjects.length ? Math.min(leastAtOnce, wanted.length) : 0
    if (next.length < least) return true
    for (const subject of next) {
      pay(wallet, slot, askers.fees[about])
      const [validUntil, deadline] = [term.validUntil, timeToSlot(slots, term.deadline)].map(Number) as [
        number,
        number,
      ]
      questions.add({ subject, by, round, validUntil, deadline, sentAt: slot })
    }
    return true
  }

  /** Those about the oldest block first, each block's in the watcher's own order. */
  function inOrderOf(key: Uint8Array, subjects: readonly Subject[]): readonly Subject[] {
    const byBlock = new Map<string, Map<number, Subject>>()
    for (const subject of subjects) {
      const root = toHex(subject.hash)
      const same = byBlock.get(root) ?? new Map<number, Subject>()
      byBlock.set(root, same.set(chunkNumberOf(subject.key), subject))
    }
    return [...byBlock.values()].flatMap((same) =>
      inOwnOrder(key, { headerHash }, [...same.keys()]).flatMap((number) => same.get(number) ?? []),
    )
  }

  return {
    counts,
    /** All ask. @returns false if a question would end too late */
    ask: (slot: number, round: number, wanted: Wanted): boolean =>
      wallets.every((wallet) => askBy(wallet, slot, round, wanted)),
    /** The bonds of these come back, less the rewards of answers. */
    settle(ended: readonly SentQuestion[], isAnswered: boolean): void {
      for (const { by } of ended) {
        wallets[by]!.locked -= bond
        if (!isAnswered) continue
        counts.paid += mostReward
        counts.answered++
      }
    },
  }
}

type Wanted = Extract<Next, { readonly kind: 'ask' }>
