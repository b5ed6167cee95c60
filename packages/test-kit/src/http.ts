import { readFileSync } from 'node:fs'
import { type Agent, type IncomingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { dirname, join, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** The ports of a plugin under test, with canned answers; records the calls. */
export class CannedPorts {
  readonly asked: string[] = []
  /** The error of every call, unless undefined. */
  failure: unknown

  protected async answer<T>(call: string, answer: T): Promise<T> {
    this.asked.push(call)
    if (this.failure !== undefined) throw this.failure
    return answer
  }
}

/** Writes text to a loopback port and reads until the server closes the connection. */
export function exchange(
  port: number,
  text: string,
): Promise<{ status: number; head: string; body: string }> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      answer += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => {
      const [head = '', body = ''] = answer.split('\r\n\r\n')
      resolve({ status: Number(head.split(' ')[1]), head, body })
    })
  })
}

/**
 * Reads a golden file of a package: JSON, checked in beside its sources.
 *
 * @param test `import.meta.url` of the compiled test, below `dist`
 * @param name the file's path below `src`
 */
export function golden<T>(test: string, name: string): T {
  const [root] = dirname(fileURLToPath(test)).split(`${sep}dist`)
  return JSON.parse(readFileSync(join(root ?? '', 'src', name), 'utf8'))
}

/** A record of a pino log. */
export interface LogRecord {
  readonly level: number
  readonly msg: string
  readonly reqId?: string
  readonly err?: { readonly message: string; readonly stack?: string; readonly code?: string }
  readonly [field: string]: unknown
}

/** Fastify's own messages about servers and requests. */
const routine = /^(Server listening|incoming request|request completed)/

/**
 * A pino destination that keeps its records.
 *
 * @example
 * const log = recordedLog()
 * const server = fastify({ logger: { level: 'info', stream: log.stream } })
 */
export function recordedLog() {
  const lines: string[] = []
  return {
    stream: { write: (line: string) => void lines.push(line) },
    /** As written: one JSON text each, with its line break. */
    lines,
    /** Without Fastify's records about starting, incoming requests and completed requests. */
    records: (): LogRecord[] =>
      lines.map((line): LogRecord => JSON.parse(line)).filter(({ msg }) => !routine.test(msg)),
  }
}

