import { CborWriter, fromHex } from '@ratatosk/cbor'
import { decodeTransaction } from '@ratatosk/ledger'
import { payment } from '@ratatosk/test-kit/ledger-apis'
import fastify from 'fastify'
import { afterAll, describe, expect, it } from 'vitest'
import { apis } from '../apis.js'
import { chainWith } from '../test/served-chain.js'
import type { ScriptEvaluation } from '../view/chain-view.js'
import { maxMetadataLength, plutusJson } from './data-json.js'
import { extendedAmount } from './routes/address-routes.js'
import { assetJson, fingerprint } from './routes/asset-routes.js'
import { amountJson } from './transaction-json.js'

it('lists lovelace, and the assets by unit, whatever their order in the output', () => {
  const [one, other] = ['aa'.repeat(28), 'bb'.repeat(28)]
  const assets = new Map([
    [other, new Map([['', 1n]])],
    [
      one,
      new Map([
        ['62', 2n],
        ['61', 3n],
      ]),
    ],
  ])
  const units = amountJson({ lovelace: 5n, assets }).map(({ unit }) => unit)
  expect(units).toEqual(['lovelace', `${one}61`, `${one}62`, other])
})

describe('asset json', () => {
  // The test vectors of CIP-14.
  it.each([
    [
      '7eae28af2208be856f7a119668ae52a49b73725e326dc16579dcc373',
      'asset1rjklcrnsdzqp65wjgrg55sy9723kw09mlgvlc3',
    ],
    [
      '7eae28af2208be856f7a119668ae52a49b73725e326dc16579dcc37e',
      'asset1nl0puwxmhas8fawxp8nx4e2q3wekg969n2auw3',
    ],
    [
      '1e349c9bdea19fd6c147626a5260bc44b71635f398b67c59881df209504154415445',
      'asset1hv4p5tv2a837mzqrst04d0dcptdjmluqvdx9k3',
    ],
  ])('the fingerprint of %s', (unit, text) => {
    expect(fingerprint(unit)).toBe(text)
  })

  it('an asset whose metadata are too large for JSON leaves the others their answer', async () => {
    const policy = '11'.repeat(28)
    const small = `${policy}01`
    const large = `${policy}02`
    const transaction = decodeTransaction(payment().cbor)
    /** Metadata of both, with further bytes. */
    const metadataWith = (further: number) => {
      const writer = new CborWriter(2 * maxMetadataLength).map(2).uint(721).map(1).text(policy)
      writer.map(2).text('01').map(0).text('02').map(0)
      return writer.uint(722).bytes(new Uint8Array(further)).toBytes()
    }
    const chain = chainWith({
      asset: (unit) => ({ quantity: 1n, mints: 1, first: unit, last: unit, described: unit }),
      transaction: (unit) => {
        const bytes = metadataWith(unit === large ? maxMetadataLength : 0)
        const auxiliaryData = { bytes, scripts: [] }
        return { transaction: { hash: unit, transaction: { ...transaction, auxiliaryData } } }
      },
    })
    const amount = ['lovelace', small, large].map((unit) => ({ unit, quantity: '1' }))
    expect(await extendedAmount(chain, amount)).toMatchObject([
      { has_nft_onchain_metadata: false },
      { unit: small, has_nft_onchain_metadata: true },
      { unit: large, has_nft_onchain_metadata: false },
    ])
    await expect(assetJson(chain, large)).rejects.toMatchObject({ statusCode: 400 })
  })
})

describe('plutus json', () => {
  describe('Plutus data as JSON', () => {
    it.each([
      ['182a', { int: 42n }],
      ['29', { int: -10n }],
      ['c249010000000000000000', { int: 2n ** 64n }],
      ['c349010000000000000000', { int: -1n - 2n ** 64n }],
      ['c25f41014100ff', { int: 256n }],
      ['43010203', { bytes: '010203' }],
      ['5f41014102ff', { bytes: '0102' }],
      ['820102', { list: [{ int: 1n }, { int: 2n }] }],
      ['9f0102ff', { list: [{ int: 1n }, { int: 2n }] }],
      ['a10140', { map: [{ k: { int: 1n }, v: { bytes: '' } }] }],
      ['d87980', { constructor: 0, fields: [] }],
      ['d905009f01ff', { constructor: 7, fields: [{ int: 1n }] }],
      ['d8668218c88101', { constructor: 200, fields: [{ int: 1n }] }],
      ['d8669f18c88101ff', { constructor: 200, fields: [{ int: 1n }] }],
    ])('%s', (hex, json) => {
      expect(plutusJson(fromHex(hex))).toEqual(json)
    })
  })
})

describe('evaluate routes', async () => {
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
})
