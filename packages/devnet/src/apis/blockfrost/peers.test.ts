import { getSchemaForEndpoint } from '@blockfrost/openapi'
import document from '@blockfrost/openapi/json-schema.json' with { type: 'json' }
import { knownDeviations, peerCases } from '@ratatosk/test-kit'
import { faultsOf } from '@ratatosk/test-kit/documented-answers'
import fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPeersScene } from '../../test/scenes.js'

interface Case {
  readonly method: 'GET'
  readonly pathTemplate: string
  readonly path: string
  readonly situation: string
  readonly expectedStatus: number
  readonly expectedShape: string
  readonly expectedMessage?: string
}

const cases = peerCases<Case>('blockfrost-semantics.json')
const deviations = knownDeviations('blockfrost')

describe.skipIf(cases === undefined)('the answers of Blockfrost (needs peers/ in RATATOSK_VECTORS)', () => {
  let scene: Awaited<ReturnType<typeof openPeersScene>>
  beforeAll(async () => {
    scene = await openPeersScene()
  })
  afterAll(() => scene.close())

  async function agrees(each: Case): Promise<unknown> {
    const url = `/blockfrost/api/v0${scene.pathOf(each.path)}`
    const { statusCode, body } = await scene.server.inject({ method: each.method, url })
    const json = JSON.parse(body)
    expect({ status: statusCode, body: json }).toMatchObject({ status: each.expectedStatus })
    if (each.expectedMessage !== undefined) expect(json.message).toBe(each.expectedMessage)
    if (statusCode === 200) expect(faultsOf(each.pathTemplate, json)).toBeUndefined()
    if (each.expectedShape === '[]') expect(json).toEqual([])
    if (each.expectedShape === 'array, not empty') expect(json).not.toHaveLength(0)
    if (each.expectedShape === 'as lower-case') {
      const lower = await scene.server.inject({ method: each.method, url: url.toLowerCase() })
      expect(body).toBe(lower.body)
    }
    return json
  }

  it.each(cases ?? [])('$method $path: $situation', async (each) => {
    const reason = deviations[`${each.method} ${each.path}`]
    if (reason === undefined) await agrees(each)
    // A deviation that has gone must leave the list.
    else await expect(agrees(each), reason).rejects.toThrow()
  })
})

