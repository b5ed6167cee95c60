import { setImmediate } from 'node:timers/promises'
import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import type { BlockVerdict } from '@ratatosk/ports'
import { CannedPorts, listening, recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import type { Test } from 'tap'
import operators, {
  type OperatorsAnswer,
  type OperatorsOptions,
  type QuestionAnswer,
  type RequestedQuestion,
  type Summoner,
  type SummonOutcome,
  type VerdictList,
} from '../index.js'

/** Operators, questions and verdicts in memory; records the calls. */
export class Ports extends CannedPorts {
  view: OperatorsAnswer = {
    operators: [],
    turnEndsAt: 0n,
    turnLength: 60_000n,
    maxOperators: 100,
    permissioned: true,
  }
  /** In pieces, as the port returns them. */
  open: readonly (readonly QuestionAnswer[])[] = []
  outcome: SummonOutcome = { kind: 'absent' }
  readonly wanted: RequestedQuestion[] = []
  /** Whether the signal of each was aborted. */
  readonly aborted: boolean[] = []
  /** Oldest first. */
  found: readonly BlockVerdict[] = []

  readonly ports = {
    registry: { read: () => this.answer('registry', this.view) },
    questions: { read: () => this.#pieces() },
    verdicts: { list: (part) => this.answer('verdicts', this.#page(part)) } satisfies VerdictList,
    summoner: {
      summon: async (wanted, signal) => {
        this.wanted.push(wanted)
        // A request ends before its answer.
        await setImmediate()
        this.aborted.push(signal?.aborted === true)
        return this.answer('summoner', this.outcome)
      },
    } satisfies Summoner,
  }

  async *#pieces() {
    yield* await this.answer('questions', this.open)
  }

  #page({ limit, state, before }: Parameters<VerdictList['list']>[0]) {
    const newest = this.found.toReversed().filter((verdict) => state === undefined || verdict.state === state)
    const place = before && newest.findIndex(({ block }) => Buffer.from(block.headerHash).equals(before))
    const rest = place === undefined ? newest : place < 0 ? [] : newest.slice(place + 1)
    return { verdicts: rest.slice(0, limit), hasMore: rest.length > limit }
  }
}

/** A listening server with the plugin over ports of its own; its log is recorded. */
export async function build(t: Test, options?: Partial<OperatorsOptions>) {
  const ports = new Ports()
  const { stream, records: log } = recordedLog()
  const server = fastify({ ...httpErrorOptions, logger: { level: 'debug', stream } })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  await server.register(operators, { ...ports.ports, ...options })
  return { server, ports, log, ...(await listening(server)) }
}

export const paths = ['/operators', '/summons', '/verdicts'] as const

/** 28 bytes. */
export const hash28 = (byte: number) => new Uint8Array(28).fill(byte)

/** 56 hex digits of one byte. */
export const hex28 = (byte: number) => Buffer.from(hash28(byte)).toString('hex')

/** A question with a number, which is its output's; of two, the one with the lower number is due first. */
export function question(number: number, changes: Partial<QuestionAnswer> = {}): QuestionAnswer {
  return {
    question: `${number.toString(16).padStart(64, '0')}#0`,
    headerHash: hash28(7),
    kind: 'subtree',
    root: 'utxosRoot',
    key: new Uint8Array(33),
    deadline: 1_767_225_600_000n + BigInt(number),
    bond: 3_000_000n,
    ...changes,
  }
}

export function verdict(byte: number, changes: Partial<BlockVerdict> = {}): BlockVerdict {
  return {
    block: { headerHash: hash28(byte), height: BigInt(byte), operatorKey: hash28(0xee) },
    state: 'invalid',
    reason: 'A signature is missing',
    transactions: [],
    foundAt: new Date('2026-03-04T05:06:07.891Z'),
    ...changes,
  }
}
