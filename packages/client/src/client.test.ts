import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import {
  BadRequestError,
  ConflictError,
  createClient,
  InvalidAnswerError,
  NetworkError,
  NotServedError,
  RateLimitedError,
  ServerError,
  StatusError,
  TimeoutError,
  UnavailableError,
} from './index.js'
import { anyAnswer, type Handler, hash, json, refused, served } from './test/served.js'
import { layer2 } from './wallet/index.js'
import { devWalletScript } from './wallet/script.js'

interface DocumentOperation {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly required?: boolean }[]
  readonly requestBody?: { readonly content: Record<string, { readonly schema: { required?: string[] } }> }
}

async function documented(): Promise<DocumentOperation[]> {
  const file = new URL('../../../docs/openapi.json', import.meta.url)
  const { paths }: { paths: Record<string, Record<string, DocumentOperation>> } = JSON.parse(
    await readFile(file, 'utf8'),
  )
  return Object.values(paths).flatMap((methods) => Object.values(methods))
}

/** The argument of a method: the transaction, or its parameters, or else no options. */
function inputOf({ parameters = [], requestBody }: DocumentOperation): unknown {
  if (requestBody?.content['text/plain']) return '84a0'
  const asked = parameters.filter(({ required }) => required).map(({ name }) => name)
  const needed = requestBody?.content['application/json']?.schema.required ?? asked
  return Object.fromEntries(needed.map((name) => [name, 'x']))
}

test('has a method for every operation of the document', async () => {
  const ids = (await documented()).map(({ operationId }) => operationId)
  expect(Object.keys(createClient('http://node')).sort()).toEqual([...ids, 'awaitTx', 'readEvents'].sort())
})

describe('requests', () => {
  test('are given up when the answer is too long, also that of an error', async () => {
    for (const status of [200, 500]) {
      let sent = 0
      const endless = (_: unknown, response: ServerResponse) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        const more = () => {
          while (!response.destroyed && response.write(' '.repeat(65_536))) sent += 65_536
        }
        response.on('drain', more)
        more()
      }
      const { client } = await served(endless, { maxAnswerBytes: 1_000_000, retries: 0 })
      const error = await refused(client.getNetwork())
      expect(error).toBeInstanceOf(InvalidAnswerError)
      expect(error.message).toContain('the answer has more than 1000000 bytes')
      expect(sent).toBeLessThan(16_000_000)
    }
  })

  test('have their path, query, body and token', async () => {
    const { asked, client } = await served((_, response) => json(response, 200, anyAnswer), {
      operatorToken: 'secret',
    })
    await client.listTransactions({ address: 'addr a&b', limit: 3 })
    await client.showDeadLetter({ id: 'a/b?c' })
    await client.submit('84a0')
    await client.getNetwork()
    expect(asked.map(({ method, url, text, headers }) => [method, url, text, headers.authorization])).toEqual(
      [
        ['GET', '/behind/proxy/txs?address=addr+a%26b&limit=3', '', undefined],
        ['GET', '/behind/proxy/deadLetters/a%2Fb%3Fc', '', 'Bearer secret'],
        ['POST', '/behind/proxy/submit', '84a0', undefined],
        ['GET', '/behind/proxy/network', '', undefined],
      ],
    )
    expect(asked[2]?.headers['content-type']).toBe('text/plain')
  })

  test('resolve with nothing for 204', async () => {
    const { client } = await served((_, response) => response.writeHead(204).end())
    expect(await client.dropDeadLetter({ id: '1' })).toBeUndefined()
  })

  test('end with the reason of an aborted signal, before and during', async () => {
    const { asked, client } = await served(() => undefined)
    const reason = new Error('left')
    expect(await refused(client.getNetwork({ signal: AbortSignal.abort(reason) }))).toBe(reason)
    const controller = new AbortController()
    const pending = refused(client.getNetwork({ signal: controller.signal }))
    controller.abort(reason)
    expect(await pending).toBe(reason)
    expect(asked.length).toBeLessThanOrEqual(1)
  })
})

