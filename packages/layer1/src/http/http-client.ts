import { isLayer1Error, Layer1Error } from '../errors.js'
import { bounded, unlessAborted } from './bounded.js'
import { parseJson } from './json.js'
import { endedBy, isTimeout, type Limits, retrying } from './retry.js'

/** No answer of a provider is larger, in bytes. */
const MAX_ANSWER = 32 * 1024 * 1024

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  /** From the base address on, with its query; segments are encoded already. */
  readonly path: string
  readonly body?: Uint8Array | string
  readonly contentType?: string
}

/** An answer with a JSON body: a success, or one of the client errors 400 to 499 that say something of the request. */
export interface HttpAnswer {
  readonly status: number
  readonly body: unknown
}

export interface HttpClient {
  /** Tried again where that may help: for what has no effect. */
  read(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>
  /** Tried once. */
  once(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>
}

export interface HttpClientOptions {
  /** What errors call the provider. */
  readonly provider: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly limits: Limits
}

/**
 * HTTP to one provider, whose failures are all `Layer1Error`. It never follows a redirect: the request's credential and a signed
 * transaction would go to whoever the redirect names.
 *
 * @throws TypeError where the address is none; it is not quoted
 */
export function createHttpClient({ provider, url, headers = {}, limits }: HttpClientOptions): HttpClient {
  const base = baseAddress(provider, url)

  async function ask(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
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
    return { status: response.status, body: await readBody(response, provider) }
  }

  async function once(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    try {
      return await bounded(limits.requestTimeoutMs, signal, (inner) =>
        unlessAborted(inner, ask(request, inner)),
      )
    } catch (error) {
      throw transportFailure(error, provider, signal)
    }
  }

  return { once, read: (request, signal) => retrying(limits, signal, () => once(request, signal)) }
}

function baseAddress(provider: string, text: string): string {
  if (!URL.canParse(text)) throw new TypeError(`The address of ${provider} is no URL`)
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`The address of ${provider} must begin with http:// or https://`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(`The address of ${provider} must hold no user or password: give them as a header`)
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}

function failureOf(response: Response, provider: string): Layer1Error | undefined {
  const { status } = response
  // 402 and 418 are how Blockfrost says that the day's requests are used up, and that it had enough of a client.
  if (status === 429 || status === 402 || status === 418) {
    const retryAfterMs = retryAfter(response.headers.get('retry-after'))
    return new Layer1Error(
      'rate limited',
      `${provider} refuses more requests for now`,
      retryAfterMs === undefined ? {} : { retryAfterMs },
    )
  }
  if (status === 401) return new Layer1Error('unauthorized', `${provider} does not take the credential`)
  if (status >= 500 || status === 425 || status === 408) {
    return new Layer1Error('provider error', `${provider} answered ${status}`, {
      mayHaveEffect: status >= 500,
    })
  }
  if (status >= 300 && status < 400) {
    return new Layer1Error('invalid answer', `${provider} redirects elsewhere, which is not followed`)
  }
  return undefined
}

/** Seconds or a date (RFC 9110), in milliseconds from now. */
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
    if (size > MAX_ANSWER) throw invalid(provider, 'it is too large')
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  try {
    return parseJson(text)
  } catch {
    // Kupo and proxies may say in plain words what was wrong with a request.
    if (response.status >= 400) return text
    throw invalid(provider, 'it is no JSON')
  }
}

function invalid(provider: string, reason: string): Layer1Error {
  const message = `${provider} gave an answer that makes no sense: ${reason}`
  return new Layer1Error('invalid answer', message, { mayHaveEffect: true })
}

/** What came of a connection; only the system's code of the error is told on. */
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
  return new Layer1Error('unreachable', `${provider} cannot be reached${detail}`, {
    mayHaveEffect: !noConnection,
  })
}

function timedOut(provider: string): Layer1Error {
  return new Layer1Error('timeout', `${provider} did not answer in time`, { mayHaveEffect: true })
}

function systemCode(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  if (!(cause instanceof Error) || !('code' in cause)) return undefined
  return typeof cause.code === 'string' && /^[A-Z_0-9]+$/.test(cause.code) ? cause.code : undefined
}
