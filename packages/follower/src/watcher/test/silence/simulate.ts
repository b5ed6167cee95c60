import { type Header, headerHash, maxChunkLength, maxChunks } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import type { ProvableRules } from '@ratatosk/contracts'
import { blake2b224, slotToTime, timeToSlot } from '@ratatosk/ledger'
import { type Contracts, summonsTerms } from '@ratatosk/protocol'
import { termAt } from '../../ask.js'
import { chunkNumberOf, type Subject, subjectOf } from '../../context.js'
import { mostAtOnce } from '../../hidden-root.js'
import { waveOf } from '../../questions.js'
import { chunkQuestion, inOwnOrder, leastAtOnce, mostPending } from '../../unavailable.js'
import type { HiddenBlock } from './hidden-blocks.js'
import { type OpenQuestions, openQuestions, type Pace, type RollBacks, type SentQuestion } from './layer1.js'
import { type Next, type Search, searchOf, type Withholder, withholderOf } from './search.js'

interface Askers {
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
function openAskers(askers: Askers, questions: OpenQuestions, { endTime }: Header, headerHash: Uint8Array) {
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

export interface Setting extends Askers {
  readonly rules: ProvableRules
  readonly rollBacks: readonly RollBacks[]
  /** Valid blocks of the largest size in front, which are hidden too. */
  readonly older: number
}

export interface Outcome {
  readonly what: string
  /** `silence`: the operator could not show what was asked. `whole`: it has shown a valid block. */
  readonly end: 'proof' | 'silence' | 'whole' | 'too late' | 'none'
  /** The fraud that is proven, or why none is. */
  readonly why: string
  /** Share of the maturity window after which the block is gone, or known, or can no longer be removed. */
  readonly share: number
  /** Questions of which each was asked after the answer to another. */
  readonly rounds: number
  readonly asked: number
  readonly answered: number
  /** Lovelace: the most that one watcher has had in questions, and fees and rewards of all of them. */
  readonly mostLocked: bigint
  readonly paid: bigint
}

/** Transactions of a removal by proof: at most two with parts of it, and the removal. */
const removalStages = 3
/** The slot in which the block ends. */
const end = 1_000_000

/** Runs watchers against an operator who shows each answer in its last slot, until the block is gone. */
export async function simulate(hidden: HiddenBlock, setting: Setting): Promise<Outcome> {
  const { contracts, pace } = setting
  const { slots, block, seen, judging } = pace
  const step = seen + block
  const window = Number(contracts.parameters.maturityWindow) / slots.slotLength
  const operator = withholderOf(hidden)
  const search = searchOf(hidden, operator, slotToTime(slots, BigInt(end)), setting)
  const questions = openQuestions(pace, setting.rollBacks)
  const askers = openAskers(setting, questions, search.header, headerHash(search.header))
  const front = olderBlocks(setting.older)
  let rounds = 0
  let next: Next | undefined
  /** When the block is gone, or its body is judged. */
  let [goneAt, judgedAt] = [Number.POSITIVE_INFINITY, 0]
  let last: Pick<Outcome, 'end' | 'why'> = { end: 'too late', why: 'the window is over' }
  const begins = end + (hidden.isWithheld ? pace.patience : 0)
  let slot = Math.ceil(begins / block) * block
  for (; slot < end + window && slot < goneAt; slot += block) {
    questions.produce(slot)
    if (goneAt !== Number.POSITIVE_INFINITY) continue
    const due = questions.due(slot)
    if (due.some(([asked]) => !front.take(asked!.subject) && !take(search, operator, asked!.subject))) {
      last = { end: 'silence', why: 'unanswered' }
      goneAt = slot + 2 * step
      continue
    }
    for (const same of due) {
      rounds = Math.max(rounds, ...same.map(({ round }) => round))
      askers.settle(same, true)
      questions.end(same[0]!.subject)
    }
    askers.settle(questions.forget(slot), false)
    if (next === undefined || due.length > 0) {
      const before = next
      next = await search.next()
      if (isOfChunks(before) && !isOfChunks(next)) judgedAt = slot + judging
    }
    if (slot < judgedAt) continue
    const wanted = front.with(next)
    if (wanted.kind === 'none') {
      last = { end: wanted.why === 'valid' ? 'whole' : 'none', why: wanted.why }
      break
    }
    if (wanted.kind === 'proof') {
      last = { end: 'proof', why: wanted.fraud }
      goneAt = slot + removalStages * step
    } else if (!askers.ask(slot, rounds + 1, wanted)) {
      last = { end: 'too late', why: 'a question would end too late for a removal' }
      break
    }
  }
  return { what: hidden.what, ...last, share: (slot - end) / window, rounds, ...askers.counts }
}

const isOfChunks = (next: Next | undefined): boolean => next?.kind === 'ask' && next.about === 'chunks'

/** Questions about blocks in front: none behind is judged before all of them are shown. */
function olderBlocks(count: number) {
  const left = new Map<string, Subject>()
  const want = (root: Uint8Array, number: number) => {
    const subject = chunkQuestion(root, number)
    left.set(subjectOf(subject), subject)
  }
  for (let place = 0; place < count; place++) want(new Uint8Array(32).fill(place + 1), 0)
  return {
    /** @returns whether it is of a block in front */
    take(subject: Subject): boolean {
      const isFirst = subject.kind === 'chunk' && chunkNumberOf(subject.key) === 0
      if (!left.delete(subjectOf(subject))) return false
      for (let number = 1; isFirst && number < maxChunks; number++) want(subject.hash, number)
      return true
    },
    /** The next step about all blocks. */
    with(next: Next): Next {
      if (left.size === 0) return next
      const own = next.kind === 'ask' && next.about === 'chunks' ? next.subjects : []
      return { kind: 'ask', about: 'chunks', subjects: [...left.values(), ...own] }
    },
  }
}

/** Puts an answer into the book. @returns false if there is none */
function take({ book }: Search, operator: Withholder, subject: Subject): boolean {
  if (subject.kind === 'chunk') {
    const number = chunkNumberOf(subject.key)
    book.chunks.set(number, operator.aboutChunk(number))
    return true
  }
  const shown = operator.aboutNode(subject)
  if (shown !== undefined) book.nodes.set(subjectOf(subject), shown)
  return shown !== undefined
}