describe('errors', () => {
  test.each([
    [400, { error: 'Bad', code: 'ADDRESS_INVALID' }, BadRequestError, 'ADDRESS_INVALID'],
    [404, { error: 'Not Found', code: 'DISABLED' }, NotServedError, 'DISABLED'],
    [409, { error: 'Busy' }, ConflictError, 'HTTP_409'],
    [418, {}, StatusError, 'HTTP_418'],
    [429, { error: 'Later', code: 'COOLDOWN' }, RateLimitedError, 'COOLDOWN'],
    [500, { error: 'Something went wrong' }, ServerError, 'HTTP_500'],
    [503, { status: 'not_ready', failing: ['queue'] }, UnavailableError, 'HTTP_503'],
  ])('%i: class by status, code by body', async (status, body, ErrorClass, code) => {
    const { asked, client } = await served((_, response) => json(response, status, body))
    const error = await refused(client.getNetwork())
    expect(error.constructor).toBe(ErrorClass)
    expect(error).toMatchObject({ status, body, code, name: ErrorClass.name })
    expect(error.message).toContain('GET /network')
    expect(asked).toHaveLength(1)
  })

  test('tell what is not a node', async () => {
    const { client } = await served((_, response) => response.end('<html>'))
    expect(await refused(client.getNetwork())).toBeInstanceOf(InvalidAnswerError)
    expect(await refused(client.streamEvents().next())).toBeInstanceOf(InvalidAnswerError)
    for (const url of ['localhost', 'localhost:3000', 'http://', ''])
      expect(() => createClient(url)).toThrow(
        new TypeError('createClient: url must be a URL such as http://127.0.0.1:3000'),
      )
  })

  test('tell an answer of another shape, for every method', async () => {
    for (const body of ['{"supply":{},"stake":{}}', '[]', 'null', '']) {
      const { client } = await served((_, response) => response.end(body))
      const methods = client as unknown as Record<string, (input: unknown) => Promise<unknown>>
      for (const operation of await documented()) {
        const { operationId } = operation
        if (operationId === 'streamEvents' || operationId === 'dropDeadLetter') continue
        const error = await refused(methods[operationId]!(inputOf(operation)))
        expect(error, operationId).toBeInstanceOf(InvalidAnswerError)
      }
    }
  })

  test('name the URL of the node, without credentials', async () => {
    const url = 'http://user:secret@127.0.0.1:9/behind/proxy/?token=secret'
    const away = () => Promise.reject(new Error('away'))
    const error = await refused(createClient(url, { retries: 0, fetch: away }).getNetwork())
    expect(error.message).toMatch(/^GET \/network: no answer from http:\/\/127\.0\.0\.1:9\/behind\/proxy\. /)
    const missing = async () => new Response('', { status: 404 })
    expect(await refused(createClient(url, { fetch: missing }).getNetwork())).toMatchObject({
      url: 'http://127.0.0.1:9/behind/proxy',
    })
    const { client } = await served(() => undefined, { timeoutMs: 20, retries: 0 })
    const late = await refused(client.getNetwork())
    expect(late.message).toMatch(/no answer from http:\/\/127\.0\.0\.1:\d+\/behind\/proxy within 20 ms$/)
  })

  test('a 404 with a proof is an answer, one without is an error', async () => {
    const absence = { error: 'absent', key: '00', proof: { json: [], cbor: '80' } }
    const { client } = await served((_, response, attempt) =>
      json(response, 404, attempt === 1 ? absence : { error: 'no block' }),
    )
    expect(await client.proveUtxo({ outref: `${hash}#0` })).toEqual(absence)
    expect(await refused(client.proveUtxo({ outref: `${hash}#0` }))).toMatchObject({ status: 404 })
  })
})

