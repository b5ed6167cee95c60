import type { Question } from './ask.js'

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
