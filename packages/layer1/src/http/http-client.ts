import { isLayer1Error, Layer1Error } from '../errors.js'
import { createJsonItems, parseJson } from './json.js'
import { bounded, endedBy, isTimeout, type Limits, retrying, unlessAborted } from './limits.js'

/** Maximum size of a provider's answer, in bytes. */
const maxAnswerBytes = 32 * 1024 * 1024

interface HttpRequest {
  readonly method: 'GET' | 'POST'
  /** Relative to the base URL, with the query; segments are already encoded. */
  readonly path: string
  readonly body?: Uint8Array | string
  readonly contentType?: string
}

/** An answer with a JSON body: a success, or a client error (400 to 499) about the request itself. */
export interface HttpAnswer {
  readonly status: number
  readonly body: unknown
}

interface ListRequest<T> {
  /** As of an {@link HttpRequest}. */
  readonly path: string
  readonly maxBytes: number
  /** Reads an item as soon as it has arrived; undefined leaves it out. @throws Layer1Error */
  read(item: unknown): T | undefined
}

/** The items of a list. */
interface ListAnswer<T> {
  readonly status: number
  /** Absent if the answer is an error or longer than wanted. */
  readonly items?: readonly T[]
}

export interface HttpClient {
  /** Retried on transient failures; for requests without effect. */
  read(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>
  /** Sent once. */
  once(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>
  /**
   * Reads a long JSON array item by item, so that neither its text nor all its items are in memory. The time
   * for a request applies to each part that arrives.
   */
  list<T>(request: ListRequest<T>, signal: AbortSignal): Promise<ListAnswer<T>>
}

interface HttpClientOptions {
  readonly provider: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly limits: Limits
}

/**
 * An HTTP client for one provider; all failures are `Layer1Error`s. Redirects are not followed: they could
 * send the credential or a signed transaction to another host.
 * @throws TypeError on an invalid URL, unquoted
 */
export function createHttpClient({ provider, url, headers = {}, limits }: HttpClientOptions): HttpClient {
  const base = baseAddress(provider, url)

  async function open(request: HttpRequest, signal: AbortSignal): Promise<Response> {
    const response = await fetch(base + request.path, {
      method: request.method,
      headers: {
        accept: 'application/json',
        ...headers,
        ...(request.contentType && { 'content-type': request.contentType }),
      },
      redirect: 'manual',
      signal,
      ...(request.body !== undefined && { body: request.body }),
    })
    const failure = failureOf(response, provider)
    if (failure) {
      await response.body?.cancel()
      throw failure
    }
    return response
  }

  async function ask(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const response = await open(request, signal)
    return { status: response.status, body: await readBody(response, provider) }
  }

  async function askForList<T>(
    { path, maxBytes, read }: ListRequest<T>,
    signal: AbortSignal,
    restart: () => void,
  ): Promise<ListAnswer<T>> {
    const response = await open({ method: 'GET', path }, signal)
    const { status } = response
    const items: T[] = []
    const arriving = createJsonItems()
    let size = 0
    for await (const bytes of response.body ?? []) {
      restart()
      size += bytes.byteLength
      // Leaving the loop cancels the body.
      if (status >= 300 || size > maxBytes) return { status }
      for (const item of parsed(() => arriving.take(bytes), provider)) {
        const value = read(item)
        if (value !== undefined) items.push(value)
      }
    }
    if (status >= 300) return { status }
    parsed(() => arriving.end(), provider)
    return { status, items }
  }

  async function within<T>(
    signal: AbortSignal,
    run: (signal: AbortSignal, restart: () => void) => Promise<T>,
  ): Promise<T> {
    try {
      return await bounded(limits.requestTimeoutMs, signal, (inner, restart) =>
        unlessAborted(inner, run(inner, restart)),
      )
    } catch (error) {
      throw transportFailure(error, provider, signal)
    }
  }

  const once = (request: HttpRequest, signal: AbortSignal) => within(signal, (inner) => ask(request, inner))

  return {
    once,
    read: (request, signal) => retrying(limits, signal, () => once(request, signal)),
    list: (request, signal) =>
      retrying(limits, signal, () => within(signal, (inner, restart) => askForList(request, inner, restart))),
  }
}

function baseAddress(provider: string, text: string): string {
  if (!URL.canParse(text)) throw new TypeError(`The URL of ${provider} is invalid`)
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`The URL of ${provider} must begin with http:// or https://`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(`The URL of ${provider} must not contain a user or password; pass them as a header`)
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}

function failureOf(response: Response, provider: string): Layer1Error | undefined {
  const { status } = response
  // Blockfrost answers 402 when the daily quota is used up, and 418 when it bans a client.
  if (status === 429 || status === 402 || status === 418) {
    const retryAfterMs = retryAfter(response.headers.get('retry-after'))
    return new Layer1Error(
      'LAYER1_RATE_LIMITED',
      `${provider} limits the request rate`,
      retryAfterMs === undefined ? {} : { retryAfterMs },
    )
  }
  if (status === 401) return new Layer1Error('LAYER1_UNAUTHORIZED', `${provider} rejects the credential`)
  if (status >= 500 || status === 425 || status === 408) {
    return new Layer1Error('LAYER1_PROVIDER_ERROR', `${provider} answered ${status}`, {
      mayHaveEffect: status >= 500,
    })
  }
  if (status >= 300 && status < 400) {
    return new Layer1Error('LAYER1_INVALID_ANSWER', `${provider} redirects, which is not followed`)
  }
  return undefined
}

/** Retry-After in seconds or as a date (RFC 9110), as milliseconds from now. */
function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined
}

async function readBody(response: Response, provider: string): Promise<unknown> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxAnswerBytes) throw invalid(provider, 'it is too large')
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  try {
    return parseJson(text)
  } catch {
    // Kupo and proxies may answer plain text.
    if (response.status >= 400) return text
    throw invalid(provider, 'it is not JSON')
  }
}

function parsed<T>(parse: () => T, provider: string): T {
  try {
    return parse()
  } catch {
    throw invalid(provider, 'it is no JSON array')
  }
}

function invalid(provider: string, reason: string): Layer1Error {
  const message = `${provider} gave an invalid answer: ${reason}`
  return new Layer1Error('LAYER1_INVALID_ANSWER', message, { mayHaveEffect: true })
}

/** Classifies a transport error; only the system's error code is passed on. */
function transportFailure(error: unknown, provider: string, signal: AbortSignal): unknown {
  if (isLayer1Error(error)) return error
  if (signal.aborted) {
    const ended = endedBy(signal, provider)
    return isLayer1Error(ended) ? timedOut(provider) : ended
  }
  if (isTimeout(error)) return timedOut(provider)
  const code = systemCode(error)
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return timedOut(provider)
  const noConnection = code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'UND_ERR_CONNECT_TIMEOUT'
  const detail = code === undefined ? '' : ` (${code})`
  return new Layer1Error('LAYER1_UNREACHABLE', `${provider} cannot be reached${detail}`, {
    mayHaveEffect: !noConnection,
  })
}

function timedOut(provider: string): Layer1Error {
  return new Layer1Error('LAYER1_TIMEOUT', `${provider} did not answer in time`, { mayHaveEffect: true })
}

function systemCode(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  if (!(cause instanceof Error) || !('code' in cause)) return undefined
  return typeof cause.code === 'string' && /^[A-Z_0-9]+$/.test(cause.code) ? cause.code : undefined
}
