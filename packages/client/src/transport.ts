import type { Operation } from './api.js'
import {
  InvalidAnswerError,
  NetworkError,
  ServerError,
  StatusError,
  statusError,
  TimeoutError,
} from './errors.js'
import { parseJson } from './json.js'
import {
  type ClientOptions,
  checkOptions,
  clientOptions,
  type NodeRequestOptions,
  requestOptions,
} from './options.js'

/** A longer `Retry-After` is for the caller to wait for, in seconds. */
const maxRetryAfter = 30

const firstBackoffMs = 200

const defaultMaxBytes = 16 * 1024 * 1024

const maxBackoffMs = 5_000

export type RequestParameters = Readonly<Record<string, string | number | undefined>>

export interface NodeRequest {
  readonly operation: Operation
  readonly parameters?: RequestParameters | undefined
  readonly body?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Whether sending it twice does what sending it once does. */
  readonly isRepeatable: boolean
}

/** An open answer; the caller reads its body and calls `close`. */
interface OpenAnswer {
  readonly response: Response
  readonly deadline: Deadline
  /** The error to throw for one that reading the body threw. */
  explain(error: unknown): unknown
}

/** Sends requests to a node: tokens, time limits, retries, errors. */
export class Transport {
  readonly #base: string
  /** The base as an error may show it: without credentials. */
  readonly #place: string
  readonly #options: ClientOptions

  /** @throws TypeError */
  constructor(url: string | URL, options: ClientOptions) {
    checkOptions('createClient', options, clientOptions)
    const base = baseOf(url)
    // A path in front, as behind a reverse proxy, is kept.
    this.#base = base.href.replace(/\/+$/, '')
    this.#place = `${base.origin}${base.pathname}`.replace(/\/+$/, '')
    this.#options = options
  }

  /** @returns the JSON of a 2xx; undefined for 204 */
  async json(request: NodeRequest, options: NodeRequestOptions = {}): Promise<unknown> {
    return this.retrying(request, options, async () => {
      const answer = await this.open(request, options)
      try {
        const text = await this.#textOf(answer.response, nameOf(request), options)
        const value = text === '' ? undefined : parse(nameOf(request), text)
        const fault =
          missingIn(value, request.operation) ?? this.#options.checkAnswer?.(nameOf(request), value)
        if (fault !== undefined) throw new InvalidAnswerError(nameOf(request), fault)
        return value
      } catch (error) {
        throw answer.explain(error)
      } finally {
        answer.deadline.clear()
      }
    })
  }