/**
 * Waits for a condition, which is checked every 50 ms.
 *
 * @throws when the condition does not hold within `timeoutMs`
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  { timeoutMs = 120_000, what = String(holds) }: { timeoutMs?: number; what?: string } = {},
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Not within ${timeoutMs / 1000} s: ${what}`)
    await sleep(50)
  }
}

/** A response to {@link ask}. */
export interface Answer {
  readonly status: number
  /** Without `date`. */
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A request for {@link ask}. */
export interface Question {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Keeps connections open. By default, the request has a connection of its own. */
  readonly agent?: Agent
}

/** Sends one request. */
export function ask(
  url: string,
  { method = 'GET', headers = {}, body, agent }: Question = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: agent ?? false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        const { date: _date, ...rest } = response.headers
        resolve({ status: response.statusCode ?? 0, headers: rest, body: text })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** The part of a Fastify server that {@link listening} uses. */
export interface Listens {
  listen(options: { host: string; port: number }): Promise<string>
}

/** Makes a server listen on a free loopback port; `get` and `head` send requests to it. */
export async function listening(server: Listens) {
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    url,
    port: Number(new URL(url).port),
    get: (path: string, headers: Record<string, string> = {}) => ask(url + path, { headers }),
    head: (path: string) => ask(url + path, { method: 'HEAD' }),
  }
}

export interface BrowserAttack extends Question {
  readonly name: string
  /** The path asked for, if it is not the route's own. */
  readonly path?: (route: string) => string
}

const chrome = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0' }
const image = { ...chrome, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
const navigation = { ...chrome, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const crossSite = { 'sec-fetch-site': 'cross-site' }
const sameSite = { 'sec-fetch-site': 'same-site' }
const rebound = { ...chrome, 'sec-fetch-site': 'same-origin' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const preflight = { ...chrome, 'access-control-request-method': 'GET' }
const evil = 'http://evil.example'

/** Headers, which override the host, and the rest. */
type Attack = readonly [
  headers: NonNullable<Question['headers']>,
  rest?: Omit<BrowserAttack, 'name' | 'headers'>,
]

/**
 * Requests that a hostile web page can make a browser send to a server on this machine. None of them may
 * reach the handler of a GET route that only an operator may call.
 *
 * @param port of the server, which listens on 127.0.0.1
 */
export function browserAttacks(port: number): readonly BrowserAttack[] {
  const host = `localhost:${port}`
  const attacks: Readonly<Record<string, Attack>> = {
    'image on a page of another site': [{ ...image, ...crossSite, referer: `${evil}/` }],
    'image on a page of another port, which is the same site': [
      { ...image, ...sameSite, referer: 'http://localhost:8080/' },
    ],
    'link followed from a page of another site': [{ ...navigation, ...crossSite, 'sec-fetch-user': '?1' }],
    'GET form submitted by a page of the same site': [
      { ...navigation, ...sameSite },
      { path: (route) => `${route}?confirm=yes` },
    ],
    'POST form submitted by a page of another site': [
      { ...navigation, ...crossSite, ...form, origin: evil },
      { method: 'POST', body: '_method=GET' },
    ],
    'DNS rebinding: a page whose own name resolves to this machine': [
      { ...rebound, host: `evil.example:${port}`, 'sec-fetch-mode': 'cors', origin: `${evil}:${port}` },
    ],
    'DNS rebinding that claims a forwarded host and an overridden method': [
      {
        ...rebound,
        host: `evil.example:${port}`,
        'x-forwarded-host': host,
        'x-forwarded-for': '127.0.0.1',
        forwarded: `host=${host}`,
        'x-http-method-override': 'GET',
      },
    ],
    'DNS rebinding of a name that begins like loopback': [
      { ...rebound, host: `127.0.0.1.evil.example:${port}` },
    ],
    'DNS rebinding by a name with a trailing dot': [{ ...rebound, host: `localhost.evil.example.:${port}` }],
    'plain HTTP to a LAN address, without Sec-Fetch headers': [
      { ...chrome, host: `192.168.1.20:${port}`, referer: `${evil}/` },
    ],
    'plain HTTP to the unspecified address': [{ ...chrome, host: `0.0.0.0:${port}` }],
    'browser without Sec-Fetch headers, on a page that hides its address': [chrome],
    'browser without Sec-Fetch headers, on a page that shows its address': [
      { ...chrome, referer: `${evil}/page` },
    ],
    'fetch from a page of another site, without Sec-Fetch headers': [{ origin: evil }],
    'fetch from a sandboxed frame, whose origin is null': [{ ...chrome, ...crossSite, origin: 'null' }],
    'fetch from a sandboxed frame, without Sec-Fetch headers': [{ ...chrome, origin: 'null' }],
    'fetch from another port of the same host': [{ ...chrome, origin: `http://localhost:${port + 1}` }],
    'fetch from the default port of the same host': [{ ...chrome, origin: 'http://localhost' }],
    'fetch from an IPv6 loopback page on another port': [
      { ...chrome, ...sameSite, host: `[::1]:${port}`, origin: 'http://[::1]:8080' },
    ],
    'request addressed to an IPv6 address that is not loopback': [
      { ...rebound, host: `[2001:db8::1]:${port}` },
    ],
    'fetch from a browser extension': [{ ...chrome, origin: 'chrome-extension://abcdefghijklmnop' }],
    'CORS preflight': [
      { ...preflight, ...crossSite, origin: evil, 'access-control-request-headers': 'authorization' },
      { method: 'OPTIONS' },
    ],
    'private-network preflight': [
      { ...preflight, origin: evil, 'access-control-request-private-network': 'true' },
      { method: 'OPTIONS' },
    ],
  }
  return Object.entries(attacks).map(([name, [own, rest]]) => ({ name, headers: { host, ...own }, ...rest }))
}
