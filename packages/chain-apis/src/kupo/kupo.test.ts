import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b224, decodeTransaction, decodeTransactionOutput } from '@ratatosk/ledger'
import { knownDeviations, peerCases } from '@ratatosk/test-kit'
import { payment } from '@ratatosk/test-kit/ledger-apis'
import { bech32 } from 'bech32'
import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from 'vitest'
import { apis } from '../apis.js'
import { routerOptions } from '../options.js'
import { addressBytes, blockHash, chainWith, oneOutputChain, slot } from '../test/served-chain.js'
import type { ChainOutput, ChainView } from '../view/chain-view.js'
import { matchesJson } from './matches-json.js'
import { readPattern } from './selection.js'

describe('match json', () => {
  const address = new Uint8Array(29).fill(0x60, 0, 1)
  const transactionHash = '11'.repeat(32)
  const created = { block: { height: 0, slot: 0n, hash: '00'.repeat(32) }, position: 0 }
  const spenders = ['aa', 'bb'].map((byte) => byte.repeat(32))

  const plain = { resolveHashes: false, quantityText: false }
  const found = spenders.map((spender, index): ChainOutput => {
    const output = decodeTransactionOutput(new CborWriter().array(2).bytes(address).uint(1n).toBytes())
    const spent = { ...created, transactionHash: spender, by: 'inputs' } as const
    return {
      key: `${transactionHash}#${index}`,
      transactionHash,
      index,
      output,
      created,
      collateralReturn: false,
      spent,
    }
  })

  /** A chain that knows so many of the spenders. */
  const chainOf = (known: number) =>
    chainWith({
      transactions: () =>
        new Map(spenders.slice(0, known).map((hash) => [hash, decodeTransaction(payment().cbor)])),
    })

  test('outputs whose spender was undone meanwhile are no answer', async () => {
    expect([...(await matchesJson(chainOf(2), found, plain))]).toHaveLength(2)
    await expect(matchesJson(chainOf(1), found, plain)).rejects.toMatchObject({
      name: 'ChainUnavailableError',
      statusCode: 503,
    })
  })
})

describe('pattern', () => {
  const key = '11'.repeat(32)
  const keyHash = toHex(blake2b224(fromHex(key)))
  const encode = (prefix: string, hex: string) => bech32.encode(prefix, bech32.toWords(fromHex(hex)), 128)

  describe('readPattern', () => {
    it.each([
      ['a hash in hex', keyHash],
      ['a key in hex', key],
      ...['vkh', 'addr_vkh', 'stake_vkh', 'script'].map((prefix) => [prefix, encode(prefix, keyHash)]),
      ...['vk', 'addr_vk', 'stake_vk'].map((prefix) => [prefix, encode(prefix, key)]),
    ])('reads a credential that is given as %s', (_name, credential) => {
      expect(readPattern(`${credential}/*`)?.query).toEqual({ paymentCredential: keyHash })
      expect(readPattern(`*/${credential}`)?.query).toEqual({ stakeCredential: keyHash })
    })

    it('leaves out Byron addresses for */*: they have no credentials', () => {
      const byron = '82d818582183581c9f55ecc68118931f27652f39f44c1d583cc9b002405b84465221800ba0001a71a18634'
      const of = (address: string) => {
        const bytes = new CborWriter().array(2).bytes(fromHex(address)).uint(1n).toBytes()
        return { output: decodeTransactionOutput(bytes) } as ChainOutput
      }
      const [legacy, plain] = [of(byron), of(`60${keyHash}`)]
      expect(['*', '*/*', byron.toUpperCase()].map((text) => readPattern(text)?.matches(legacy))).toEqual([
        true,
        false,
        true,
      ])
      expect(readPattern('*/*')?.matches(plain)).toBe(true)
    })

    it.each([
      ['a key under the prefix of a hash', `${encode('addr_vkh', key)}/*`],
      ['a hash under the prefix of a key', `${encode('addr_vk', keyHash)}/*`],
      ['another prefix', `${encode('pool', keyHash)}/*`],
      ['a wrong checksum', `${encode('addr_vkh', keyHash).slice(0, -1)}!/*`],
      [
        'bits that are left over',
        `${bech32.encode('addr_vkh', [...bech32.toWords(fromHex(keyHash)), 31], 128)}/*`,
      ],
      ['three parts', '*/*/*'],
      ['one part', keyHash],
    ])('rejects %s', (_name, text) => {
      expect(readPattern(text)).toBeUndefined()
    })
  })
})

