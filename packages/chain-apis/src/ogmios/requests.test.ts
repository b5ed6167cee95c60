import { fromHex, toHex } from '@ratatosk/cbor'
import { decodeTransaction, parseProtocolParameters } from '@ratatosk/ledger'
import { documentFees, keyOf, signed } from '@ratatosk/test-kit'
import { draft, payment } from '@ratatosk/test-kit/ledger-apis'
import fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { apis } from '../apis.js'
import type { ApisOptions, OgmiosVersion } from '../options.js'
import { chainWith } from '../test/served-chain.js'
import type { ChainOutputQuery, ChainView } from '../view/chain-view.js'
import { metadatumJson, transactionJson } from './json/transaction-json.js'
import { createTurns } from './ogmios-api.js'

async function served(ogmiosVersion?: OgmiosVersion) {
  const server = fastify()
  onTestFinished(() => server.close())
  await server.register(apis, { chain: chainWith({}), ...(ogmiosVersion && { ogmiosVersion }) })
  const payload = { jsonrpc: '2.0', method: 'queryLedgerState/protocolParameters' }
  const { result } = (await server.inject({ method: 'POST', url: '/ogmios', payload })).json()
  const { version } = (await server.inject('/ogmios/health')).json()
  return { result, version }
}

it.each([
  [undefined, 'maxReferenceScriptsSize', /^v6\./],
  ['6', 'maxReferenceScriptsSize', /^v6\./],
  ['7', 'maxReferenceScriptsSizePerTransaction', /^v7\./],
] as const)(
  'serves Ogmios %s with its name of the limit of reference scripts',
  async (asked, name, announced) => {
    const { result, version } = await served(asked)
    expect(version).toMatch(announced)
    const names = Object.keys(result).filter((each) => each.startsWith('maxReferenceScripts'))
    expect(names).toEqual([name])
    const limit = { maxReferenceScriptsSize: 204_800 }
    expect(parseProtocolParameters(result)).toEqual({ ...documentFees, ...limit })
  },
)

it('omits empty outputs and intervals of Ogmios 7 only', () => {
  const inputs = [{ transactionId: new Uint8Array(32), index: 0 }]
  const empty = decodeTransaction(signed(keyOf(1), { inputs, outputs: [] }).cbor)
  const paying = decodeTransaction(signed(keyOf(1), { inputs, outputs: [2_000_000n] }).cbor)
  expect(transactionJson(empty, '6')).toMatchObject({ outputs: [], validityInterval: {} })
  const { outputs, validityInterval } = transactionJson(empty, '7')
  expect([outputs, validityInterval]).toEqual([undefined, undefined])
  expect(transactionJson(paying, '7').outputs).toEqual(transactionJson(paying, '6').outputs)
})

it('writes each label of metadata as CBOR, and as JSON if it has no bytes', () => {
  const { cbor } = draft({
    inputs: [`${'00'.repeat(32)}#0`],
    outputs: [],
    fee: 0n,
    signers: [],
    auxiliaryData: fromHex('a21902a2a1636d73678161611902a34101'),
  })
  expect(transactionJson(decodeTransaction(cbor), '6').metadata?.labels).toEqual({
    674: { cbor: 'a1636d7367816161', json: { msg: ['a'] } },
    675: { cbor: '4101', json: undefined },
  })
})

it('refuses another version', async () => {
  const options = { chain: chainWith({}), ogmiosVersion: '5' as OgmiosVersion }
  await expect(fastify().register(apis, options)).rejects.toThrow('ogmiosVersion must be 6 or 7, not 5')
})

it.each([
  ['6161', 'a'],
  ['7f61616162ff', 'ab'],
  ['3bffffffffffffffff', -(2n ** 64n)],
  ['82016161', [1n, 'a']],
  ['a26161800181617a', { a: [], 1: ['z'] }],
  ['43010203', undefined],
  ['8143010203', undefined],
  ['a1800', undefined],
  ['a1430102036161', undefined],
  ['a2016161613161622', undefined],
])('converts %s', (hex, json) => {
  expect(metadatumJson(fromHex(hex.length % 2 === 0 ? hex : `${hex}0`))).toEqual(json)
})