describe('document queries', () => {
  /** Paths of the document that this API does not have. */
  const unserved = [
    ...['/ipfs/pin/add/{IPFS_path}', '/ipfs/pin/list', '/nutlink/{address}/tickers'],
    ...['/nutlink/{address}/tickers/{ticker}', '/nutlink/tickers/{ticker}'],
  ]

  /** A value of the scene for each part of a path. */
  const parts: Readonly<Record<string, string>> = {
    address: '<address with outputs>',
    asset: '<asset held>',
    cc_id: 'cc_hot1qf5tkz6zwcpplq3kgpt2486d8za943vmymqkdjl249qgw3s2y5r9y',
    cert_index: '0',
    drep_id: 'drep1wcl0w4np7rxceraptxne67dlaru6w6rchk407uq9nrhquq6gltn',
    gov_action_id: 'gov_action14lefp8upwhhq92xph7t075txshf9huxxh9d2ey05ml2n5hqgvlxqqp92kfl',
    hash_or_number: '3',
    label: '674',
    number: '139',
    policy_id: '<policy>',
    pool_id: 'pool1pu5jlj4q9w9jlxeu370a3c9myx47md5j5m2str0naunn2q3lkdy',
    script_hash: '<policy>',
    stake_address: '<stake with outputs>',
    tx_hash: '<tx>',
  }

  const integers = ['x', '0', '1', '100', '101', '21474836', '21474837', '99999999999999', '-1', '1.5', '1e1']
  const booleans = ['', 'true', 'TRUE', '1', 'null']
  /** The values of each parameter, also of those that a path does not have. */
  const values: Readonly<Record<string, readonly string[]>> = {
    page: [...integers, ...booleans, '%201', 'NaN', '[]', '1&page=2'],
    count: [...integers, ...booleans, '1&count=2'],
    order: ['a', 'asc', 'desc', 'DESC', '', 'null', 'asc&order=desc', 'asc&order=asc', 'a&count=x&page=0'],
    from: ['1&from=2'],
    to: ['1&to=2'],
    order_by: ['x', 'amount', '', 'amount&order_by=amount'],
    retired: ['x', ...booleans],
    expired: ['x', ...booleans],
  }

  const templates = Object.keys(document).filter((path) => {
    const isPost = path.startsWith('/utils/')
    return !isPost && !unserved.includes(path) && 'querystring' in getSchemaForEndpoint(path)
  })

  let scene: Awaited<ReturnType<typeof openPeersScene>>
  let reference: FastifyInstance
  beforeAll(async () => {
    scene = await openPeersScene()
    // As the real service validates queries: by the schemas of the document.
    reference = fastify()
    for (const path of templates) {
      const { querystring } = getSchemaForEndpoint(path)
      reference.get(path.replace(/\{(\w+)\}/g, ':$1'), { schema: { querystring } }, async () => [])
    }
  })
  afterAll(async () => {
    await reference.close()
    await scene.close()
  })

  it.each(templates)('%s refuses the queries that the document does not allow', async (template) => {
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? name)
    const wrong: string[] = []
    for (const [name, texts] of Object.entries(values)) {
      for (const text of texts) {
        const query = `?${name}=${text}`
        const expected = await reference.inject(template.replace(/[{}]/g, '') + query)
        const { statusCode, body } = await scene.server.inject(
          `/blockfrost/api/v0${scene.pathOf(path)}${query}`,
        )
        const { message } = JSON.parse(body)
        const isRefused = statusCode === 400 && !/is not a parameter/.test(message)
        const wanted = expected.statusCode === 400 ? expected.json().message : undefined
        if (isRefused ? message !== wanted : wanted !== undefined)
          wrong.push(`${query}: ${body}, not ${wanted}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it.each(unserved)('%s is not served', async (template) => {
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? name)
    const { body } = await scene.server.inject(`/blockfrost/api/v0${scene.pathOf(path)}`)
    expect(JSON.parse(body).message).toBe('Invalid path. Please check https://docs.blockfrost.io/')
  })
})

describe('mutated queries', () => {
  let scene: Awaited<ReturnType<typeof openPeersScene>>
  beforeAll(async () => {
    scene = await openPeersScene()
  })
  afterAll(() => scene.close())

  async function ask(path: string) {
    const { statusCode, body } = await scene.server.inject(`/blockfrost/api/v0${path}`)
    return { status: statusCode, body }
  }

  /** A name or value with one change. */
  function* changed(text: string): Generator<string> {
    yield text.toUpperCase()
    yield text.toLowerCase()
    yield text.charAt(0).toUpperCase() + text.slice(1)
    yield text.slice(1)
    yield text.slice(0, -1)
    yield `${text}s`
    yield `${text} `
    yield text.split('').reverse().join('')
  }

  function* changedValue(text: string): Generator<string> {
    yield* changed(text)
    for (const other of ['', 'null', 'true', '[]', '{}', '-1', '1.5', '1e999', 'NaN']) yield other
  }

  /** The query with one name or value changed, or one parameter repeated. */
  function* mutations(query: string): Generator<string> {
    const pairs = query.split('&').map((pair) => pair.split('='))
    for (const [at, [name = '', value = '']] of pairs.entries()) {
      const put = (...others: string[]) =>
        [...pairs.map((pair) => pair.join('=')).toSpliced(at, 1, ...others)].join('&')
      for (const other of changed(name)) yield put(`${encodeURIComponent(other)}=${value}`)
      for (const other of changedValue(value)) yield put(`${name}=${encodeURIComponent(other)}`)
      yield put(`${name}=${value}`, `${name}=1`)
      yield put(`${name}[]=${value}`)
    }
  }

  it.each([
    '/addresses/<address with outputs>/utxos?count=1&page=2&order=desc',
    '/addresses/<address with outputs>/utxos/lovelace?count=1',
    '/addresses/<addr_vkh with outputs>/transactions?from=4&to=4&order=desc',
    '/addresses/<address used and empty>/txs?count=1&page=2',
    '/assets?count=1&page=2',
    '/assets/<asset burned>/history?order=desc&count=1',
    '/assets/<asset held>/transactions?from=3:0&to=3',
    '/assets/policy/<policy>?order=desc',
    '/accounts/<stake with outputs>/utxos?count=1&page=2',
    '/accounts/<stake with outputs>/transactions?from=3&count=1',
    '/accounts/<stake with outputs>/addresses/assets?count=1',
    '/blocks/3/txs?count=1&order=desc',
    '/blocks/2/next?count=1',
    '/epochs/139/blocks?order=desc&count=1',
    '/metadata/txs/labels/674?count=1&order=desc',
  ])('a change of %s never answers 200 with other data', async (template) => {
    const [path = '', query = ''] = scene.pathOf(template).split('?')
    const valid = await ask(`${path}?${query}`)
    expect(valid).toMatchObject({ status: 200 })
    expect(valid.body).not.toBe('[]')
    for (const other of mutations(query)) {
      const answer = await ask(`${path}?${other}`)
      if (answer.status === 200) expect(answer, `${path}?${other}`).toEqual(valid)
      else expect(answer.status, `${path}?${other}`).toBe(400)
    }
    const segments = path.split('/')
    for (const [at, segment] of segments.entries()) {
      for (const other of [segment.toUpperCase(), `${segment}x`]) {
        const answer = await ask(`${segments.toSpliced(at, 1, other).join('/')}?${query}`)
        if (answer.status === 200) expect(answer, other).toEqual(valid)
      }
    }
  })
})