describe('retries', () => {
  const failOnce =
    (fail: (response: ServerResponse) => void): Handler =>
    (_, response, attempt) =>
      attempt === 1 ? fail(response) : json(response, 200, anyAnswer)
  const broken = failOnce((response) => response.destroy())
  const busy = failOnce((response) => json(response, 503, { error: 'busy' }, { 'retry-after': '0' }))
  const full = failOnce((response) => json(response, 500, { error: 'full' }, { 'retry-after': '0' }))

  test.each([
    ['a broken connection', broken],
    ['503 with Retry-After', busy],
    ['500 with Retry-After, of a full queue', full],
  ])('reads, submissions and claims are repeated after %s', async (_, handler) => {
    for (const call of ['network', 'submit', 'evaluate', 'claim'] as const) {
      const { asked, client } = await served(handler)
      if (call === 'network') await client.getNetwork()
      else if (call === 'claim') await client.claim({ address: 'a', ipHash: 'i' })
      else await client[call]('84a0')
      expect(asked).toHaveLength(2)
      expect(asked[1]?.text).toBe(asked[0]?.text)
    }
  })

  test('operations are sent once, although they are GET requests', async () => {
    for (const call of ['commit', 'merge', 'init', 'reset', 'repairRootUnits'] as const) {
      const { asked, client } = await served(broken)
      expect(await refused(client[call]())).toBeInstanceOf(NetworkError)
      expect(asked).toHaveLength(1)
    }
    const { asked, client } = await served(broken)
    expect(await refused(client.replayDeadLetter({ id: '1' }))).toBeInstanceOf(NetworkError)
    expect(asked).toHaveLength(1)
  })

  test('end after `retries`, and at once for a long Retry-After', async () => {
    const always = await served((_, response) => response.destroy(), { retries: 1 })
    expect(await refused(always.client.getNetwork())).toBeInstanceOf(NetworkError)
    expect(always.asked).toHaveLength(2)
    const later = await served((_, response) =>
      json(response, 503, { error: 'later' }, { 'retry-after': '3600' }),
    )
    expect(await refused(later.client.getNetwork())).toMatchObject({ status: 503, retryAfter: 3600 })
    expect(later.asked).toHaveLength(1)
  })

  test('follow a time-out', async () => {
    const { asked, client } = await served(() => undefined, { timeoutMs: 50, retries: 1 })
    expect(await refused(client.getNetwork())).toBeInstanceOf(TimeoutError)
    expect(asked).toHaveLength(2)
  })

  test('a draft takes amounts as bigints', async () => {
    const { asked, client } = await served((_, response) => json(response, 400, { error: 'seen' }))
    const draft = {
      kind: 'deposit',
      utxos: [],
      changeAddress: 'a',
      lovelace: 5n,
      assets: { ab: 6n },
    } as const
    await refused(client.draftBridgeTransaction(draft))
    expect(JSON.parse(asked[0]?.text ?? '')).toMatchObject({ lovelace: '5', assets: { ab: '6' } })
  })

  test('a claim has its own key, which the error of a failed claim holds', async () => {
    const { asked, client } = await served((_, response) =>
      json(response, 500, { error: 'unknown', code: 'INTERNAL' }),
    )
    const [one, two] = [
      await refused(client.claim({ address: 'a', ipHash: 'i' })),
      await refused(client.claim({ address: 'a', ipHash: 'i' })),
    ]
    expect(one.idempotencyKey).toMatch(/^[0-9a-f]{32}$/)
    expect(two.idempotencyKey).not.toBe(one.idempotencyKey)
    expect(JSON.parse(asked[0]?.text ?? '')).toEqual({
      address: 'a',
      ipHash: 'i',
      idempotencyKey: one.idempotencyKey,
    })
    const kept = await refused(client.claim({ address: 'a', ipHash: 'i', idempotencyKey: 'mine' }))
    expect(kept.idempotencyKey).toBe('mine')
  })

  test('a claim without a token names the option, one with a wrong token does not', async () => {
    const answer = (_: unknown, response: ServerResponse) => json(response, 401, { error: 'Unauthorized' })
    const refusal = 'POST /faucet/claims: 401 Unauthorized'
    for (const [options, message] of [
      [{}, `${refusal}: the option faucetToken of the client is missing`],
      [{ faucetToken: 'wrong' }, refusal],
    ] as const) {
      const { client } = await served(answer, options)
      expect(await refused(client.claim({ address: 'a', ipHash: 'i' }))).toMatchObject({ message })
    }
  })
})

describe('options', () => {
  const wrong = (options: object) => options as never

  test('that do not exist are named, with those that do', async () => {
    const { asked, client } = await served((_, response) => json(response, 200, {}))
    expect(() => createClient('http://node', wrong({ timeout: 1, retry: 0 }))).toThrow(
      new TypeError(
        'createClient: there is no option timeout; its options are timeoutMs, retries, maxAnswerBytes, ' +
          'operatorToken, faucetToken, checkAnswer, onRetry, fetch',
      ),
    )
    expect(await refused(client.awaitTx(hash, wrong({ finalty: 'merged' })))).toEqual(
      new TypeError(
        'awaitTx: there is no option finalty; its options are finality, submissionId, signal, timeoutMs, ' +
          'pollMs',
      ),
    )
    const misspelt = wrong({ retry: 0 })
    const message = /: there is no option retry; its options are signal, timeoutMs, retries, maxAnswerBytes$/
    for (const call of [
      client.getNetwork(misspelt),
      client.submit('84a0', misspelt),
      client.claim({ address: 'a', ipHash: 'i' }, misspelt),
      client.proveUtxo({ outref: `${hash}#0` }, misspelt),
      client.streamEvents({}, misspelt).next(),
      client.readEvents({}, misspelt).next(),
    ]) {
      const error = await refused(call)
      expect(error).toBeInstanceOf(TypeError)
      expect(error.message).toMatch(message)
    }
    expect(asked).toEqual([])
  })

  test.each([
    [{ timeoutMs: 'abc' }, 'timeoutMs must be a number of milliseconds from 0 to 2147483647'],
    [{ timeoutMs: Number.NaN }, 'timeoutMs must be'],
    [{ timeoutMs: 2 ** 31 }, 'timeoutMs must be'],
    [{ retries: -1 }, 'retries must be a number from 0'],
    [{ retries: null }, 'retries must be'],
    [{ operatorToken: 1 }, 'operatorToken must be a string'],
    [{ fetch: 'fetch' }, 'fetch must be a function'],
    [null, 'the options must be an object'],
  ])('%o is refused', (options, message) => {
    expect(() => createClient('http://node', wrong(options as object))).toThrow(TypeError)
    expect(() => createClient('http://node', wrong(options as object))).toThrow(message)
  })

  test('of one call are checked too; undefined is as if absent', async () => {
    const { client } = await served((_, response) => json(response, 200, anyAnswer))
    for (const options of [{ signal: 1 }, { timeoutMs: '5' }])
      expect(await refused(client.getNetwork(wrong(options)))).toBeInstanceOf(TypeError)
    for (const options of [{ finality: 'final' }, { pollMs: -1 }, { submissionId: 1 }])
      expect(await refused(client.awaitTx(hash, wrong(options)))).toBeInstanceOf(TypeError)
    const absent = { signal: undefined, timeoutMs: undefined, retries: Number.POSITIVE_INFINITY }
    expect(await client.getNetwork(absent)).toEqual(anyAnswer)
  })
})

