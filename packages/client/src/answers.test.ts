import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { faultOf } from './answers/index.js'
import type { Schema } from './answers/schema.js'
import { answers, named } from './answers/schemas.js'
import { InvalidAnswerError } from './index.js'
import { anyAnswer, json, refused, served } from './test/served.js'

const key = 'ab'.repeat(28)
const operator = {
  operatorKey: key,
  bond: '5',
  activeFrom: '2026-01-01T00:00:00Z',
  address: 'addr_test1',
}

test.each([
  ['GET /operators', null, 'the answer is not an object'],
  ['GET /operators', [], 'the answer is not an object'],
  ['GET /operators', undefined, 'the answer is not an object'],
  ['GET /operators', { turnEndsAt: 1 }, 'the answer.turnEndsAt is not a string'],
  ['GET /operators', { turnEndsAt: '', turnLength: 1.5 }, 'the answer.turnLength is not a whole number'],
  ['GET /health/ready', { status: 'perhaps' }, 'the answer.status is not one of ready'],
  [
    'GET /commitment-wallet/balance',
    { lovelaceBalance: '\u001b' },
    /^the answer\.lovelaceBalance does not match/,
  ],
  ['GET /commitment-wallet/balance', JSON.parse('{"__proto__":{"lovelaceBalance":"1"}}'), /has no lovelace/],
  ['GET /stateQueue', { headers: [key, 'x'] }, /^the answer\.headers\[1\] does not match/],
  ['GET /stateQueue', { headers: [key], more: null }, undefined],
  ['GET /commit', { message: 'Nothing to commit', transactions: 0 }, undefined],
  ['GET /commit', { message: 'x', headerHash: key, txHash: key, transactions: 1 }, undefined],
  ['GET /commit', { message: 'x' }, /^the answer\.message is not one of|has no/],
  ['GET /toString', null, undefined],
])('%s: %j', (operation, answer, fault) => {
  const found = faultOf(operation, answer)
  if (fault instanceof RegExp) expect(found).toMatch(fault)
  else expect(found).toBe(fault)
})

test('every operation with a JSON answer has a schema', async () => {
  const file = new URL('../../../docs/openapi.json', import.meta.url)
  const { paths }: { paths: Record<string, Record<string, { responses: Record<string, unknown> }>> } =
    JSON.parse(await readFile(file, 'utf8'))
  const unchecked = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => JSON.stringify(responses[200] ?? '').includes('application/json'))
      .map(([method]) => `${method.toUpperCase()} ${path}`)
      .filter((operation) => faultOf(operation, null) === undefined),
  )
  expect(unchecked).toEqual([])
})

test('equal schemas are one', () => {
  const known = new Map<string, Schema>()
  const repeated: string[] = []
  const visit = (schema: Schema) => {
    const key = JSON.stringify(schema)
    if (schema.$ref !== undefined || key === '{}') return
    const first = known.get(key)
    if (first !== undefined && first !== schema) repeated.push(key)
    known.set(key, schema)
    const { anyOf = [], items, properties = {} } = schema
    for (const each of [...anyOf, ...(items ? [items] : []), ...Object.values(properties)]) visit(each)
  }
  for (const schema of [...Object.values(answers), ...Object.values(named)]) visit(schema)
  expect(repeated).toEqual([])
})

test('a checked answer of another shape is an error that shows nothing of it', async () => {
  const operators = [{ ...operator, bond: '\u001bevil' }]
  const answer = { turnEndsAt: '', turnLength: 1, operators, maxOperators: 1, permissioned: true }
  const { client } = await served((_, response) => json(response, 200, answer), { checkAnswer: faultOf })
  const error = await refused(client.listOperators())
  expect(error).toBeInstanceOf(InvalidAnswerError)
  expect(error.message).toBe(
    'GET /operators: the answer.operators[0].bond does not match ^[0-9]+$. ' +
      'Check that the URL is that of a node',
  )
})

test.each(['[', '{"a":'])('an answer of many levels of %s is not parsed', async (level) => {
  for (const status of [200, 500]) {
    const { client } = await served(
      (_, response) => response.writeHead(status).end(level.repeat(1_000_000)),
      {
        retries: 0,
      },
    )
    const error = await refused(client.getNetwork())
    expect(error.message).toMatch(status === 200 ? 'the answer is not JSON' : /^GET \/network: 500$/)
  }
})

test('brackets in texts are no levels, and failures before a repetition are told', async () => {
  const network = { ...anyAnswer, network: `\\"${'['.repeat(1000)}"` }
  let requests = 0
  const told: string[] = []
  const { client } = await served(
    (_, response) => (requests++ === 0 ? response.destroy() : json(response, 200, network)),
    { onRetry: ({ message }) => told.push(message) },
  )
  expect(await client.getNetwork()).toEqual(network)
  expect(told).toEqual([expect.stringMatching(/^GET \/network: no answer/)])
})

test('what is no stream of events is closed, although it does not end', async () => {
  let closed: Promise<void> | undefined
  const { client } = await served((_, response) => {
    closed = new Promise((resolve) => response.once('close', resolve))
    response.writeHead(200, { 'content-type': 'application/json' }).write(' ')
  })
  const error = await refused(client.readEvents().next())
  expect(error.message).toContain('the answer is not a stream of events')
  await closed
})
