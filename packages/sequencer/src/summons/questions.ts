import { blake2b256, encodeOutputReference, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import { type OpenQuestion, unreadLine } from '@ratatosk/protocol'
import type { Block } from '@ratatosk/store'

/** Names a question: equal ones have tokens of one name. */
export const keyOf = ({ utxo }: OpenQuestion): string => outputReferenceKey(utxo.reference)

/** A question about a block whose body the store has. */
export interface KnownQuestion extends OpenQuestion {
  readonly block: Block
  /** Whether this operator has made the block. */
  readonly isOwn: boolean
}

/**
 * When this operator answers about another's block that its own operator is silent about, in POSIX
 * milliseconds: a drawn time in the third quarter of the period, so that few build the same answer.
 *
 * @param operator 28 bytes
 */
export function turnAt({ utxo, question }: OpenQuestion, period: bigint, operator: Uint8Array): bigint {
  const [high = 0, low = 0] = blake2b256(Uint8Array.of(...encodeOutputReference(utxo.reference), ...operator))
  const share = BigInt(high * 256 + low)
  return question.deadline - period / 2n + ((period / 4n) * share) / 65_536n
}

/** Shares of the time for an answer within which blocks, not deadlines, order questions. */
const sharesOfPeriod = 4n

/** By deadline; within a quarter of the period by block, oldest first, so that each map is built once. */
export function inOrder(questions: readonly KnownQuestion[], period: bigint): KnownQuestion[] {
  const share = period < sharesOfPeriod ? 1n : period / sharesOfPeriod
  const rank = ({ question, block }: KnownQuestion) =>
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
  /** Answers that this process has sent since its start, about blocks of others too. */
  readonly sent: number
  readonly unanswered: readonly UnansweredQuestion[]
  /** Outputs that hold questions about any block that this program does not read. */
  readonly unread: readonly Utxo[]
}

/** The state of {@link Questions}, which the sessions of a sequencer share. */
export interface QuestionBook extends Questions {
  /** Takes note of what layer 1 shows. */
  see(questions: readonly KnownQuestion[]): void
  /** @returns whether one of them is new */
  seeUnread(outputs: readonly Utxo[]): boolean
  /** Forgets why it could not be answered. */
  clear(question: KnownQuestion): void
  answered(question: KnownQuestion): void
  /** @returns whether the reason is another one than before */
  failed(question: KnownQuestion, reason: string): boolean
  knows(question: OpenQuestion): boolean
}

export function openQuestionBook(): QuestionBook {
  let seen = new Map<string, KnownQuestion>()
  const failures = new Map<string, UnansweredQuestion & { readonly isOwn: boolean }>()
  let sent = 0
  const own = () => [...seen.values()].filter(({ isOwn }) => isOwn)
  let unread: readonly Utxo[] = []

  return {
    get unread() {
      return unread
    },
    seeUnread(outputs) {
      const before = new Set(unread.map(({ reference }) => outputReferenceKey(reference)))
      unread = outputs
      return outputs.some(({ reference }) => !before.has(outputReferenceKey(reference)))
    },
    get open() {
      return own().length
    },
    get firstDeadline() {
      const deadlines = own().map(({ question }) => question.deadline)
      return deadlines.reduce<bigint | undefined>(
        (first, each) => (first === undefined || each < first ? each : first),
        undefined,
      )
    },
    get sent() {
      return sent
    },
    get unanswered() {
      return [...failures.values()].filter(({ isOwn }) => isOwn).map(({ isOwn: _, ...failure }) => failure)
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
      const { block, question, isOwn } = asked
      failures.set(output, { output, height: block.height, deadline: question.deadline, reason, isOwn })
      return isNew
    },
    knows: (question) => seen.has(keyOf(question)),
  }
}

/**
 * The questions that are unanswered, or not read, in a line; undefined if there are none.
 *
 * @param now in POSIX milliseconds
 */
export function unansweredLine(
  { unanswered, open, firstDeadline, unread }: Questions,
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
  if (firstDeadline === undefined || firstDeadline > now) return unreadLine(unread)
  return (
    `Questions without an answer: ${open}; the first was due at ` +
    `${new Date(Number(firstDeadline)).toISOString()}, so whoever asked may take the bond: answers are too ` +
    'slow. Give this process more of its machine'
  )
}
