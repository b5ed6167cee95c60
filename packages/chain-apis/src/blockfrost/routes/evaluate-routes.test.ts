import fastify from 'fastify'
import { afterAll, expect, it } from 'vitest'
import { apis } from '../../apis.js'
import { chainWith } from '../../test/served-chain.js'
import type { ScriptEvaluation } from '../../view/chain-view.js'

const reference = `${'aa'.repeat(32)}#0`
let evaluation: ScriptEvaluation
let evaluated: string | undefined

const chain = chainWith({
  evaluate: async (cbor) => {
    evaluated = Buffer.from(cbor).toString('hex')
    return evaluation
  },
})
const server = fastify()
await server.register(apis, { chain })
afterAll(() => server.close())

async function post(path: string, payload: string | Buffer, type = 'application/cbor') {
  evaluated = undefined
  const url = `/blockfrost/api/v0/${path}`
  const answer = await server.inject({ method: 'POST', url, headers: { 'content-type': type }, payload })
  return { status: answer.statusCode, json: answer.json() }
}

const transaction = '84a0a0f5f6'
const anyId = { id: expect.stringMatching(/^[0-9a-f-]{36}$/) }

it.each([
  ['hex', transaction],
  ['upper-case hex', transaction.toUpperCase()],
  ['base64', Buffer.from(transaction, 'hex').toString('base64')],
  ['CBOR', Buffer.from(transaction, 'hex')],
  ['an indefinite list', Buffer.from('9fa0a0f5f6ff', 'hex')],
])('evaluates %s', async (_, payload) => {
  evaluation = { kind: 'faulty-redeemers', faults: [] }
  expect((await post('utils/txs/evaluate', payload)).status).toBe(200)
  expect(evaluated).toBe(typeof payload === 'string' ? transaction : payload.toString('hex'))
})

const spend = { purpose: 'spend', index: 0 } as const
const withdraw = { purpose: 'reward', index: 3 } as const
const failures: readonly (readonly [ScriptEvaluation, unknown, unknown])[] = [
  [
    { kind: 'faulty-redeemers', faults: [{ ...withdraw, fault: { kind: 'Extraneous' } }] },
    { ScriptFailures: { 'withdrawal:3': [{ extraRedeemers: ['withdrawal:3'] }] } },
    [{ validator: { purpose: 'withdraw', index: 3 }, error: { code: 3110 } }],
  ],
  [
    { kind: 'faulty-redeemers', faults: [{ ...spend, fault: { kind: 'MissingScript', scriptHash: '' } }] },
    { ScriptFailures: { 'spend:0': [{ missingRequiredScripts: { missing: ['spend:0'] } }] } },
    [{ error: { code: 3011, data: { missingScripts: [spend] } } }],
  ],
  [
    {
      kind: 'faulty-redeemers',
      faults: [{ ...spend, fault: { kind: 'NoCostModel', language: 'PlutusV2' } }],
    },
    { ScriptFailures: { 'spend:0': [{ noCostModelForLanguage: 'plutus:v2' }] } },
    [{ error: { code: 3115, data: { missingCostModels: ['plutus:v2'] } } }],
  ],
  [
    {
      kind: 'faulty-redeemers',
      faults: [{ ...spend, fault: { kind: 'UnknownInputs', references: [reference] } }],
    },
    {
      ScriptFailures: {
        'spend:0': {
          CannotCreateEvaluationContext: {
            reason: `Unknown transaction input (missing from UTxO set): ${reference}`,
          },
        },
      },
    },
    [
      {
        error: {
          code: 3004,
          data: { reason: `Unknown transaction input (missing from UTxO set): ${reference}` },
        },
      },
    ],
  ],
]

it.each(failures)('says why %j failed, as Ogmios 5 and as Ogmios 6', async (failed, version5, version6) => {
  evaluation = failed
  const response = { type: 'jsonwsp/response', methodname: 'EvaluateTx', reflection: anyId }
  expect((await post('utils/txs/evaluate', transaction)).json).toMatchObject({
    ...response,
    result: { EvaluationFailure: version5 },
  })
  expect((await post('utils/txs/evaluate?version=6', transaction)).json).toMatchObject({
    jsonrpc: '2.0',
    method: 'evaluateTransaction',
    error: { code: 3010, data: version6 },
    id: anyId.id,
  })
})

it.each([
  [
    '80',
    'Deserialisation failure while decoding serialised transaction. CBOR failed with error: no',
    -32_602,
  ],
  ['not a transaction', 'failed to decode payload from base64 or base16.', -32_600],
])('answers the body %j with a fault', async (body, reason, code) => {
  evaluation = { kind: 'malformed', message: 'no' }
  expect(await post('utils/txs/evaluate', body)).toEqual({
    status: 200,
    json: {
      type: 'jsonwsp/fault',
      version: '1.0',
      servicename: 'ogmios',
      fault: { code: 'client', string: `Invalid request: ${reason}` },
      reflection: anyId,
    },
  })
  expect((await post('utils/txs/evaluate?version=6', body)).json.error.code).toBe(code)
})

it('names the era of a transaction without scripts', async () => {
  evaluation = { kind: 'malformed', message: 'no' }
  const mary = '83a100a0a0f6'
  const { json } = await post('utils/txs/evaluate', mary)
  expect(json.result).toEqual({ EvaluationFailure: { IncompatibleEra: 'Mary' } })
  const { error } = (await post('utils/txs/evaluate?version=6', mary)).json
  expect([error.code, error.data]).toEqual([3000, { incompatibleEra: 'mary' }])
})

it.each([
  ['utils/txs/evaluate?version=7', transaction, 'application/cbor', /version must be 5 or 6/],
  ['utils/txs/evaluate', '{"type":"","cborHex":"84"}', 'application/cbor', /text envelope/],
  ['tx/submit', '{"type":"","cborHex":"84"}', 'application/cbor', /text envelope/],
  ['tx/submit', '{"type":"","cborHex":"84"}', 'application/json', /text envelope/],
  ['utils/txs/evaluate/utxos', '{', 'application/json', /not valid JSON/],
  ['utils/txs/evaluate/utxos', '{"cbor":5}', 'application/json', /cbor must be a string/],
  ['utils/txs/evaluate/utxos', '{"cbor":"84","utxos":[]}', 'application/json', /unknown field "utxos"/],
  [
    'utils/txs/evaluate/utxos',
    '{"cbor":"84","additionalUtxoSet":{}}',
    'application/json',
    /must be an array/,
  ],
])('refuses by %s the body %s as %s', async (path, body, type, message) => {
  const { status, json } = await post(path, body, type)
  expect([status, json]).toMatchObject([400, { message: expect.stringMatching(message) }])
  expect(evaluated).toBeUndefined()
})