async function serve(methods: Partial<ChainView>) {
  const server = fastify()
  await server.register(apis, { chain: chainWith(methods) })
  onTestFinished(() => server.close())
  return (path: string) => server.inject(path)
}

const behind = {
  tip: () => ({ height: 9, slot: 10_000n, hash: '11'.repeat(32) }),
  currentSlot: () => 10_002n,
}

test('says how far the index is behind the tip', async () => {
  let indexed = 5_000n
  const get = await serve({ ...behind, indexedSlot: () => indexed })
  const health = await get('/kupo/health')
  expect(health.statusCode, 'it synchronizes').toBe(202)
  expect(health.headers['x-most-recent-checkpoint']).toBe('5000')
  expect(health.json()).toMatchObject({
    connection_status: 'connected',
    most_recent_checkpoint: 5_000,
    most_recent_node_tip: 10_000,
    seconds_since_last_block: 5_002,
    network_synchronization: 0.5,
  })
  expect((await get('/kupo/metrics')).statusCode).toBe(200)
  expect((await get('/ogmios/health')).json()).toMatchObject({ networkSynchronization: 0.5 })
  indexed = 9_900n
  const nearly = await get('/kupo/health')
  expect([nearly.statusCode, nearly.json().network_synchronization]).toEqual([200, 1])
})

test('says that a chain cannot be read', async () => {
  const get = await serve({ ...behind, indexedSlot: () => Promise.reject(new Error('no database')) })
  const health = await get('/kupo/health')
  expect(health.statusCode).toBe(503)
  expect(health.json()).toMatchObject({ connection_status: 'disconnected', most_recent_checkpoint: null })
  const metrics = await get('/kupo/metrics')
  expect([metrics.statusCode, metrics.json().connection_status]).toEqual([200, 'disconnected'])
})

test('refuses metadata of a block that is undone meanwhile, or open and too long', async () => {
  const block = { ...behind.tip(), previous: '00'.repeat(32), time: 0n, size: 0, transactionCount: 1 }
  const blocks = { ...behind, blockTransactions: () => [] }
  const undone = await serve({ ...blocks, blockAfter: () => block })
  expect((await undone('/kupo/metadata/1')).statusCode).toBe(503)
  const open = await serve({
    ...blocks,
    blockAfter: () => ({ ...block, open: true, transactionCount: 10_001 }),
  })
  expect((await open('/kupo/metadata/1')).statusCode).toBe(400)
})

describe('peers', () => {
  const deviations = knownDeviations('kupo')
  const patterns = peerCases<{ pattern: string; valid: boolean }>('kupo-patterns.json')
  const queries = peerCases<{ path: string; query: string; expectedStatus: number }>('kupo-queries.json')

  const server = fastify()
  beforeAll(() => server.register(apis, { chain: oneOutputChain }))
  afterAll(() => server.close())
  const statusOf = async (url: string) => (await server.inject(url)).statusCode

  /** Compares statuses with those of Kupo, but for known deviations, which must be deviations. */
  async function expectPeers(cases: readonly (readonly [name: string, url: string, status: number])[]) {
    const wrong: string[] = []
    for (const [name, url, status] of cases) if ((await statusOf(url)) !== status) wrong.push(name)
    const names = new Set(cases.map(([name]) => name))
    expect(wrong).toEqual(Object.keys(deviations).filter((name) => names.has(name)))
    expect(cases.length).toBeGreaterThan(0)
  }

  test('leaves out an output whose slot has left the range while it was read', async () => {
    const shown = async (query: string) => (await server.inject(`/kupo/matches?${query}`)).json().length
    expect([await shown(`created_before=${slot}`), await shown(`created_before=${slot - 1n}`)]).toEqual([
      1, 0,
    ])
    expect(await shown('spent_after=1')).toBe(0)
  })

  describe.skipIf(patterns === undefined)('cases of Kupo', () => {
    test('patterns are valid as for Kupo', () =>
      expectPeers(
        (patterns ?? []).map(({ pattern, valid }) => {
          const path = pattern.split('/').map(encodeURIComponent).join('/')
          return [`pattern ${pattern}`, `/kupo/matches/${path}`, valid ? 200 : 400]
        }),
      ))

    test('queries are valid as for Kupo', () =>
      expectPeers(
        (queries ?? []).map(({ path, query, expectedStatus }) => {
          const url = `${path}?${query}`
          const real = url.replace('<slot>', String(slot)).replace(/<[^>]*address[^>]*>/, addressBytes)
          return [url, `/kupo${real}`, expectedStatus]
        }),
      ))
  })
})

