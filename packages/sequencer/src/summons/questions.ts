import { outputReferenceKey } from '@ratatosk/ledger'
import type { OpenQuestion } from '@ratatosk/protocol'
import type { Block } from '@ratatosk/store'

/** Names a question: equal ones have tokens of one name. */
export const keyOf = ({ utxo }: OpenQuestion): string => outputReferenceKey(utxo.reference)

export interface OwnQuestion extends OpenQuestion {
  readonly block: Block
}

/** Shares of the time for an answer within which blocks, not deadlines, order questions. */
const sharesOfPeriod = 4n

/** By deadline; within a quarter of the period by block, oldest first, so that each map is built once. */
export function inOrder(questions: readonly OwnQuestion[], period: bigint): OwnQuestion[] {
  const share = period < sharesOfPeriod ? 1n : period / sharesOfPeriod
  const rank = ({ question, block }: OwnQuestion) =>
    [question.deadline / share, block.height, question.deadline] as const
  return questions
    .map((asked) => [rank(asked), asked] as const)
    .sort(([a], [b]) => Number(a[0] - b[0] || a[1] - b[1] || a[2] - b[2]))
    .map(([, asked]) => asked)
}

/** A question that this process cannot answer for now. */
export interface UnansweredQuestion {
  /** The reference of its output: `<64 hex digits>#<index>`. */
  readonly output: string
  readonly height: bigint
  /** POSIX milliseconds. */
  readonly deadline: bigint
  /** May be shown to clients. */
  readonly reason: string
}

/** The questions about this sequencer's blocks. */
export interface Questions {
  /** How many layer 1 shows. */
  readonly open: number
  /** The first deadline of these, in POSIX milliseconds. */
  readonly firstDeadline: bigint | undefined
  /** Answers that this process has sent since its start. */
  readonly sent: number
  readonly unanswered: readonly UnansweredQuestion[]
}

/** The state of {@link Questions}, which the sessions of a sequencer share. */
export interface OwnQuestionBook extends Questions {
  /** Takes note of what layer 1 shows. */
  see(questions: readonly OwnQuestion[]): void
  /** Forgets why it could not be answered. */
  clear(question: OwnQuestion): void
  answered(question: OwnQuestion): void
  /** @returns whether the reason is another one than before */
  failed(question: OwnQuestion, reason: string): boolean
  knows(question: OpenQuestion): boolean
}

export function openQuestionBook(): OwnQuestionBook {
  let seen = new Map<string, OwnQuestion>()
  const failures = new Map<string, UnansweredQuestion>()
  let sent = 0

  return {
    get open() {
      return seen.size
    },
    get firstDeadline() {
      const deadlines = Array.from(seen.values(), ({ question }) => question.deadline)
      return deadlines.reduce<bigint | undefined>(
        (first, each) => (first === undefined || each < first ? each : first),
        undefined,
      )
    },
    get sent() {
      return sent
    },
    get unanswered() {
      return [...failures.values()]
    },
    see(questions) {
      seen = new Map(questions.map((question) => [keyOf(question), question]))
      for (const key of failures.keys()) if (!seen.has(key)) failures.delete(key)
    },
    clear(question) {
      failures.delete(keyOf(question))
    },
    answered(question) {
      failures.delete(keyOf(question))
      sent++
    },
    failed(asked, reason) {
      const output = keyOf(asked)
      const isNew = failures.get(output)?.reason !== reason
      const { block, question } = asked
      failures.set(output, { output, height: block.height, deadline: question.deadline, reason })
      return isNew
    },
    knows: (question) => seen.has(keyOf(question)),
  }
}

/**
 * The unanswered questions in a line; undefined if there are none.
 *
 * @param now in POSIX milliseconds
 */
export function unansweredLine(
  { unanswered, open, firstDeadline }: Questions,
  now: number,
): string | undefined {
  const [first] = [...unanswered].sort((a, b) => Number(a.deadline - b.deadline))
  if (first !== undefined) {
    const { height, deadline, reason } = first
    return (
      `Questions without an answer: ${unanswered.length}; the first is about block ` +
      `${height} and due at ${new Date(Number(deadline)).toISOString()}: ${reason}`
    )
  }
  if (firstDeadline === undefined || firstDeadline > now) return undefined
  return (
    `Questions without an answer: ${open}; the first was due at ` +
    `${new Date(Number(firstDeadline)).toISOString()}, so whoever asked may take the bond: answers are too ` +
    'slow. Give this process more of its machine'
  )
}
