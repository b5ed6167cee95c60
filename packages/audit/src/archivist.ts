import { CborReader, isDecodeError, toHex } from '@ratatosk/cbor'
import type { BlockSource } from './types.js'

/** Options of {@link openArchivist}. */
export interface OpenArchivistOptions {
  /** Limit of a body in bytes. @defaultValue 67121152 */
  readonly maxBodyBytes?: number
  /** Milliseconds in which a request must bring more bytes. @defaultValue 10000 */
  readonly stallMs?: number
  /** Milliseconds that a request may take. @defaultValue 300000 */
  readonly timeoutMs?: number
  /** Attempts of a request that gets no answer, or 503. @defaultValue 4 */
  readonly attempts?: number
}

/** No body of a valid block has more bytes; see docs/block-body.md. */
const mostBodyBytes = 67_121_152

/** Room for the other entries of an answer. */
const envelopeBytes = 256
const maxHeaderBytes = 1024
const pauseMs = 250

/**
 * Reads the blocks of an archivist over HTTP.
 *
 * @param url base of its API, such as `http://127.0.0.1:3000/archivist`
 * @throws TypeError for a URL that is not http or https, or contains a password
 */
export function openArchivist(url: string, options: OpenArchivistOptions = {}): BlockSource {
  const { maxBodyBytes = mostBodyBytes, attempts = 4 } = options
  const { stallMs = 10_000, timeoutMs = 300_000 } = options
  const base = baseOf(url)

  async function get(path: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await getOnce(`${base}${path}`, { maxBytes, stallMs, timeoutMs, signal })
      } catch (error) {
        signal.throwIfAborted()
        if (attempt === attempts || !(error instanceof NoAnswer)) throw error
        await new Promise((resolve) => setTimeout(resolve, pauseMs * 2 ** attempt))
      }
    }
  }

  return {
    async header(id, signal) {
      const name = typeof id === 'number' ? String(id) : toHex(id)
      const answer = await get(`/block/${name}/header`, maxHeaderBytes + envelopeBytes, signal)
      if (answer === undefined) return undefined
      const entries = readEntries(answer)
      if (entries === undefined) throw new Error('its answer is not CBOR')
      return { headerHash: bytesOf(entries, 'hash', 28), header: bytesOf(entries, 'header') }
    },
    async body(headerHash, signal) {
      const answer = await get(`/block/${toHex(headerHash)}/body`, maxBodyBytes + envelopeBytes, signal)
      // Bytes that are no answer are no body either.
      return answer && (readEntries(answer)?.get('body') ?? answer)
    },
  }
}

/** The request may succeed later. */
class NoAnswer extends Error {}

function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new TypeError('@ratatosk/audit: the URL of an archivist must begin with http:// or https://')
  if (url.username !== '' || url.password !== '')
    throw new TypeError('@ratatosk/audit: the URL of an archivist must not contain a user or password')
  return url.origin + url.pathname.replace(/\/+$/, '')
}

interface Limits extends Required<Pick<OpenArchivistOptions, 'stallMs' | 'timeoutMs'>> {
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** Follows no redirect, which could lead to a server that the caller did not name. Undefined for 404. */
async function getOnce(
  url: string,
  { maxBytes, stallMs, timeoutMs, signal }: Limits,
): Promise<Uint8Array | undefined> {
  const stop = new AbortController()
  const abort = () => stop.abort(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  const stall = setTimeout(() => stop.abort(new NoAnswer(`it sent nothing in ${stallMs} ms`)), stallMs)
  const late = setTimeout(() => stop.abort(new Error(`it took more than ${timeoutMs} ms`)), timeoutMs)
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/cbor' },
      redirect: 'manual',
      signal: stop.signal,
    })
    if (response.status === 404) return undefined
    if (response.status === 503) throw new NoAnswer('it answered with status 503')
    if (response.status !== 200 || response.body === null)
      throw new Error(`it answered with status ${response.status}`)
    const pieces: Uint8Array[] = []
    let length = 0
    for await (const piece of response.body) {
      stall.refresh()
      length += piece.length
      if (length > maxBytes) throw new Error(`it sent more than ${maxBytes} bytes`)
      pieces.push(piece)
    }
    return joined(pieces, length)
  } catch (error) {
    if (stop.signal.aborted) throw stop.signal.reason
    // The error of fetch states only that there was no answer; its cause states the reason.
    if (!(error instanceof TypeError)) throw error
    const { cause } = error
    throw new NoAnswer(cause instanceof Error && 'code' in cause ? String(cause.code) : error.message)
  } finally {
    clearTimeout(stall)
    clearTimeout(late)
    signal.removeEventListener('abort', abort)
    stop.abort()
  }
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let position = 0
  for (const piece of pieces) {
    whole.set(piece, position)
    position += piece.length
  }
  return whole
}

/** The entries of an answer: text to a byte string's bytes, or other CBOR; undefined if no map. */
function readEntries(answer: Uint8Array): ReadonlyMap<string, Uint8Array> | undefined {
  try {
    const reader = new CborReader(answer)
    const entries = new Map<string, Uint8Array>()
    const count = reader.readMap()
    for (let index = 0; reader.hasNext(count, index); index++) {
      const key = reader.readText()
      const start = reader.position
      if (reader.peekMajor() === 2) entries.set(key, reader.readBytes())
      else {
        reader.skip()
        entries.set(key, reader.since(start))
      }
    }
    return entries
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}

function bytesOf(entries: ReadonlyMap<string, Uint8Array>, name: string, length?: number): Uint8Array {
  const bytes = entries.get(name)
  if (bytes !== undefined && (length === undefined || bytes.length === length)) return bytes
  throw new Error(`its answer has no ${name}${length === undefined ? '' : ` of ${length} bytes`}`)
}