describe('requests', () => {
  const server = fastify({ routerOptions })
  beforeAll(() => server.register(apis, { chain: oneOutputChain }))
  afterAll(() => server.close())

  type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  const ask = (path: string, accept?: string, method: Method = 'GET') =>
    server.inject({ method, url: `/kupo${path}`, headers: accept === undefined ? {} : { accept } })

  const [hash, key, id] = ['ad'.repeat(28), '37'.repeat(32), 'ed'.repeat(32)]
  const text = (prefix: string, hex: string) => bech32.encode(prefix, bech32.toWords(fromHex(hex)), 128)

  /** Patterns by the status of their matches. */
  const patterns = {
    200: [
      ...['*', '*/*', 'Ae2tdPwUPEZChsngv7kdy8pPWJrKSaZwYGMbAtVsSCVppWKfuHwxw3R7fd5'],
      '82d818582183581c9f55ecc68118931f27652f39f44c1d583cc9b002405b84465221800ba0001a71a18634',
      ...['60', '71', 'e0', 'e1', 'f0'].map((header) => header + hash),
      ...['01', '21', '31'].map((header) => header + hash + hash),
      ...[text('addr_test', `00${hash}${hash}`), text('addr', `61${hash}`), text('addr', `01${hash}${hash}`)],
      ...[text('stake_test', `e0${hash}`), text('stake_test', `f0${hash}`), text('stake', `e1${hash}`)],
      ...[hash, hash.toUpperCase(), key, key.toUpperCase(), text('addr_vk', key)].map((it) => `${it}/*`),
      ...[hash, key, text('stake_vkh', hash), text('script', hash), text('vk', key)].map((it) => `*/${it}`),
      ...[`${hash}/${hash}`, `${text('addr_vkh', hash)}/${text('script', hash)}`],
      ...[`${text('stake_vk', key)}/${text('vkh', hash)}`, `${text('vkh', hash).toUpperCase()}/*`],
      ...[`14@${id}`, `*@${id}`, `*@${id.toUpperCase()}`, `0@${id.toUpperCase()}`, `70000@${id}`],
      ...[`${hash}.*`, `${hash}.ABCD`, `${hash}.${'ab'.repeat(32)}`],
    ],
    400: [
      ...['', '*/*/*', '//*', '/*', '***', '**/*', '*?', '* ', '%', 'foo/*', '*/foo', 'x/y', '{1}', '{674}'],
      ...['*@', `@${id}`, `*@${id.slice(2)}`, `*@${id}00`, `1.5@${id}`, `0x1@${id}`, ` 1@${id}`, `+1@${id}`],
      ...['.*', '*.*', `${hash}.${'ab'.repeat(33)}`, `${hash}.abc`, `${hash}00.*`],
      ...[text('pool', hash), text('stake', hash), text('addr_vk', hash), text('script', key)].map(
        (it) => `${it}/*`,
      ),
      ...[`${hash.slice(2)}/*`, `${hash}00/*`, key, id, `60${hash.slice(2)}`, `81${hash}`, `6${hash}`],
      ...[text('addr_vk', key), text('stake_vkh', hash), text('foo', `61${hash}`)],
    ],
  }

  const [policy, transaction] = [`policy_id=${hash}`, `transaction_id=${id}`]
  /** Queries of an address by the status of its matches. */
  const queries = {
    200: [
      ...['', 'foo', 'foo=', 'foo=bar&spent', 'spent', 'unspent', 'a=1&b=2'],
      ...['resolve_hashes', 'resolve_hashes&resolve_hashes', 'resolve_hashes&spent'],
      ...[policy, `policy_id=${hash.toUpperCase()}`, `${policy}&asset_name=`, `${policy}&asset_name=4e46`],
      ...[`asset_name=4e46&${policy}`, transaction, `foo=bar&${transaction}`],
      ...[
        `transaction_id=${id.toUpperCase()}`,
        `${transaction}&output_index=00001`,
        `output_index=0&${transaction}`,
      ],
      ...['created_after=14', 'created_after=0', 'created_after=00014', 'created_before=%31%34'],
      ...['created_before=14&created_after=42', 'created_after=42&created_before=14', 'spent_after=14'],
      ...['spent_after=14&spent_before=42', 'spent_before=42&spent_after=14', 'spent_before=42&foo=bar'],
      ...[
        'spent_after=14&created_before=42',
        'created_after=9223372036854775805',
        `created_after=14.${blockHash}`,
      ],
      ...['oldest_first', 'order=oldest_first&unspent', 'spent&order=most_recent_first'],
    ],
    400: [
      ...['spent=false', 'unspent=', 'unspent=true', 'unspent=false'],
      ...['spent&spent', 'unspent&unspent', 'unspent&spent'],
      ...['resolve_hashes=true', 'resolve_hashes=', 'resolve_hashes=false'],
      ...['asset_name=4e46', `${policy}&asset_name=4e46&asset_name=4e47`, `${policy}&${policy}`],
      ...[`${transaction}&${transaction}`, `${policy}&${transaction}`, `${transaction}&${policy}`],
      ...['abc', '-1', '1.5', ''].map((index) => `${transaction}&output_index=${index}`),
      ...[`${policy}&output_index=1`, `${transaction}&asset_name=4e46`],
      ...['XYZ', 'abc', 'ab'.repeat(33)].map((name) => `${policy}&asset_name=${name}`),
      ...['', `${hash}00`, hash.slice(2)].map((wrong) => `policy_id=${wrong}`),
      ...['', 'zz', `${id}00`].map((wrong) => `transaction_id=${wrong}`),
      ...['foo', '', 'OLDEST_FIRST', 'asc', 'oldest_first&order=oldest_first'].map((it) => `order=${it}`),
      ...['order', 'created_after', 'created_before=-57', 'created_before=14&created_before=42'],
      ...['foo', '', '1.5', '0x10', '1e3', '9223372036854775807'].map((wrong) => `created_after=${wrong}`),
      ...['14.00', `14.${'00'.repeat(32)}`, 'origin'].map((unknown) => `created_after=${unknown}`),
      ...['created_after=14&spent_after=42', 'created_before=14&spent_before=42', 'spent_after=foo'],
      ...[
        'spent_after=14&spent_after=42',
        'spent_before=1&spent_before=2',
        `spent_before=14.${'00'.repeat(32)}`,
      ],
    ],
  }

  const paths = {
    200: [
      ...['/matches', '/patterns', '/patterns/*', '/patterns/*/*', '/patterns/{1}', '/patterns?foo'],
      ...[`/datums/${key}`, `/datums/${key.toUpperCase()}`, `/datums/${key}?x=y`],
      ...[
        `/scripts/${hash}`,
        `/scripts/${hash.toUpperCase()}`,
        '/metadata/0',
        '/checkpoints',
        '/checkpoints?foo',
      ],
      ...['/checkpoints/42', '/checkpoints/42?strict', '/checkpoints/0'],
      ...['/health', '/health?foo', '/metrics', '/v1/health', '/v1/matches/*'],
    ],
    400: [
      ...[
        '/matches/',
        '/patterns/',
        '/patterns/foo',
        '/patterns/*/*/*',
        '/datums/',
        '/scripts/',
        '/metadata/',
      ],
      ...['', 'foo', '-1', '1.5', '42?foo', '42?strict=', '42?strict=true', '42?strict&strict'].map(
        (slot) => `/checkpoints/${slot}`,
      ),
      ...[
        '/datums/foo',
        `/datums/${hash}`,
        '/scripts/foo',
        `/scripts/${key}`,
        '/metadata/foo',
        '/metadata/-1',
      ],
      ...['transaction_id=foo', policy, `${transaction}&output_index=1`].map(
        (query) => `/metadata/42?${query}`,
      ),
    ],
    404: [
      ...[
        '/',
        '/foo',
        '/datums',
        '/scripts',
        '/metadata',
        '/health/',
        '/health/foo',
        '/metrics/x',
        '/Matches',
      ],
      ...['/checkpoints/1/2', '/datums/a/b', '/scripts/a/b', '/metadata/1/2', '/v1', '/v2/health'],
    ],
  }

  const encoded = (pattern: string) => pattern.split('/').map(encodeURIComponent).join('/')
  const rows = <Status extends string>(table: Record<Status, string[]>, pathOf: (text: string) => string) =>
    Object.entries<string[]>(table).map(([status, texts]) => ({ status, paths: texts.map(pathOf) }))

  describe('Kupo', () => {
    it.each([
      ...rows(patterns, (pattern) => `/matches/${encoded(pattern)}`),
      ...rows(queries, (query) => `/matches/${addressBytes}?${query}`),
      ...rows(paths, (path) => path),
    ])('answers $status to $paths.0 and others', async ({ status, paths }) => {
      const wrong: string[] = []
      for (const path of paths) {
        const { statusCode } = await ask(path)
        if (String(statusCode) !== status) wrong.push(`${path}: ${statusCode}`)
      }
      expect(wrong).toEqual([])
    })

    it.each([
      ['POST', '/health', 406],
      ['POST', '/v1/health', 406],
      ['POST', '/metrics/x', 406],
      ['DELETE', '/datums/x', 406],
      ['PATCH', '/patterns', 406],
      ['PUT', '/foo', 404],
      ['POST', '/v2/health', 404],
      ['OPTIONS', '/health', 200],
    ] as const)('answers to %s %s with %i', async (method, path, status) => {
      expect((await ask(path, undefined, method)).statusCode).toBe(status)
    })

    const json = 'application/json'
    const quantity = 'asset-quantity=string'
    it.each([
      [`${json};${quantity}`, true],
      [`${json}; ${quantity}`, true],
      [`${json};charset=UTF-8;${quantity}`, true],
      [`${json};${quantity};charset=utf-8`, true],
      [`${json};q=0.5,${json};${quantity}`, true],
      [`${json};${quantity},*/*;q=0.1`, true],
      [`*/*,${json};q=0.1,${json};${quantity};q=0.5`, true],
      [`${json};charset=utf-8`, false],
      [`${json};asset-quantity=number`, false],
      [`${json};${quantity},${json}`, false],
      [`${json},${json};${quantity}`, false],
      [`${json};${quantity};q=0.5,*/*`, false],
      [`${json};${quantity};q=0.5,application/*`, false],
      [`${json};${quantity};q=0`, false],
      ['*/*', false],
      ['text/plain', false],
    ])('writes quantities for Accept: %s as text: %s', async (accept, isText) => {
      const { headers, body } = await ask('/matches', accept)
      expect(headers['content-type']).toBe(`${json};charset=utf-8${isText ? `;${quantity}` : ''}`)
      expect(body).toContain(isText ? '"coins":"1"' : '"coins":1,')
    })

    it.each([
      ['text/plain;version=0.0.4', 200, 'text/plain'],
      [`${json}, text/plain`, 200, 'text/plain'],
      ['text/html, */*', 200, json],
      ['text/html', 400, json],
      ['text/*', 400, json],
    ])('answers to a question for the health with Accept: %s with %i', async (accept, status, type) => {
      for (const path of ['/health', '/metrics']) {
        const { statusCode, headers } = await ask(path, accept)
        expect([statusCode, headers['content-type']]).toEqual([status, `${type};charset=utf-8`])
      }
    })
  })
})
