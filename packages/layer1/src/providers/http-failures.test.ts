import { afterEach, describe, expect, it } from 'vitest'
import { failureCause, isLayer1Error, type Layer1Error } from '../errors.js'
import { keys, limits, shortLimits } from '../test/devnet-harness.js'
import { jsonBy, type LocalServer, serve } from '../test/http-server.js'
import type { Layer1, Layer1Limits } from '../types.js'
import { createBlockfrostLayer1 } from './blockfrost/create-blockfrost-layer1.js'
import { createKupmiosLayer1 } from './kupmios/create-kupmios-layer1.js'

const SECRET = 'preprodSecretProjectId'
const servers: LocalServer[] = []
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())))

async function started(...args: Parameters<typeof serve>): Promise<LocalServer> {
  const server = await serve(...args)
  servers.push(server)
  return server
}

const blockfrost = (url: string, given: Layer1Limits = limits) =>
  createBlockfrostLayer1({ ...given, url: `${url}/api/v0`, projectId: SECRET, networkMagic: 1 })
const kupmios = (url: string, given: Layer1Limits = limits) =>
  createKupmiosLayer1({ ...given, kupoUrl: url, ogmiosUrl: url, networkMagic: 1, headers: { key: SECRET } })

async function failureOf(work: Promise<unknown>): Promise<Layer1Error> {
  const error: unknown = await work.catch((reason: unknown) => reason)
  if (!isLayer1Error(error)) throw error
  const told = `${error.stack?.split('\n')[0]} ${JSON.stringify(error)} ${error.reason}`
  expect(told).not.toMatch(/127\.0\.0\.1|:\/\//)
  expect(told).not.toContain(SECRET)
  expect(error.cause).toBeUndefined()
  expect(failureCause(error)).toBe(error.kind)
  return error
}

describe.each([
  ['Blockfrost', blockfrost],
  ['Kupo and Ogmios', kupmios],
])('%s', (_, open: (url: string, given?: Layer1Limits) => Layer1) => {
  it('times out if no answer comes', async () => {
    const server = await started(() => {})
    const { kind } = await failureOf(open(server.url, shortLimits).tip())
    expect(kind).toBe('timeout')
    expect(server.requests.length).toBeGreaterThan(1)
  })

  it('times out if a body stops', async () => {
    const server = await started((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('{')
    })
    expect((await failureOf(open(server.url, shortLimits).tip())).kind).toBe('timeout')
  })

  it('retries a rate-limited request at the time that Retry-After gives', async () => {
    const server = await started((_request, response) =>
      response.writeHead(429, { 'retry-after': '0' }).end(),
    )
    expect(await failureOf(open(server.url).tip())).toMatchObject({ kind: 'rate limited', retryAfterMs: 0 })
    expect(server.requests.length).toBeGreaterThanOrEqual(limits.attempts)
  })

  it('does not retry if Retry-After is longer than the call may take', async () => {
    const server = await started((_request, response) =>
      response.writeHead(429, { 'retry-after': '3600' }).end(),
    )
    const { kind, retryAfterMs } = await failureOf(open(server.url).parameters())
    expect([kind, retryAfterMs]).toEqual(['rate limited', 3_600_000])
    expect(server.requests).toHaveLength(1)
  })

  it('reports an error of the server', async () => {
    const server = await started((_request, response) => response.writeHead(503).end('down'))
    expect((await failureOf(open(server.url).tip())).kind).toBe('provider error')
  })

  it.each([
    ['not JSON', '<html>'],
    ['JSON of another shape', '{"tip":[]}'],
    ['empty', ''],
  ])('reports an answer that is %s', async (_name, body) => {
    const server = await started((_request, response) => response.writeHead(200).end(body))
    const { kind } = await failureOf(open(server.url).tip())
    expect(['invalid answer', 'provider error']).toContain(kind)
  })

  it('reports a server that does not listen', async () => {
    const server = await serve(() => {})
    await server.close()
    expect((await failureOf(open(server.url).tip())).kind).toBe('unreachable')
  })

  it('reports a connection that breaks', async () => {
    const server = await started((request) => request.socket.destroy())
    expect((await failureOf(open(server.url).tip())).kind).toBe('unreachable')
  })

  it('does not follow redirects, which could send the credential elsewhere', async () => {
    const elsewhere = await started(jsonBy({}))
    const server = await started((_request, response) =>
      response.writeHead(307, { location: `${elsewhere.url}/api/v0/genesis` }).end(),
    )
    expect((await failureOf(open(server.url).tip())).kind).toBe('invalid answer')
    expect(elsewhere.requests).toEqual([])
  })

  it('reports a refused credential without a retry', async () => {
    const server = await started((_request, response) => response.writeHead(401).end('{}'))
    expect((await failureOf(open(server.url).parameters())).kind).toBe('unauthorized')
    expect(server.requests).toHaveLength(1)
  })

  it('refuses a server of another network before any other request, without a retry', async () => {
    const server = await started((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const magic = { network_magic: 2, networkMagic: 2 }
      response.end(JSON.stringify(request.method === 'GET' ? magic : { jsonrpc: '2.0', result: magic }))
    })
    const layer1 = open(server.url)
    expect((await failureOf(layer1.utxosAt(keys.addressText))).kind).toBe('wrong network')
    expect(server.requests).toHaveLength(1)
    expect((await failureOf(layer1.tip())).kind).toBe('wrong network')
  })

  it.each([
    ['no URL', 'blockfrost'],
    ['another protocol', 'ftp://example.org'],
    ['a password', `https://user:${SECRET}@example.org`],
  ])('refuses a URL with %s without quoting it', (_name, url) => {
    expect(() => open(url)).toThrow(TypeError)
    expect(() => open(url)).not.toThrow(new RegExp(`${SECRET}|example`))
  })

  it.each([{ attempts: 0 }, { requestTimeoutMs: -1 }, { callTimeoutMs: 1.5 }])(
    'refuses the limits %o',
    (wrong) => {
      const url = 'http://127.0.0.1'
      expect(() => createBlockfrostLayer1({ ...wrong, url, networkMagic: 1 })).toThrow(TypeError)
      expect(() => createKupmiosLayer1({ ...wrong, kupoUrl: url, ogmiosUrl: url, networkMagic: 1 })).toThrow(
        TypeError,
      )
    },
  )
})

describe('Blockfrost only', () => {
  it.each([
    [402, 'rate limited'],
    [418, 'rate limited'],
    [425, 'provider error'],
    [403, 'unauthorized'],
  ])('reports status %i as "%s"', async (status, kind) => {
    const server = await started((_request, response) => response.writeHead(status).end('{"message":"no"}'))
    expect((await failureOf(blockfrost(server.url).tip())).kind).toBe(kind)
  })

  it('reports a project id of another network', async () => {
    const body = JSON.stringify({ status_code: 403, error: 'Forbidden', message: 'Network token mismatch.' })
    const server = await started((_request, response) => response.writeHead(403).end(body))
    expect((await failureOf(blockfrost(server.url).tip())).kind).toBe('wrong network')
  })

  const utxo = (index: number) => ({
    tx_hash: 'ab'.repeat(32),
    output_index: index,
    address: keys.addressText,
    amount: [{ unit: 'lovelace', quantity: '45000000000000000' }],
    data_hash: null,
    inline_datum: null,
    reference_script_hash: null,
  })

  /**
   * Serves 203 outputs. From the given page request on, each request comes with a new block that spends the
   * first output.
   */
  async function servePages(spentFrom: number, blocks: number): Promise<LocalServer> {
    let asked = 0
    let height = 1
    return started((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
      response.writeHead(200, { 'content-type': 'application/json' })
      if (pathname.endsWith('/genesis')) return response.end('{"network_magic":1}')
      if (pathname.endsWith('/blocks/latest')) {
        return response.end(JSON.stringify({ slot: height, height, hash: String(height).padStart(64, '0') }))
      }
      asked++
      if (asked >= spentFrom && height <= blocks) height++
      const left = Array.from({ length: 204 - height }, (_, i) => utxo(height - 1 + i))
      const start = (Number(searchParams.get('page')) - 1) * 100
      return response.end(JSON.stringify(left.slice(start, start + 100)))
    })
  }

  it('sends the project id and reads a list page by page', async () => {
    const server = await servePages(Number.POSITIVE_INFINITY, 0)
    const utxos = await blockfrost(server.url).utxosAt(keys.addressText)
    expect(utxos.map(({ reference }) => reference.index)).toEqual(Array.from({ length: 203 }, (_, i) => i))
    expect(utxos[0]!.output.value.lovelace).toBe(45_000_000_000_000_000n)
    expect(server.requests.every(({ headers }) => headers.project_id === SECRET)).toBe(true)
  })

  it('reads a list again if a block changes it between two pages', async () => {
    const server = await servePages(3, 2)
    const utxos = await blockfrost(server.url).utxosAt(keys.addressText)
    expect(utxos.map(({ reference }) => reference.index)).toEqual(
      Array.from({ length: 201 }, (_, i) => i + 2),
    )
  })

  it('reports a list that changes faster than it can be read', async () => {
    const server = await servePages(1, Number.POSITIVE_INFINITY)
    const { kind } = await failureOf(blockfrost(server.url).utxosAt(keys.addressText))
    expect(kind).toBe('invalid answer')
  })
})
