import { fromHex } from '@ratatosk/cbor'
import { bech32 } from 'bech32'
import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apis } from '../apis.js'
import { routerOptions } from '../router-options.js'
import { addressBytes, blockHash, oneOutputChain } from '../test/one-output.js'

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
    ...['/matches/', '/patterns/', '/patterns/foo', '/patterns/*/*/*', '/datums/', '/scripts/', '/metadata/'],
    ...['', 'foo', '-1', '1.5', '42?foo', '42?strict=', '42?strict=true', '42?strict&strict'].map(
      (slot) => `/checkpoints/${slot}`,
    ),
    ...['/datums/foo', `/datums/${hash}`, '/scripts/foo', `/scripts/${key}`, '/metadata/foo', '/metadata/-1'],
    ...['transaction_id=foo', policy, `${transaction}&output_index=1`].map(
      (query) => `/metadata/42?${query}`,
    ),
  ],
  404: [
    ...['/', '/foo', '/datums', '/scripts', '/metadata', '/health/', '/health/foo', '/metrics/x', '/Matches'],
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
