import type { SlotConfig } from '@ratatosk/ledger'
import { answersPerHour } from '@ratatosk/protocol'
import { type Subject, subjectOf } from '../../context.js'

/** Layer 1, and how watchers see it. Times are in slots. */
export interface Pace {
  readonly slots: SlotConfig
  /** Between two blocks of layer 1, which include all that was sent before. */
  readonly block: number
  /** Until a watcher has seen a block and acted: polls, and the provider's lag. */
  readonly seen: number
  /** Milliseconds for which a watcher's transaction is valid. */
  readonly validityMs: number
  /** Slots after its validity in which an unknown transaction may still be there. */
  readonly lag: number
  /** From the last chunk to the judgement of the body. */
  readonly judging: number
  /** After a block's end, in which peers may be without its body. */
  readonly patience: number
}

/** Roll-backs, each at the moment in which it takes most. */
export interface RollBacks {
  /** Blocks that each takes away. */
  readonly depth: number
  readonly most: number
}

/** A question of a watcher. */
export interface SentQuestion {
  readonly subject: Subject
  /** The number of the watcher. */
  readonly by: number
  readonly round: number
  readonly validUntil: number
  readonly deadline: number
  readonly sentAt: number
  /** Of the block of layer 1 that has it. */
  includedAt?: number | undefined
}

/** Questions that wait for an answer: some are in blocks, and blocks may be rolled back. */
export function openQuestions({ block, seen, lag }: Pace, rollBacks: readonly RollBacks[]) {
  const waiting = new Map<string, readonly SentQuestion[]>()
  const left = rollBacks.map(({ most }) => most)
  const all = () => [...waiting.values()].flat()
  const isShown = ({ includedAt }: SentQuestion, slot: number): boolean =>
    includedAt !== undefined && includedAt + seen <= slot
  return {
    isEmpty: () => waiting.size === 0,
    all,
    isShown,
    about: (subject: Subject) => waiting.get(subjectOf(subject)) ?? [],

    add(question: SentQuestion): void {
      const name = subjectOf(question.subject)
      waiting.set(name, [...(waiting.get(name) ?? []), question])
    },

    /** Makes a block, and rolls back blocks where that costs the most: before the oldest question is safe. */
    produce(slot: number): void {
      for (const each of all())
        if (each.includedAt === undefined && each.sentAt < slot && slot < each.validUntil)
          each.includedAt = slot
      for (const [place, { depth }] of rollBacks.entries()) {
        const since = slot - depth * block
        const oldest = Math.min(...all().flatMap(({ includedAt }) => includedAt ?? []))
        if (left[place] === 0 || oldest <= since || oldest - block > since) continue
        left[place]!--
        for (const each of all()) if ((each.includedAt ?? 0) > since) each.includedAt = undefined
      }
    },

    /** Drops and returns those that layer 1 can no longer include. */
    forget(slot: number): readonly SentQuestion[] {
      const dropped: SentQuestion[] = []
      for (const [name, same] of waiting) {
        const kept = same.filter((each) => each.includedAt !== undefined || slot < each.validUntil + lag)
        if (kept.length === same.length) continue
        dropped.push(...same.filter((each) => !kept.includes(each)))
        if (kept.length > 0) waiting.set(name, kept)
        else waiting.delete(name)
      }
      return dropped
    },

    /** Those whose subject has to be shown by now, so that watchers have seen it. */
    due: (slot: number): readonly (readonly SentQuestion[])[] =>
      [...waiting.values()].filter((same) =>
        same.some((each) => each.includedAt !== undefined && each.deadline + seen <= slot),
      ),

    end(subject: Subject): void {
      waiting.delete(subjectOf(subject))
    },
  }
}

export type OpenQuestions = ReturnType<typeof openQuestions>

/** An operator whose only process answers late. */
interface Outage {
  /** Slots for an answer, and how many of them pass before the first is sent. */
  readonly period: number
  readonly downFor: number
  /** Asked in one block, as layer 1 has room for. */
  readonly questions: number
}

/** How many questions stay without an answer, if half of each block of layer 1 has room for answers. */
export function unansweredAfter(
  { block, seen, slots }: Pace,
  { period, downFor, questions }: Outage,
): number {
  const perBlock = (Number(answersPerHour) * block * slots.slotLength) / 3_600_000
  let left = questions
  for (let slot = block; slot < period && left > 0; slot += block) if (slot > downFor + seen) left -= perBlock
  return Math.max(0, Math.ceil(left))
}
