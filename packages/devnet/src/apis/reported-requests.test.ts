import { peerCases } from '@ratatosk/test-kit'
import { payment } from '@ratatosk/test-kit/ledger-apis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPeersScene } from '../test/scenes.js'

interface Reported {
  readonly id: string
  /** How the real service answers, in words. */
  readonly expected: string
  readonly request: {
    readonly path: string
    readonly contentType: string
    /** Text, an object for JSON, or hex behind `(bytes) `. */
    readonly body: string | object
  }
}

const anything = expect.anything()
const budgets = { result: { EvaluationResult: { 'spend:0': { memory: 2876, steps: 72_254_629 } } } }
const withReference = { result: { EvaluationResult: { 'spend:0': { memory: 500, steps: 64_100 } } } }
const missing = {
  result: {
    EvaluationFailure: {
      ScriptFailures: { 'spend:0': [{ missingRequiredScripts: { missing: ['spend:0'] } }] },
    },
  },
}
const malformed = { error: { code: -32_602 } }
const failed = (index: number, code: number, field: string) => ({
  error: {
    code: 3010,
    data: [{ validator: { purpose: 'spend', index }, error: { code, data: { [field]: anything } } }],
  },
})

/** The answers of the real services to the requests, by their ids. */
const answers: Readonly<Record<string, readonly [status: number, body: object]>> = {
  'B2-baseline': [200, budgets],
  B1: [200, budgets],
  B2: [200, budgets],
  'B3-baseline': [200, withReference],
  'B3-language': [200, withReference],
  'B3-hex': [200, withReference],
  'B3-native': [200, missing],
  'B3-misspelt': [400, { status_code: 400 }],
  'N9-datum-object': [400, { status_code: 400 }],
  'N9-coins-empty': [400, { status_code: 400 }],
  'N9-coins-0x': [400, { status_code: 400 }],
  'N9-index': [400, { status_code: 400 }],
  'B4-lovelace': [200, { result: [{ budget: { memory: 2876, cpu: 72_254_629 } }] }],
  'B4-token': [200, { result: [{ budget: { memory: 2876, cpu: 72_254_629 } }] }],
  'B3-ogmios-hex': [200, { result: [{ budget: { memory: 500, cpu: 64_100 } }] }],
  'B3-ogmios-native': [400, failed(0, 3011, 'missingScripts')],
  'B3-ogmios-misspelt': [400, malformed],
  'N3-ogmios-extra': [400, failed(9, 3110, 'extraneousRedeemers')],
  'N3-ogmios-missing': [400, failed(0, 3011, 'missingScripts')],
  'N3-bf-missing': [200, missing],
  'B5-80': [
    200,
    { type: 'jsonwsp/fault', fault: { code: 'client' }, reflection: { id: expect.any(String) } },
  ],
  'B5-version': [200, { jsonrpc: '2.0', method: 'evaluateTransaction', error: { code: 3010 } }],
  'B5-mary': [200, { result: { EvaluationFailure: { IncompatibleEra: 'Mary' } } }],
  'B29-indef': [200, { type: 'jsonwsp/response', result: anything }],
  N2: [400, malformed],
  'N16-ref': [400, malformed],
  N13: [200, { result: anything }],
  B32: [200, { result: { era: 'conway' } }],
}

const cases = peerCases<Reported>('hits-requests.json')

let scene: Awaited<ReturnType<typeof openPeersScene>>
beforeAll(async () => {
  scene = await openPeersScene()
})
afterAll(() => scene.close())

it('an answer of Kupo is not sent again to a client that has it', async () => {
  const { headers } = await scene.server.inject('/kupo/matches')
  const request = { url: '/kupo/matches', headers: { 'if-none-match': String(headers.etag) } }
  expect((await scene.server.inject(request)).statusCode).toBe(304)
  await scene.devnet.produceBlock()
  expect((await scene.server.inject(request)).statusCode).toBe(200)
})

it('a transaction without redeemers has nothing to evaluate, whatever it spends', async () => {
  const { cbor } = payment(`${'aa'.repeat(32)}#0`)
  const params = { transaction: { cbor: Buffer.from(cbor).toString('hex') } }
  const payload = { jsonrpc: '2.0', method: 'evaluateTransaction', params }
  const answer = await scene.server.inject({ method: 'POST', url: '/ogmios', payload })
  expect(answer.json().result).toEqual([])
})

describe.skipIf(cases === undefined)('requests that users of others reported (needs peers/)', () => {
  it('have an answer here each', () => {
    expect((cases ?? []).map(({ id }) => id).sort()).toEqual(Object.keys(answers).sort())
  })

  it.each(cases ?? [])('$id: $expected', async ({ id, request: { path, contentType, body } }) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const payload = text.startsWith('(bytes) ') ? Buffer.from(text.slice(8), 'hex') : text
    const url = path.replace('/l2/', '/')
    const headers = { 'content-type': contentType }
    const answer = await scene.server.inject({ method: 'POST', url, headers, payload })
    const [status, expected] = answers[id] ?? []
    expect({ status: answer.statusCode, body: answer.json() }).toMatchObject({ status, body: expected })
    if (id === 'N13') expect(answer.body).toContain('"id":12345678901234567890}')
  })
})