describe('parameters', () => {
  const wrong = (parameters: unknown) => parameters as never

  test('that a route does not have are refused by name, and so are missing ones', async () => {
    const { asked, client } = await served((_, response) => json(response, 200, {}))
    const address = 'addr'
    for (const [call, message] of [
      [
        client.listTransactions(wrong({ address, page: 2 })),
        'listTransactions: there is no parameter page; its parameters are address, limit, offset',
      ],
      [
        client.listUtxos(wrong({ adress: address })),
        'listUtxos: there is no parameter adress; its parameters are address',
      ],
      [client.listUtxos(wrong({})), 'listUtxos: the parameter address is missing'],
      [client.listUtxos(wrong(undefined)), 'listUtxos: the parameter address is missing'],
      [
        client.getTransaction(wrong('00')),
        'getTransaction: the parameters must be an object; its parameters are tx_hash',
      ],
      [client.getBlockDetails(wrong({ limit: 1 })), 'getBlockDetails: the parameter id is missing'],
      [
        client.payWithdrawals(wrong({ headrHash: hash })),
        'payWithdrawals: there is no parameter headrHash; its parameters are headerHash, limit',
      ],
      [
        client.claim(wrong({ address, ip: 'i' })),
        'claim: there is no parameter ip; its parameters are address, idempotencyKey, ipHash',
      ],
      [
        client.proveUtxo(wrong({ out: 1 })),
        'proveUtxo: there is no parameter out; its parameters are outref, at, header_hash',
      ],
      [
        client.submit(wrong(new Uint8Array(1))),
        'submit: the transaction must be a string, the hex of its CBOR',
      ],
    ] as const)
      expect(await refused(call)).toEqual(new TypeError(message))
    for (const events of [client.streamEvents(wrong({ hash })), client.readEvents(wrong({ hash }))])
      expect(await refused(events.next())).toEqual(
        new TypeError(
          'streamEvents: there is no parameter hash; its parameters are type, tx_hash, address, block, ' +
            'after',
        ),
      )
    expect(asked).toEqual([])
  })
})

describe('the wallets', () => {
  const wrong = (options: unknown) => options as never

  test('refuse options that cannot work', async () => {
    for (const [options, message] of [
      [{ url: 'http://node', projectId: 'x' }, 'layer2: there is no option projectId; its options are url'],
      [{}, 'layer2: url must be a string'],
      [undefined, 'layer2: the options must be an object; its options are url'],
    ])
      expect(() => layer2(wrong({}), wrong(options))).toThrow(new TypeError(message as string))
    for (const wallet of [null, undefined, {}, 'lace'])
      expect(() => layer2(wallet as never, { url: 'http://node' })).toThrow(
        new TypeError('layer2: wallet must be what enable() of a CIP-30 wallet resolved to'),
      )
    for (const [options, message] of [
      [
        { wallets: [], url: '/', account: 1 },
        'devWalletScript: there is no option account; its options are wallets, url',
      ],
      [{ wallets: {}, url: '/' }, 'devWalletScript: wallets must be an array of wallets'],
      [{ wallets: [] }, 'devWalletScript: url must be a string'],
    ])
      expect(await refused(devWalletScript(wrong(options)))).toEqual(new TypeError(message as string))
  })
})

test('is at most 10 kB, minified and gzipped, and imports nothing', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [new URL('../src/index.ts', import.meta.url).pathname],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'browser',
    metafile: true,
  })
  const size = gzipSync(outputFiles[0]?.contents ?? '').length
  expect(size).toBeLessThanOrEqual(10_000)
  expect(Object.keys(metafile.inputs).filter((path) => path.includes('node_modules'))).toEqual([])
  expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([])
})
