import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { createClient } from '@ratatosk/client'
import { testWallets } from '@ratatosk/devnet'
import { generator, hex, mutated, pick, type Random } from '@ratatosk/test-kit'
import {
  documentJudge,
  type OpenApiDocument,
  type Operation,
  openApiFile,
} from '@ratatosk/test-kit/documented-answers'
import { ask } from '@ratatosk/test-kit/http'
import t from 'tap'
import { anyPlacement } from '../test/backends.js'
import { askExact, initialised, runNode } from '../test/node.js'
import { transferFrom } from '../test/transfer.js'

/** Requests; `RATATOSK_OPENAPI_FUZZ=100000` is the long run. */
const fuzzed = Number(process.env.RATATOSK_OPENAPI_FUZZ ?? 400)
/** Requests at a time: fewer than evaluations and proofs may wait, so that no limit is reached. */
const concurrency = 16
const tokens = {
  FAUCET_TOKEN: 'faucet',
  OPERATOR_TOKEN: 'operator',
  // With ada, so that the watcher is ready.
  WATCHER_SEED_PHRASE: testWallets.mnemonic,
}

t.test('a node that serves everything', async (t) => {
  const { url } = await runNode(t, { ...(await anyPlacement(t)), ...tokens })
  await initialised(url)
  const answer = await ask(`${url}/openapi.json`)
  const document: OpenApiDocument = JSON.parse(answer.body)

  await t.test('serves the document that is checked in', async (t) => {
    t.equal(answer.status, 200)
    t.match(document, { servers: [{ url }] })
    t.ok(
      answer.body.replace(`"url": "${url}"`, '"url": "/"') === readFileSync(openApiFile, 'utf8'),
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
    const known = await knownValues(url)
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
      })),
    )
    // Their answers end when the client has read enough.
    const finite = operations.filter(({ operation }) => operation.operationId !== 'streamEvents')
    const agent = new Agent({ keepAlive: true, maxSockets: concurrency })
    t.teardown(() => agent.destroy())
    const statuses = new Map<number, number>()
    const succeeded = new Set<string>()
    const wrong: string[] = []
    let left = fuzzed
    const worker = async () => {
      while (left-- > 0) {
        const { path, method, operation } = pick(random, finite)
        const { target, ...question } = requestOf(random, known, path, method, operation)
        const { status, headers, body } = await ask(`${url}${target}`, { ...question, agent })
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (status < 300) succeeded.add(operation.operationId)
        if (status === 200 && operation.operationId === 'submit') known.submissions.push(JSON.parse(body).id)
        const contentType = String(headers['content-type'] ?? '')
        const fault = judge({ method, url: target, status, contentType, body: Buffer.from(body) })
        if (fault !== undefined) wrong.push(fault)
        if (status >= 500) wrong.push(`${method} ${target.slice(0, 100)} ${status}: ${body.slice(0, 100)}`)
      }
    }
    const start = performance.now()
    await Promise.all(Array.from({ length: concurrency }, worker))
    t.same([...new Set(wrong)].slice(0, 20), [], `seed ${seed}`)
    const counts = [...statuses].sort(([one], [other]) => one - other)
    t.comment(`${Math.round(performance.now() - start)} ms, seed ${seed}`)
    t.comment(`statuses: ${counts.map(([status, count]) => `${status} × ${count}`).join(', ')}`)
    const never = finite.map(({ operation }) => operation.operationId).filter((id) => !succeeded.has(id))
    t.comment(`never succeeded: ${never}`)
    for (const status of [200, 400, 401, 404]) t.ok((statuses.get(status) ?? 0) > 0, `${status} was answered`)
  })
})

t.test('SERVE_DOCS=false answers as an unknown path', async (t) => {
  const { url } = await runNode(t, {
    ...(await anyPlacement(t)),
    SERVE_DOCS: 'false',
    SERVE_EVALUATE: 'false',
  })
  const unknown = await askExact(`${url}/nothing`)
  for (const path of ['/openapi.json', '/docs', '/docs/', '/docs/json', '/evaluate', '/metrics']) {
    t.same(await askExact(`${url}${path}`), unknown, path)
  }
})

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

/** Values that the node knows, by the names of parameters. */
interface KnownValues {
  readonly transactions: readonly string[]
  readonly parameters: Readonly<Record<string, readonly string[]>>
  /** Ids of submissions; more are added as they are made. */
  readonly submissions: string[]
}

