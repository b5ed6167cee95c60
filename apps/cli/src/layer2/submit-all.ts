import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, ClientError, StatusError } from '@ratatosk/client'

/** A transaction that the node did not accept. */
export interface Refusal {
  /** From 1. */
  readonly line: number
  readonly code: string
  readonly message: string
}

export interface SubmitReport {
  /** How many the node has taken or refused. */
  readonly submitted: number
  readonly accepted: number
  /** Those without a result count. */
  readonly refused: number
  /** The first of them. */
  readonly refusals: readonly Refusal[]
  /** Why the rest was not submitted, and the line after the last one that was. */
  readonly stopped?: Refusal
}

interface SubmitOptions {
  /** The first line that is submitted, from 1. */
  readonly fromLine?: number
  /** How long no transaction may get a result, or the node may refuse a request, in milliseconds. */
  readonly patienceMs?: number
  onProgress?(report: SubmitReport): void
  /** Receives now and then why a request is repeated. @param leftMs how long it will be, at most */
  onRetry?(reason: string, leftMs: number): void
}

interface Submission {
  readonly line: number
  readonly id: string
}

/** Transactions whose results are awaited before the next ones are submitted. */
const windowSize = 256
/** Questions for results at a time. */
const concurrency = 16
const mostRefusals = 100
const firstPauseMs = 100
const longestPauseMs = 5_000

/**
 * Submits transactions in order, and awaits results of each few hundred; stops without any. Lines before an
 * empty one get results before the rest, which may spend the same outputs. `CLI_NO_RESULT` refuses one
 * without a result.
 */
export async function submitAll(
  client: Client,
  lines: AsyncIterable<string>,
  { fromLine = 1, patienceMs = 120_000, ...listeners }: SubmitOptions = {},
): Promise<SubmitReport> {
  const report = { submitted: 0, accepted: 0, refused: 0, refusals: [] }
  const open = new Set<Submission>()
  const times = { answeredAt: performance.now(), toldAt: Number.NEGATIVE_INFINITY }
  const state: State = { client, patienceMs, ...listeners, report, open, next: fromLine, ...times }
  let stopped: Omit<Refusal, 'line'> | undefined
  try {
    const reason = await submitWindows(state, windowsOf(lines, fromLine))
    const [first] = open
    if (reason !== undefined && first !== undefined) {
      const advice = `To await them once more, go on with --from-line ${first.line}.`
      const message = `${open.size} transactions have no result yet, ${reason}. ${advice}`
      stopped = { code: noResult, message }
    }
  } catch (error) {
    if (!(error instanceof ClientError)) throw error
    stopped = { code: error.code, message: error.message }
  }
  for (const { line } of open) refuse(state, { line, code: noResult, message: 'No result was seen' })
  return { ...report, ...(stopped && { stopped: { line: state.next, ...stopped } }) }
}

interface State extends Pick<SubmitOptions, 'onProgress' | 'onRetry'> {
  readonly client: Client
  readonly patienceMs: number
  readonly report: Record<'submitted' | 'accepted' | 'refused', number> & { readonly refusals: Refusal[] }
  /** The submissions without a result, in order. */
  readonly open: Set<Submission>
  /** The first line that was not submitted. */
  next: number
  /** When the node last answered, and `onRetry` was last called, in milliseconds of `performance.now()`. */
  answeredAt: number
  toldAt: number
}

function refuse({ report }: State, refusal: Refusal): void {
  report.refused++
  if (report.refusals.length < mostRefusals) report.refusals.push(refusal)
}