it('callers go on in order, a little in each turn of the event loop', async () => {
  const turn = createTurns()
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const began: number[] = []
  const order: number[] = []
  await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      await turn()
      await undefined
      began.push(turns)
      order.push(index)
      const until = performance.now() + 6
      while (performance.now() < until);
    }),
  )
  isDone = true
  expect(order).toEqual(Array.from({ length: 12 }, (_, index) => index))
  expect(began[0]).toBe(0)
  for (const one of began) expect(began.filter((other) => other === one).length).toBeLessThanOrEqual(4)
})

describe('requests', async () => {
  const address = 'addr_test1vpu5vlrf4xkxv2qpwngf6cjhtw542ayty80v8dyr49rf5eg57c2qv'
  const addressHex = '6079467c69a9ac66280174d09d62575ba955748b21dec3b483a9469a65'
  const stake = 'stake_test1upms945gp6rww7s9yrh6xlk7g5qz580y8d5xjtshtd6zuec2vgc38'
  const hash28 = 'ab'.repeat(28)
  const hash32 = 'cd'.repeat(32)
  const cbor = '84a0a0f5f6'

  const servers: FastifyInstance[] = []
  afterAll(async () => {
    for (const server of servers) await server.close()
  })

  /** A chain that records what it is asked. */
  async function served(options: Omit<ApisOptions, 'chain'> = {}, methods: Partial<ChainView> = {}) {
    const asked: unknown[] = []
    const chain = chainWith({
      async *outputPages(query: ChainOutputQuery) {
        asked.push(query)
        yield []
      },
      stakeDeposit: (credential) => {
        asked.push([credential.kind, Buffer.from(credential.hash).toString('hex')])
        return undefined
      },
      evaluate: async (...request) => {
        asked.push(request)
        return { kind: 'busy' }
      },
      ...methods,
    })
    const server = fastify()
    servers.push(server)
    await server.register(apis, { chain, ...options })
    const post = (payload: string | object) => server.inject({ method: 'POST', url: '/ogmios', payload })
    const ask = async (method: string, params?: unknown) =>
      (await post(JSON.stringify({ jsonrpc: '2.0', method, params, id: 1 }))).json()
    return { asked, post, ask }
  }

  /** One server for the tests without options. */
  const { ask, asked, post } = await served()
  beforeEach(() => {
    asked.length = 0
  })

  it.each([
    ['queryLedgerState/utxo', undefined, [{ spent: false }]],
    ['queryLedgerState/utxo', {}, [{ spent: false }]],
    ['queryLedgerState/utxo', { addresses: [address] }, [{ address: addressHex, spent: false }]],
    [
      'queryLedgerState/utxo',
      { addresses: [addressHex.toUpperCase()] },
      [{ address: addressHex, spent: false }],
    ],
    ['queryLedgerState/utxo', { addresses: [] }, []],
    [
      'queryLedgerState/utxo',
      { outputReferences: [{ transaction: { id: hash32.toUpperCase() }, index: 7 }] },
      [{ references: [`${hash32}#7`], spent: false }],
    ],
    ['queryLedgerState/rewardAccountSummaries', {}, []],
    [
      'queryLedgerState/rewardAccountSummaries',
      { keys: [hash28, stake], scripts: [hash28] },
      [
        ['key', hash28],
        ['key', '7702d6880e86e77a0520efa37ede45002a1de43b68692e175b742e67'],
        ['script', hash28],
      ],
    ],
  ])('asks the chain for what %s with %j names', async (method, params, expected) => {
    expect((await ask(method, params)).result).toEqual([])
    expect(asked).toEqual(expected)
  })

  const evaluation = { transaction: { cbor } }
  const output = { transaction: { id: hash32 }, index: 0, address, value: { ada: { lovelace: 1 } } }
  const adding = (changes: object) => ({ ...evaluation, additionalUtxo: [{ ...output, ...changes }] })

  it.each([
    ['queryLedgerState/utxo', { address: [address] }, /params has an unknown field "address"/],
    ['queryLedgerState/utxo', { foo: 1 }, /unknown field "foo"/],
    ['queryLedgerState/utxo', { Addresses: [address] }, /unknown field/],
    ['queryLedgerState/utxo', { addresses: null }, /addresses must be an array/],
    ['queryLedgerState/utxo', { addresses: address }, /must be an array/],
    ['queryLedgerState/utxo', { addresses: [{}] }, /addresses\[0\] must be a string/],
    ['queryLedgerState/utxo', { addresses: ['foo'] }, /addresses\[0\] is not an address/],
    ['queryLedgerState/utxo', { addresses: [stake] }, /reward account/],
    ['queryLedgerState/utxo', { addresses: [], outputReferences: [] }, /either/],
    ['queryLedgerState/utxo', null, /params must be an object/],
    ['queryLedgerState/utxo', [], /params must be an object/],
    ['queryLedgerState/utxo', 'all', /params must be an object/],
    [
      'queryLedgerState/utxo',
      { outputReferences: [{ transaction: { id: 'zz' }, index: 0 }] },
      /64 hex digits/,
    ],
    [
      'queryLedgerState/utxo',
      { outputReferences: [{ transaction: { id: hash32 } }] },
      /index must be an integer/,
    ],
    ['queryLedgerState/utxo', { outputReferences: [{ transaction: { id: hash32 }, index: '0' }] }, /integer/],
    [
      'queryLedgerState/utxo',
      { outputReferences: [{ transaction: { id: hash32 }, index: 65_536 }] },
      /65535/,
    ],
    ['queryLedgerState/utxo', { outputReferences: [{ txId: hash32, index: 0 }] }, /unknown field "txId"/],
    ['queryLedgerState/rewardAccountSummaries', { key: [hash28] }, /unknown field "key"/],
    ['queryLedgerState/rewardAccountSummaries', { keys: ['zz'] }, /keys\[0\] is not a stake credential/],
    ['queryLedgerState/rewardAccountSummaries', { keys: [5] }, /must be a string/],
    ['queryLedgerState/tip', { at: 5 }, /expected no fields/],
    ['queryNetwork/genesisConfiguration', {}, /era must be a string/],
    ['queryNetwork/genesisConfiguration', { era: 'mary' }, /one of byron, shelley, alonzo, conway/],
    ['hasTransaction', { id: 'zz' }, /id must be 64 hex digits/],
    ['nextTransaction', { fields: 'some' }, /fields must be "all"/],
    ['findIntersection', { points: [{ slot: -1, id: hash32 }] }, /slot of a point/],
    ['findIntersection', { points: [{ slot: 1, id: 'zz' }] }, /id of a point/],
    ['acquireLedgerState', {}, /a point is "origin"/],
    ['queryLedgerState/delegateRepresentatives', { keys: ['drep1'] }, /keys\[0\]/],
    ['queryLedgerState/stakePools', { stakePools: [{ id: 'pool' }] }, /stakePools\[0\]/],
    ['queryLedgerState/projectedRewards', { stake: [1] }, /stake\[0\] must be an object/],
    ['submitTransaction', { cbor }, /unknown field "cbor"/],
    ['submitTransaction', {}, /transaction must be an object/],
    ['submitTransaction', { transaction: { type: 'Tx', description: '', cborHex: cbor } }, /text envelope/],
    ['evaluateTransaction', { ...evaluation, additionalUtxos: [] }, /unknown field "additionalUtxos"/],
    ['evaluateTransaction', adding({ datumHash: 5 }), /datum hash of additionalUtxo\[0\] must be a string/],
    ['evaluateTransaction', adding({ datum: 'd87980', datumHash: hash32 }), /both/],
    ['evaluateTransaction', adding({ datum: 'ff' }), /not a valid output/],
    ['evaluateTransaction', adding({ index: undefined }), /index must be an integer/],
    ['evaluateTransaction', adding({ value: { coins: 1 } }), /ada must be an object/],
    ['evaluateTransaction', adding({ value: { ada: { lovelace: 1 }, [hash28]: { cafe: 0.5 } } }), /quantity/],
    ['evaluateTransaction', adding({ value: { ada: { lovelace: '0x1' } } }), /lovelace must be an integer/],
    ['evaluateTransaction', adding({ script: { 'plutus:v3': '46' } }), /unknown field "plutus:v3"/],
    [
      'evaluateTransaction',
      adding({ script: { language: 'plutus:V3', cbor: '46' } }),
      /must be one of native/,
    ],
    ['evaluateTransaction', { ...evaluation, additionalUtxo: [[{}, {}]] }, /must be an object/],
  ])('refuses %s with %j', async (method, params, message) => {
    const { error } = await ask(method, params)
    expect(error).toMatchObject({ code: -32_602, message: expect.stringMatching(message) })
    expect(asked).toEqual([])
  })

  it('returns ids of any size unchanged, also those of requests that are none', async () => {
    for (const id of [
      '12345678901234567890',
      '-9007199254740993',
      '"12345678901234567890"',
      '[1,{"a":null}]',
    ]) {
      const request = `{"jsonrpc":"2.0","method":"queryNetwork/tip","id":${id}`
      expect((await post(`${request}}`)).body).toContain(`"id":${id}}`)
      const refused = await post(`${request},"param":{}}`)
      expect(refused.json().error).toMatchObject({ code: -32_600, message: /unknown field "param"/ })
      expect(refused.body).toContain(`"id":${id}}`)
    }
  })

  it('answers requests that still have the fields of Ogmios 5, as those of Mesh', async () => {
    const request = {
      jsonrpc: '2.0',
      type: 'jsonwsp/request',
      servicename: 'ogmios',
      method: 'queryNetwork/tip',
    }
    expect((await post(request)).json().result).toBe('origin')
  })

  it('reads integers up to 2^64 - 1 exactly, as numbers and as text', async () => {
    for (const quantity of ['9007199254740993', '18446744073709551615', '"18446744073709551615"']) {
      const value = `{"ada":{"lovelace":${quantity}},"${hash28}":{"cafe":${quantity}}}`
      const entry = JSON.stringify(output).replace('{"ada":{"lovelace":1}}', value)
      const params = `{"transaction":{"cbor":"${cbor}"},"additionalUtxo":[${entry}]}`
      await post(`{"jsonrpc":"2.0","method":"evaluateTransaction","params":${params}}`)
    }
    const values = asked.map(
      (request) => (request as Parameters<ChainView['evaluate']>)[1].get(`${hash32}#0`)?.value,
    )
    expect(values.map((value) => [value?.lovelace, value?.assets.get(hash28)?.get('cafe')])).toEqual([
      [9007199254740993n, 9007199254740993n],
      [2n ** 64n - 1n, 2n ** 64n - 1n],
      [2n ** 64n - 1n, 2n ** 64n - 1n],
    ])
  })

  it('prefers given outputs to those of the chain in version 7', async () => {
    for (const [ogmiosVersion, prefers] of [
      ['6', false],
      ['7', true],
    ] as const) {
      const { ask, asked } = await served({ ogmiosVersion })
      await ask('evaluateTransaction', evaluation)
      expect(asked).toMatchObject([{ 3: prefers }])
    }
  })

  it('names the eras of each version in which it tries to decode', async () => {
    const malformed = async () => ({ kind: 'malformed', message: 'no' }) as const
    for (const [ogmiosVersion, eras] of [
      ['6', ['shelley', 'allegra', 'mary', 'alonzo', 'babbage', 'conway']],
      ['7', ['alonzo', 'babbage', 'conway']],
    ] as const) {
      const { ask } = await served({ ogmiosVersion }, { submit: malformed, evaluate: malformed })
      for (const method of ['submitTransaction', 'evaluateTransaction']) {
        const { error } = await ask(method, evaluation)
        expect([error.code, Object.keys(error.data), error.data.conway]).toEqual([-32_602, eras, 'no'])
      }
    }
  })

  it.each([
    ['queryLedgerState/utxo', { foo: 1 }, -32_602, false],
    ['nothing', {}, -32_601, false],
    ['acquireLedgerState', { point: { slot: 1, id: hash32 } }, 2000, true],
    ['submitTransaction', {}, -32_602, true],
  ])('names the method of %s with %j and error %i: %s', async (method, params, code, isNamed) => {
    const answer = await ask(method, params)
    expect(answer).toMatchObject({ jsonrpc: '2.0', error: { code }, id: 1 })
    expect(answer.method).toBe(isNamed ? method : undefined)
  })

  it('names the slot by which a transaction was judged', async () => {
    const { cbor, hash } = payment()
    const details = { slot: '9', invalidHereafter: '8' }
    const failure = { predicate: 'OutsideValidityIntervalUTxO', message: 'the slot is 9', details } as const
    const { ask } = await served(
      {},
      {
        currentSlot: () => 5n,
        pendingOutputs: () => new Map(),
        submit: async () => ({
          kind: 'rejected',
          hash,
          transaction: decodeTransaction(cbor),
          failures: [failure],
        }),
      },
    )
    const { error } = await ask('submitTransaction', { transaction: { cbor: toHex(cbor) } })
    expect(error).toMatchObject({ code: 3118, data: { currentSlot: 9 } })
  })

  it('omits the method from responses with strict JSON-RPC', async () => {
    const { ask } = await served({ ogmiosStrictRpc: true })
    expect(await ask('queryNetwork/tip')).toEqual({ jsonrpc: '2.0', result: 'origin', id: 1 })
    expect(await ask('nothing')).toEqual({
      jsonrpc: '2.0',
      error: { code: -32_601, message: 'Method not found: "nothing".' },
      id: 1,
    })
  })

  /** Requests that the chain answers with data, each with what it names. */
  const valid = [
    { method: 'queryLedgerState/utxo', params: { addresses: [address] } },
    {
      method: 'queryLedgerState/utxo',
      params: { outputReferences: [{ transaction: { id: hash32 }, index: 3 }] },
    },
    { method: 'queryLedgerState/rewardAccountSummaries', params: { keys: [hash28], scripts: [stake] } },
    { method: 'evaluateTransaction', params: adding({ datum: 'd87980', script: '820346450101002499' }) },
  ]

  /** The places of a JSON value at which one thing can be changed. */
  function* places(value: unknown, path: readonly string[] = []): Generator<readonly string[]> {
    if (path.length > 0) yield path
    if (typeof value !== 'object' || value === null) return
    for (const name of Object.keys(value)) yield* places((value as never)[name], [...path, name])
  }

  const changes = ['rename', 'upper case', 'lower case', 'type', 'null', 'list'] as const

  type Change = (typeof changes)[number]

  const changed = (text: string, change: Change) =>
    change === 'rename' ? `${text}s` : change === 'upper case' ? text.toUpperCase() : text.toLowerCase()

  /** A copy with one place changed: the name, its letters, or the type of its value. */
  function withChange(value: unknown, [name = '', ...rest]: readonly string[], change: Change): unknown {
    const at = (each: unknown): unknown => {
      if (rest.length > 0) return withChange(each, rest, change)
      if (change === 'type') return typeof each === 'string' ? 7 : `${each}`
      if (change === 'null') return null
      return change === 'list' ? [each] : each
    }
    if (Array.isArray(value)) return value.map((each, index) => (String(index) === name ? at(each) : each))
    const isName = rest.length === 0 && ['rename', 'upper case', 'lower case'].includes(change)
    const entries = Object.entries(value as object).map(([key, each]) => {
      if (key !== name) return [key, each]
      return isName ? [changed(key, change), each] : [key, at(each)]
    })
    return Object.fromEntries(entries)
  }

  it('answers a change of a name, type or letter case with the same data or an error', async () => {
    const askedFor = async (request: object) => {
      asked.length = 0
      const { statusCode } = await post(JSON.stringify(request))
      return statusCode === 400 ? undefined : JSON.stringify(asked, toText)
    }
    for (const request of valid) {
      const whole = { jsonrpc: '2.0', ...request }
      const expected = await askedFor(whole)
      for (const path of places(whole)) {
        for (const change of changes) {
          const other = withChange(whole, path, change) as object
          const got = await askedFor(other)
          // An output may have no datum and no script.
          const isAbsent = change === 'null' && ['datum', 'script'].includes(path.at(-1) ?? '')
          if (!isAbsent) expect([undefined, expected], JSON.stringify(other)).toContain(got)
        }
      }
    }
  })

  /** Values of requests as text, without the signal of the client. */
  function toText(_key: string, value: unknown): unknown {
    if (typeof value === 'bigint') return `${value}n`
    if (value instanceof AbortSignal) return 'signal'
    return value instanceof Map ? [...value] : value
  }
})
