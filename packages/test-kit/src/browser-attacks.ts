import type { Question } from './ask.js'

export interface BrowserAttack extends Question {
  readonly name: string
  /** The path asked for, if it is not the route's own. */
  readonly path?: (route: string) => string
}

const chrome = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0' }
const image = { ...chrome, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
const navigation = { ...chrome, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const evil = 'http://evil.example'

/**
 * Requests that a hostile web page can make a browser send to a server on this machine. None of them may
 * reach the handler of a GET route that only an operator may call.
 *
 * @param port of the server, which listens on 127.0.0.1
 */
export function browserAttacks(port: number): readonly BrowserAttack[] {
  const localhost = `localhost:${port}`
  return [
    {
      name: 'image on a page of another site',
      headers: { ...image, host: localhost, 'sec-fetch-site': 'cross-site', referer: `${evil}/` },
    },
    {
      name: 'image on a page of another port, which is the same site',
      headers: {
        ...image,
        host: localhost,
        'sec-fetch-site': 'same-site',
        referer: 'http://localhost:8080/',
      },
    },
    {
      name: 'link followed from a page of another site',
      headers: { ...navigation, host: localhost, 'sec-fetch-site': 'cross-site', 'sec-fetch-user': '?1' },
    },
    {
      name: 'GET form submitted by a page of the same site',
      headers: { ...navigation, host: localhost, 'sec-fetch-site': 'same-site' },
      path: (route) => `${route}?confirm=yes`,
    },
    {
      name: 'POST form submitted by a page of another site',
      method: 'POST',
      headers: {
        ...navigation,
        host: localhost,
        'sec-fetch-site': 'cross-site',
        origin: evil,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: '_method=GET',
    },
    {
      name: 'DNS rebinding: a page whose own name resolves to this machine',
      headers: {
        ...chrome,
        host: `evil.example:${port}`,
        'sec-fetch-site': 'same-origin',
        'sec-fetch-mode': 'cors',
        origin: `${evil}:${port}`,
      },
    },
    {
      name: 'DNS rebinding that claims a forwarded host and an overridden method',
      headers: {
        ...chrome,
        host: `evil.example:${port}`,
        'sec-fetch-site': 'same-origin',
        'x-forwarded-host': localhost,
        'x-forwarded-for': '127.0.0.1',
        forwarded: `host=${localhost}`,
        'x-http-method-override': 'GET',
      },
    },
    {
      name: 'DNS rebinding of a name that begins like loopback',
      headers: { ...chrome, host: `127.0.0.1.evil.example:${port}`, 'sec-fetch-site': 'same-origin' },
    },
    {
      name: 'DNS rebinding by a name with a trailing dot',
      headers: { ...chrome, host: `localhost.evil.example.:${port}`, 'sec-fetch-site': 'same-origin' },
    },
    {
      name: 'plain HTTP to a LAN address, without Sec-Fetch headers',
      headers: { ...chrome, host: `192.168.1.20:${port}`, referer: `${evil}/` },
    },
    {
      name: 'plain HTTP to the unspecified address',
      headers: { ...chrome, host: `0.0.0.0:${port}` },
    },
    {
      name: 'browser without Sec-Fetch headers, on a page that hides its address',
      headers: { ...chrome, host: localhost },
    },
    {
      name: 'browser without Sec-Fetch headers, on a page that shows its address',
      headers: { ...chrome, host: localhost, referer: `${evil}/page` },
    },
    {
      name: 'fetch from a page of another site, without Sec-Fetch headers',
      headers: { host: localhost, origin: evil },
    },
    {
      name: 'fetch from a sandboxed frame, whose origin is null',
      headers: { ...chrome, host: localhost, origin: 'null', 'sec-fetch-site': 'cross-site' },
    },
    {
      name: 'fetch from a sandboxed frame, without Sec-Fetch headers',
      headers: { ...chrome, host: localhost, origin: 'null' },
    },
    {
      name: 'fetch from another port of the same host',
      headers: { ...chrome, host: localhost, origin: `http://localhost:${port + 1}` },
    },
    {
      name: 'fetch from the default port of the same host',
      headers: { ...chrome, host: localhost, origin: 'http://localhost' },
    },
    {
      name: 'fetch from an IPv6 loopback page on another port',
      headers: {
        ...chrome,
        host: `[::1]:${port}`,
        origin: 'http://[::1]:8080',
        'sec-fetch-site': 'same-site',
      },
    },
    {
      name: 'request addressed to an IPv6 address that is not loopback',
      headers: { ...chrome, host: `[2001:db8::1]:${port}`, 'sec-fetch-site': 'same-origin' },
    },
    {
      name: 'fetch from a browser extension',
      headers: { ...chrome, host: localhost, origin: 'chrome-extension://abcdefghijklmnop' },
    },
    {
      name: 'CORS preflight',
      method: 'OPTIONS',
      headers: {
        ...chrome,
        host: localhost,
        origin: evil,
        'sec-fetch-site': 'cross-site',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    },
    {
      name: 'private-network preflight',
      method: 'OPTIONS',
      headers: {
        ...chrome,
        host: localhost,
        origin: evil,
        'access-control-request-method': 'GET',
        'access-control-request-private-network': 'true',
      },
    },
  ]
}
