import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { isLayer1Error, Layer1Error, type Layer1ErrorCode } from '../errors.js'
import type { Layer1Limits } from '../types.js'

export type Limits = Required<Omit<Layer1Limits, 'pollMs'>>

/** Codes of transient failures. */
const passing: ReadonlySet<Layer1ErrorCode> = new Set([
  'LAYER1_TIMEOUT',
  'LAYER1_RATE_LIMITED',
  'LAYER1_UNREACHABLE',
  'LAYER1_PROVIDER_ERROR',
  'LAYER1_INVALID_ANSWER',
])

export function isPassing(error: unknown): error is Layer1Error {
  return isLayer1Error(error) && passing.has(error.code)
}

export function readLimits(limits: Layer1Limits): Limits {
  const read = (name: keyof Limits, otherwise: number, least: number): number => {
    const value = limits[name] ?? otherwise
    if (Number.isSafeInteger(value) && value >= least) return value
    throw new TypeError(`${name} must be a whole number from ${least} on`)
  }
  return {
    requestTimeoutMs: read('requestTimeoutMs', 10_000, 1),
    callTimeoutMs: read('callTimeoutMs', 30_000, 1),
    attempts: read('attempts', 4, 1),
    backoffMs: read('backoffMs', 500, 0),
  }
}

/** Retries transient failures until the attempts are used up or `signal` aborts. */
export async function retrying<T>(
  limits: Limits,
  signal: AbortSignal,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isPassing(error) || tried >= limits.attempts || signal.aborted) throw error
      await backOff(limits, tried, error, signal)
    }
  }
}

/** Pauses with full jitter, or as long as `Retry-After`. @throws the failure if the call ends before */
export async function backOff(
  limits: Limits,
  tried: number,
  failure: Layer1Error,
  signal: AbortSignal,
): Promise<void> {
  const longest = Math.min(limits.backoffMs * 2 ** (tried - 1), limits.callTimeoutMs)
  const asked = failure.retryAfterMs ?? 0
  if (asked > limits.callTimeoutMs) throw failure
  try {
    await pause(Math.max(asked, Math.random() * longest), undefined, { signal })
  } catch {
    throw failure
  }
}

/** The error of a call after its signal aborted: the caller's reason, or `timeout`. */
export function endedBy(signal: AbortSignal, provider: string): unknown {
  const reason: unknown = signal.reason
  return isTimeout(reason) ? new Layer1Error('LAYER1_TIMEOUT', `${provider} did not answer in time`) : reason
}

export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}

/**
 * Runs `run` under a signal of the caller or a time-out. Node 20 never frees what `AbortSignal.any` attaches,
 * so the listener is removed from the caller's signal.
 *
 * @param run may restart the time
 */
export async function bounded<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal, restart: () => void) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  // One listener per concurrent request.
  setMaxListeners(0, controller.signal)
  const end = () => controller.abort(signal?.reason)
  const timeOut = () => controller.abort(new DOMException(`Not done within ${timeoutMs} ms`, 'TimeoutError'))
  const timer = setTimeout(timeOut, timeoutMs).unref()
  if (signal?.aborted) end()
  else signal?.addEventListener('abort', end, { once: true })
  try {
    return await run(controller.signal, () => timer.refresh())
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

/** Rejects when the signal aborts, even if `begun` ignores it: Node's fetch has missed aborts. */
export async function unlessAborted<T>(signal: AbortSignal, begun: Promise<T>): Promise<T> {
  let abort: () => void = () => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([begun, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