  /** Runs an attempt again after a failure that may pass, if the request is repeatable. */
  async retrying<T>(
    request: NodeRequest,
    options: NodeRequestOptions,
    attempt: () => Promise<T>,
  ): Promise<T> {
    checkOptions(nameOf(request), options, requestOptions)
    const { isRepeatable } = request
    const { signal, retries = this.#options.retries ?? 3 } = options
    for (let failures = 0; ; failures++) {
      try {
        return await attempt()
      } catch (error) {
        const wait = isRepeatable && failures < retries ? waitAfter(error, failures) : undefined
        if (wait === undefined) throw error
        this.#options.onRetry?.(error as Error, wait)
        await sleep(wait, signal)
      }
    }
  }

  /**
   * Sends the request once, until a 2xx's headers. Its time runs until the deadline is cleared or restarted.
   */
  async open(request: NodeRequest, options: NodeRequestOptions): Promise<OpenAnswer> {
    const { signal } = options
    const name = nameOf(request)
    const deadline = new Deadline(signal, options.timeoutMs ?? this.#options.timeoutMs ?? 30_000)
    const explain = (error: unknown) => {
      if (error instanceof InvalidAnswerError) return error
      if (signal?.aborted) return signal.reason
      return deadline.isOver
        ? new TimeoutError(name, deadline.ms, `no answer from ${this.#place}`)
        : new NetworkError(name, this.#place, error)
    }
    try {
      const response = await this.#send(request, deadline.signal)
      if (response.ok) return { response, deadline, explain }
      const text = await this.#textOf(response, name, options)
      deadline.clear()
      const after = Number(response.headers.get('retry-after') ?? Number.NaN)
      throw statusError({
        request: name,
        url: this.#place,
        status: response.status,
        body: maybeJson(text),
        retryAfter: Number.isFinite(after) ? after : undefined,
        link: response.headers.get('link'),
      })
    } catch (error) {
      deadline.clear()
      throw error instanceof StatusError ? error : explain(error)
    }
  }

  /** The text of an answer, which a node could send without end. */
  async #textOf(
    { body }: Response,
    name: string,
    { maxAnswerBytes: most = this.#options.maxAnswerBytes ?? defaultMaxBytes }: NodeRequestOptions,
  ): Promise<string> {
    if (body === null) return ''
    const decoder = new TextDecoder()
    const reader = body.getReader()
    let bytes = 0
    let text = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return text + decoder.decode()
      bytes += value.length
      if (bytes > most) {
        await reader.cancel().catch(() => undefined)
        throw new InvalidAnswerError(name, `the answer has more than ${most} bytes`)
      }
      text += decoder.decode(value, { stream: true })
    }
  }

  #send({ operation, parameters = {}, body, headers }: NodeRequest, signal: AbortSignal): Promise<Response> {
    const { method, path, token, body: type } = operation
    const bearer = token && this.#options[token]
    const send = this.#options.fetch ?? globalThis.fetch
    return send(this.#base + locate(path, parameters), {
      method,
      signal,
      headers: {
        ...(type && { 'content-type': type }),
        ...(bearer && { authorization: `Bearer ${bearer}` }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    })
  }
}

/** @throws TypeError */
function baseOf(url: string | URL): URL {
  try {
    const base = new URL(url)
    // Without a scheme, `localhost:3000` is absolute as well.
    if (/^https?:$/.test(base.protocol)) return base
  } catch {}
  throw new TypeError('createClient: url must be a URL such as http://127.0.0.1:3000')
}

/** Whether a node that has answered before may answer again, as after a restart. */
export function isTransient(error: unknown): boolean {
  return error instanceof NetworkError || error instanceof TimeoutError || error instanceof ServerError
}

/** Milliseconds until another attempt makes sense; undefined if none does. */
export function waitAfter(error: unknown, failures: number): number | undefined {
  if (error instanceof NetworkError || error instanceof TimeoutError) {
    // Random, so that clients of a node that restarts do not come back all at once.
    return Math.min(maxBackoffMs, firstBackoffMs * 2 ** failures) * (0.5 + Math.random() / 2)
  }
  if (!(error instanceof StatusError) || error.status < 500) return undefined
  const { retryAfter } = error
  return retryAfter !== undefined && retryAfter <= maxRetryAfter ? retryAfter * 1000 : undefined
}

function nameOf({ operation: { method, path } }: NodeRequest): string {
  return `${method} ${path}`
}

/** Path and query of a request: what is not in the path goes into the query. */
function locate(template: string, parameters: RequestParameters): string {
  const query = new URLSearchParams()
  let path = template
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) continue
    const place = `{${name}}`
    if (template.includes(place)) path = path.replace(place, encodeURIComponent(value))
    else query.set(name, String(value))
  }
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}

/** Which field the answer of an operation lacks, as an error says it. */
function missingIn(value: unknown, { answer = [] }: Operation): string | undefined {
  const missing = answer.find((name) => !Object.hasOwn(Object(value), name))
  return missing && `the answer has no ${missing}`
}

function parse(name: string, text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw new InvalidAnswerError(name, 'the answer is not JSON', { cause })
  }
}

function maybeJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return text
  }
}

/** Ends an attempt when its time is over, or when the caller's signal says so. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #given: AbortSignal | undefined
  #ms: number | undefined
  readonly #forward = () => this.#controller.abort(this.#given?.reason)
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOver = false

  /** @param ms no limit without it */
  constructor(given: AbortSignal | undefined, ms: number | undefined) {
    this.#given = given
    this.#ms = ms
    if (given?.aborted) this.#forward()
    given?.addEventListener('abort', this.#forward)
    this.restart()
  }

  /** Milliseconds of the limit. */
  get ms(): number {
    return this.#ms ?? 0
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether the time is over, rather than the caller's signal aborted. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Counts the time from now. @param ms instead of that which was given */
  restart(ms = this.#ms): void {
    this.#ms = ms
    clearTimeout(this.#timer)
    if (this.#ms === undefined) return
    this.#timer = setTimeout(() => {
      this.#isOver = true
      this.#controller.abort()
    }, this.#ms)
  }

  /** Ends the attempt, also an answer that no one reads. */
  end(): void {
    this.clear()
    this.#controller.abort()
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#given?.removeEventListener('abort', this.#forward)
  }
}

/** Waits; rejects with the signal's reason once it is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
