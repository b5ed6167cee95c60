import { afterEach, describe, expect, it } from 'vitest'
import { failureCause, isLayer1Error, type Layer1Error } from '../errors.js'
import { keys, limits, shortLimits } from '../test/devnet-harness.js'
import { jsonBy, type LocalServer, serve } from '../test/http-server.js'
import type { Layer1, Layer1Limits } from '../types.js'
import { createBlockfrostLayer1 } from './blockfrost/create-blockfrost-layer1.js'
import { createKupmiosLayer1 } from './kupmios/create-kupmios-layer1.js'

const secret = 'preprodSecretProjectId'
const servers: LocalServer[] = []
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())))

async function started(...args: Parameters<typeof serve>): Promise<LocalServer> {
  const server = await serve(...args)
  servers.push(server)
  return server
}

const blockfrost = (url: string, given: Layer1Limits = limits) =>
  createBlockfrostLayer1({ ...given, url: `${url}/api/v0`, projectId: secret, networkMagic: 1 })
const kupmios = (url: string, given: Layer1Limits = limits) =>
  createKupmiosLayer1({ ...given, kupoUrl: url, ogmiosUrl: url, networkMagic: 1, headers: { key: secret } })

async function failureOf(work: Promise<unknown>): Promise<Layer1Error> {
  const error: unknown = await work.catch((reason: unknown) => reason)
  if (!isLayer1Error(error)) throw error
  const text = `${error.stack?.split('\n')[0]} ${JSON.stringify(error)} ${error.reason}`
  expect(text).not.toMatch(/127\.0\.0\.1|:\/\//)
  expect(text).not.toContain(secret)
  expect(error.cause).toBeUndefined()
  expect(`LAYER1_${failureCause(error).toUpperCase().replace(' ', '_')}`).toBe(error.code)
  return error
}

describe.each([
  ['Blockfrost', blockfrost],
  ['Kupo and Ogmios', kupmios],
])('%s', (_, open: (url: string, given?: Layer1Limits) => Layer1) => {
  it('times out if no answer comes', async () => {
    const server = await started(() => {})
    const { code } = await failureOf(open(server.url, shortLimits).tip())
    expect(code).toBe('LAYER1_TIMEOUT')
    expect(server.requests.length).toBeGreaterThan(1)
  })

  it('times out if a body stops', async () => {
    const server = await started((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('{')
    })
    expect((await failureOf(open(server.url, shortLimits).tip())).code).toBe('LAYER1_TIMEOUT')
  })

  it('retries a rate-limited request at the time that Retry-After gives', async () => {
    const server = await started((_request, response) =>
      response.writeHead(429, { 'retry-after': '0' }).end(),
    )
    expect(await failureOf(open(server.url).tip())).toMatchObject({
      code: 'LAYER1_RATE_LIMITED',
      retryAfterMs: 0,
    })
    expect(server.requests.length).toBeGreaterThanOrEqual(limits.attempts)
  })

  it('does not retry if Retry-After is longer than the call may take', async () => {
    const server = await started((_request, response) =>
      response.writeHead(429, { 'retry-after': '3600' }).end(),
    )
    const { code, retryAfterMs } = await failureOf(open(server.url).parameters())
    expect([code, retryAfterMs]).toEqual(['LAYER1_RATE_LIMITED', 3_600_000])
    expect(server.requests).toHaveLength(1)
  })

  it('reports an error of the server', async () => {
    const server = await started((_request, response) => response.writeHead(503).end('down'))
    expect((await failureOf(open(server.url).tip())).code).toBe('LAYER1_PROVIDER_ERROR')
  })

  it.each([
    ['not JSON', '<html>'],
    ['JSON of another shape', '{"tip":[]}'],
    ['empty', ''],
  ])('reports an answer that is %s', async (_name, body) => {
    const server = await started((_request, response) => response.writeHead(200).end(body))
    const { code } = await failureOf(open(server.url).tip())
    expect(['LAYER1_INVALID_ANSWER', 'LAYER1_PROVIDER_ERROR']).toContain(code)
  })

  it('reports a server that does not listen', async () => {
    const server = await serve(() => {})
    await server.close()
    expect((await failureOf(open(server.url).tip())).code).toBe('LAYER1_UNREACHABLE')
  })

  it('reports a connection that breaks', async () => {
    const server = await started((request) => request.socket.destroy())
    expect((await failureOf(open(server.url).tip())).code).toBe('LAYER1_UNREACHABLE')
  })

  it('does not follow redirects, which could send the credential elsewhere', async () => {
    const elsewhere = await started(jsonBy({}))
    const server = await started((_request, response) =>
      response.writeHead(307, { location: `${elsewhere.url}/api/v0/genesis` }).end(),
    )
    expect((await failureOf(open(server.url).tip())).code).toBe('LAYER1_INVALID_ANSWER')
    expect(elsewhere.requests).toEqual([])
  })

  it('reports a refused credential without a retry', async () => {
    const server = await started((_request, response) => response.writeHead(401).end('{}'))
    expect((await failureOf(open(server.url).parameters())).code).toBe('LAYER1_UNAUTHORIZED')
    expect(server.requests).toHaveLength(1)
  })

  it('refuses a server of another network before any other request, without a retry', async () => {
    const server = await started((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const magic = { network_magic: 2, networkMagic: 2 }
      response.end(JSON.stringify(request.method === 'GET' ? magic : { jsonrpc: '2.0', result: magic }))
    })
    const layer1 = open(server.url)
    expect((await failureOf(layer1.utxosAt(keys.addressText))).code).toBe('LAYER1_WRONG_NETWORK')
    expect(server.requests).toHaveLength(1)
    expect((await failureOf(layer1.tip())).code).toBe('LAYER1_WRONG_NETWORK')
  })

  it.each([
    ['no URL', 'blockfrost'],
    ['another protocol', 'ftp://example.org'],
    ['a password', `https://user:${secret}@example.org`],
  ])('refuses a URL with %s without quoting it', (_name, url) => {
    expect(() => open(url)).toThrow(TypeError)
    expect(() => open(url)).not.toThrow(new RegExp(`${secret}|example`))
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
    [402, 'LAYER1_RATE_LIMITED'],
    [418, 'LAYER1_RATE_LIMITED'],
    [425, 'LAYER1_PROVIDER_ERROR'],
    [403, 'LAYER1_UNAUTHORIZED'],
  ])('reports status %i as "%s"', async (status, code) => {
    const server = await started((_request, response) => response.writeHead(status).end('{"message":"no"}'))
    expect((await failureOf(blockfrost(server.url).tip())).code).toBe(code)
  })

  it('reports a project id of another network', async () => {
    const body = JSON.stringify({ status_code: 403, error: 'Forbidden', message: 'Network token mismatch.' })
    const server = await started((_request, response) => response.writeHead(403).end(body))
    expect((await failureOf(blockfrost(server.url).tip())).code).toBe('LAYER1_WRONG_NETWORK')
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
   * Serves 203 outputs, and no transactions of an address, as some servers do. From the given page on, each
   * request has a block that spends the first output.
   */
  async function servePages(spentFrom: number, blocks: number): Promise<LocalServer> {
    let asked = 0
    let height = 1
    return started((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
      const isKnown = !pathname.endsWith('/transactions')
      response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' })
      if (!isKnown) return response.end('{"status_code":404,"message":"Not found"}')
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
    expect(server.requests.every(({ headers }) => headers.project_id === secret)).toBe(true)
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
    const { code } = await failureOf(blockfrost(server.url).utxosAt(keys.addressText))
    expect(code).toBe('LAYER1_INVALID_ANSWER')
  })
})
