import { headerHash, maxChunks } from '@ratatosk/block'
import type { ProvableRules } from '@ratatosk/contracts'
import { slotToTime } from '@ratatosk/ledger'
import { chunkNumberOf, type Subject, subjectOf } from '../../question-book.js'
import { chunkQuestion } from '../../unavailable.js'
import { type Askers, openAskers } from './askers.js'
import type { HiddenBlock } from './hidden-blocks.js'
import { openQuestions, type RollBacks } from './layer1.js'
import { type Next, type Search, searchOf } from './search.js'
import { type Withholder, withholderOf } from './withholder.js'

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