/** Gives the node a transaction in a committed block, one without a block, and a dead letter. */
async function knownValues(url: string): Promise<KnownValues> {
  const client = createClient(url)
  const [first, second, third] = await Promise.all([0, 1, 2].map((place) => transferFrom(5, place)))
  const { id } = await client.submit(first!.transfer.cborHex)
  const { block } = await client.awaitTx(first!.transfer.hash, { finality: 'committed' })
  const dead = await client.submit('80')
  const accepted = await client.submit(second!.transfer.cborHex)
  await client.awaitTx(second!.transfer.hash)
  const hashes = [first!, second!, third!].map(({ transfer }) => transfer.hash)
  return {
    transactions: [first!, second!, third!].map(({ transfer }) => transfer.cborHex),
    parameters: {
      tx_hash: hashes,
      header_hash: [block?.headerHash ?? ''],
      outref: hashes.map((hash) => `${hash}%230`),
      hash: hashes,
      ref: hashes.map((hash) => `${hash}%230`),
      q: [...hashes, block?.headerHash ?? '', '1', first!.receiver, id],
      address: [first!.receiver, second!.receiver],
      id: [id, accepted.id, dead.id, block?.headerHash ?? '', String(block?.height)],
    },
    submissions: [],
  }
}

/** A value that a parameter may have, three times out of four. */
function sample(random: Random, known: KnownValues, { name, schema }: Parameter): string {
  const { pattern = '', type, enum: values } = schema
  if (random() < 0.25) return pick(random, odd)
  const own = known.parameters[name]
  if (name === 'id' && known.submissions.length > 0 && random() < 0.3)
    return pick(random, known.submissions.slice(-10))
  if (own !== undefined && random() < 0.5) return pick(random, own)
  if (values !== undefined) return pick(random, values)
  const digits = /\{(56|64)\}/.exec(pattern)?.[1]
  if (digits !== undefined) return hex(random, Number(digits) / 2)
  if (name === 'outref') return `${hex(random, 32)}%23${Math.floor(random() * 3)}`
  if (name === 'address') return address
  if (name === 'id') return random() < 0.5 ? hex(random, 28) : String(Math.floor(random() * 5))
  return type === 'integer' || pattern.includes('0-9') ? String(Math.floor(random() * 50)) : hex(random, 4)
}

type Parameter = NonNullable<Operation['parameters']>[number]

/** Of the operator, those that leave the other requests what they need. */
const harmless = [
  'listDeadLetters',
  'showDeadLetter',
  'replayDeadLetter',
  'dropDeadLetter',
  'init',
  'commit',
  'repairRootUnits',
  'merge',
  'logBlocksTxsDB',
  'logGlobals',
]

function requestOf(random: Random, known: KnownValues, path: string, method: string, operation: Operation) {
  const { parameters = [], operationId, security } = operation
  const placed = (place: Parameter['in']) => parameters.filter((parameter) => parameter.in === place)
  let target = path
  for (const parameter of placed('path')) {
    target = target.replace(`{${parameter.name}}`, sample(random, known, parameter) || 'x')
  }
  const query = placed('query').flatMap((parameter) => {
    if (random() < (parameter.required ? 0.1 : 0.5)) return []
    const one = `${parameter.name}=${sample(random, known, parameter)}`
    return random() < 0.05 ? [one, one] : [one]
  })
  if (query.length > 0) target += `?${query.join('&')}`
  const headers: Record<string, string> = {}
  const types = Object.keys(operation.requestBody?.content ?? {})
  const type = random() < 0.9 ? types[0] : 'application/xml'
  if (types.length > 0 && type !== undefined) headers['content-type'] = type
  if (random() < 0.2)
    headers.accept = pick(random, ['application/cbor', 'application/json', 'text/html', '*/*', 'x'])
  const token = operationId === 'claim' ? tokens.FAUCET_TOKEN : tokens.OPERATOR_TOKEN
  const isAllowed = operationId === 'claim' || harmless.includes(operationId)
  if (security !== undefined && random() < 0.7)
    headers.authorization = isAllowed && random() < 0.7 ? `Bearer ${token}` : `Bearer ${hex(random, 4)}`
  const body = types.length === 0 ? undefined : bodyOf(random, known, type)
  return { target, method, headers, ...(body !== undefined && { body }) }
}

function bodyOf(random: Random, known: KnownValues, type = ''): string {
  const choice = random()
  if (choice < 0.1) return ''
  if (choice < 0.2) return pick(random, odd)
  if (type !== 'application/json') {
    const transaction = pick(random, known.transactions)
    return pick(random, [
      transaction,
      mutated(random, transaction),
      '80',
      '84a0a0f5f6',
      'a0',
      hex(random, 20),
      'f'.repeat(40_000),
    ])
  }
  const claim: Record<string, unknown> = {
    address: pick(random, [address, 'x', 5, null]),
    idempotencyKey: hex(random, 4),
    ipHash: 'ip',
  }
  if (random() < 0.3) delete claim[pick(random, Object.keys(claim))]
  return random() < 0.2 ? '{' : JSON.stringify(claim)
}