/** Repeats a request that the node refuses for the time being. */
async function patiently<T>(state: State, request: () => Promise<T>): Promise<T> {
  const { patienceMs } = state
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      const answer = await request()
      state.answeredAt = performance.now()
      return answer
    } catch (error) {
      const now = performance.now()
      if (!(error instanceof StatusError && isTemporary(error)) || now - state.answeredAt > patienceMs)
        throw error
      if (now - state.toldAt >= longestPauseMs) {
        state.toldAt = now
        state.onRetry?.(error.message, patienceMs - (now - state.answeredAt))
      }
      await sleep(Math.min(Math.max(pauseMs, (error.retryAfter ?? 0) * 1000), patienceMs))
    }
  }
}

async function submit(state: State, { line, text }: Line): Promise<void> {
  state.next = line
  try {
    const { id } = await patiently(state, () => state.client.submit(text))
    state.open.add({ line, id })
  } catch (error) {
    // The others would fail as well.
    if (!(error instanceof StatusError) || isTemporary(error)) throw error
    refuse(state, { line, code: error.code, message: error.message })
  }
  state.report.submitted++
  state.next = line + 1
}

async function askFor(state: State, submission: Submission): Promise<void> {
  const { line, id } = submission
  const { status, rejection } = await patiently(state, () => state.client.getSubmissionStatus({ id }))
  if (status === 'queued' || status === 'validating') return
  state.open.delete(submission)
  if (status === 'rejected')
    refuse(state, { line, code: rejection?.code ?? status, message: rejection?.reason ?? 'no reason' })
  else if (status === 'unknown') refuse(state, { line, code: status, message: 'The node lost it' })
  else state.report.accepted++
}

/** Awaits results, until a while passes without one. @returns what has none */
async function settle(state: State, all: readonly Submission[]): Promise<readonly Submission[]> {
  let [waiting, since, pauseMs] = [all, performance.now(), firstPauseMs]
  while (waiting.length > 0 && performance.now() - since <= state.patienceMs) {
    await sleep(pauseMs)
    await inParts(waiting, (each) => askFor(state, each))
    const rest = waiting.filter((each) => state.open.has(each))
    const isSame = rest.length === waiting.length
    if (!isSame) since = performance.now()
    pauseMs = isSame ? Math.min(2 * pauseMs, longestPauseMs) : firstPauseMs
    waiting = rest
    state.onProgress?.({ ...state.report })
  }
  return waiting
}

/** Why the rest was not submitted. */
async function submitWindows(state: State, windows: AsyncIterable<LineWindow>): Promise<string | undefined> {
  const { open } = state
  let isStuck = false
  for await (const { window, next: following, endsPart } of windows) {
    if (isStuck && window.length > 0) return 'and none of the last ones gets one'
    const before = open.size
    for (const line of window) await submit(state, line)
    state.next = following
    const fresh = [...open].slice(before)
    isStuck = fresh.length > 0 && (await settle(state, fresh)).length === fresh.length
    if (endsPart && (isStuck || (await settle(state, [...open])).length > 0))
      return 'and what follows may spend the same outputs'
  }
  if (!isStuck) await settle(state, [...open])
  return undefined
}

const noResult = 'CLI_NO_RESULT'

function isTemporary({ status }: StatusError): boolean {
  return status === 429 || status >= 500
}

interface Line {
  readonly line: number
  readonly text: string
}

interface LineWindow {
  readonly window: readonly Line[]
  /** The line after them. */
  readonly next: number
  /** Whether an empty line follows. */
  readonly endsPart: boolean
}

async function* windowsOf(lines: AsyncIterable<string>, from: number): AsyncGenerator<LineWindow, void> {
  let window: Line[] = []
  let line = 0
  for await (const each of lines) {
    if (++line < from) continue
    const text = each.trim()
    if (text !== '') window.push({ line, text })
    if (text !== '' && window.length < windowSize) continue
    yield { window, next: line + 1, endsPart: text === '' }
    window = []
  }
  yield { window, next: line + 1, endsPart: false }
}

/** Works on few items at a time. If one fails, those of its time end too. */
async function inParts<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += concurrency) {
    const results = await Promise.allSettled(items.slice(start, start + concurrency).map(work))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }
}
