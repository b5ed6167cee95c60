import { readFileSync } from 'node:fs'
import { ask } from '@ratatosk/test-kit/http'
import t from 'tap'
import { embedded } from '../test/backends.js'
import {
  documentJudge,
  type OpenApiDocument,
  type Operation,
  openApiFile,
} from '../test/documented-answers.js'
import { askExact, initialised, runNode } from '../test/node.js'

t.setTimeout(600_000)

/** Requests; `RATATOSK_OPENAPI_FUZZ=100000` is the long run. */
const fuzzed = Number(process.env.RATATOSK_OPENAPI_FUZZ ?? 400)
const tokens = { FAUCET_TOKEN: 'faucet', OPERATOR_TOKEN: 'operator' }

t.test('a node that serves everything', async (t) => {
  const { url } = await runNode(t, { ...(await embedded(t)), ...tokens })
  await initialised(url)
  const answer = await ask(`${url}/openapi.json`)
  const document: OpenApiDocument = JSON.parse(answer.body)

  await t.test('serves the document that is checked in', async (t) => {
    t.equal(answer.status, 200)
    t.ok(
      answer.body === readFileSync(openApiFile, 'utf8'),
      'docs/openapi.json is what the node serves: if not, run node scripts/write-openapi.mjs',
    )
    const again = await ask(`${url}/openapi.json`, {
      headers: { 'if-none-match': String(answer.headers.etag) },
    })
    t.equal(again.status, 304)
  })

  await t.test('names its schemas', async (t) => {
    const { schemas } = document.components as { schemas: object }
    t.ok(Object.keys(schemas).length >= 30)
    t.same(
      Object.keys(schemas).filter((name) => /[0-9]$/.test(name)),
      [],
      'no two schemas have the same title',
    )
  })

  await t.test(`answers ${fuzzed} requests that are made from the document as it says`, async (t) => {
    const seed = Number(process.env.RATATOSK_OPENAPI_SEED ?? Date.now() % 1_000_000)
    const judge = documentJudge(document)
    const random = generator(seed)
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
      })),
    )
    // Their answers end when the client has read enough.
    const finite = operations.filter(({ operation }) => operation.operationId !== 'events')
    const statuses = new Map<number, number>()
    const wrong: string[] = []
    const worker = async (requests: number) => {
      for (let n = 0; n < requests; n++) {
        const { path, method, operation } = pick(random, finite)
        const { target, ...question } = requestOf(random, path, method, operation)
        const { status, headers, body } = await ask(`${url}${target}`, question)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        const contentType = String(headers['content-type'] ?? '')
        const fault = judge({ method, url: target, status, contentType, body: Buffer.from(body) })
        if (fault !== undefined) wrong.push(fault)
        if (status >= 500) wrong.push(`${method} ${target.slice(0, 100)} ${status}: ${body.slice(0, 100)}`)
      }
    }
    await Promise.all(Array.from({ length: 8 }, () => worker(Math.ceil(fuzzed / 8))))
    t.same(wrong.slice(0, 10), [], `seed ${seed}`)
    t.comment(`statuses: ${[...statuses].map(([status, count]) => `${status} × ${count}`).join(', ')}`)
    t.ok((statuses.get(200) ?? 0) > 0 && (statuses.get(400) ?? 0) > 0)
  })
})

t.test('DOCS=false answers as an unknown path', async (t) => {
  const { url } = await runNode(t, { ...(await embedded(t)), DOCS: 'false', EVALUATE: 'false' })
  const unknown = await askExact(`${url}/nothing`)
  for (const path of ['/openapi.json', '/docs', '/docs/', '/docs/json', '/evaluate']) {
    t.same(await askExact(`${url}${path}`), unknown, path)
  }
})

type Random = () => number

/** Mulberry32: the same numbers for the same seed. */
function generator(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T
}

const odd = [
  '',
  '0',
  '-1',
  '1e9',
  'null',
  '%00',
  '%F0%9F%A6%AB',
  '%27%22%3B--',
  '..%2F',
  'a'.repeat(300),
  '9'.repeat(40),
]
const address = 'addr_test1vpu5vlrf4xkxv2qpwngf6cjhtw542ayty80v8dyr49rf5eg57c2qv'

function hex(random: Random, bytes: number): string {
  return Array.from({ length: bytes }, () =>
    Math.floor(random() * 256)
      .toString(16)
      .padStart(2, '0'),
  ).join('')
}

/** A value that a parameter may have, three times out of four. */
function sample(random: Random, name: string, pattern = '', type = ''): string {
  if (random() < 0.25) return pick(random, odd)
  const digits = /\{(56|64)\}/.exec(pattern)?.[1]
  if (digits !== undefined) return hex(random, Number(digits) / 2)
  if (name === 'outref') return `${hex(random, 32)}%23${Math.floor(random() * 3)}`
  if (name === 'address') return address
  if (name === 'id') return random() < 0.5 ? hex(random, 28) : String(Math.floor(random() * 5))
  if (name === 'at') return pick(random, ['confirmed', 'committed'])
  return type === 'integer' || pattern.includes('0-9') ? String(Math.floor(random() * 50)) : hex(random, 4)
}

function requestOf(random: Random, path: string, method: string, operation: Operation) {
  const parameters = operation.parameters ?? []
  let target = path.replace(/\{([^}]+)\}/g, (_, name: string) => sample(random, name) || 'x')
  const query = parameters.flatMap(({ in: place, name, schema: { pattern, type } }) => {
    if (place !== 'query' || random() < 0.1) return []
    const one = `${name}=${sample(random, name, pattern, type)}`
    return random() < 0.05 ? [one, one] : [one]
  })
  if (query.length > 0) target += `?${query.join('&')}`
  const headers: Record<string, string> = {}
  const types = Object.keys(operation.requestBody?.content ?? {})
  const type = random() < 0.9 ? types[0] : 'application/xml'
  if (types.length > 0 && type !== undefined) headers['content-type'] = type
  // Without a right token: an operator's operation would change the state that the other requests meet.
  if (operation.security !== undefined && random() < 0.5) headers.authorization = `Bearer ${hex(random, 4)}`
  if (operation.operationId === 'claim' && random() < 0.7)
    headers.authorization = `Bearer ${tokens.FAUCET_TOKEN}`
  const body = types.length === 0 ? undefined : bodyOf(random, type)
  return { target, method, headers, ...(body !== undefined && { body }) }
}

function bodyOf(random: Random, type = ''): string {
  const choice = random()
  if (choice < 0.1) return ''
  if (choice < 0.2) return pick(random, odd)
  if (type !== 'application/json')
    return pick(random, ['80', '84a0a0f5f6', 'a0', '60', hex(random, 20), 'f'.repeat(40_000)])
  const claim: Record<string, unknown> = {
    address: pick(random, [address, 'x', 5, null]),
    idempotencyKey: hex(random, 4),
    ipHash: 'ip',
  }
  if (random() < 0.3) delete claim[pick(random, Object.keys(claim))]
  return random() < 0.2 ? '{' : JSON.stringify(claim)
}
