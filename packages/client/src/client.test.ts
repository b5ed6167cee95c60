import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import {
  BadRequestError,
  type ClientOptions,
  ConflictError,
  createClient,
  InvalidAnswerError,
  NetworkError,
  type NodeEvent,
  NotServedError,
  RateLimitedError,
  RejectedError,
  RemovedError,
  ServerError,
  StatusError,
  TimeoutError,
  UnavailableError,
} from './index.js'

type Handler = (
  request: IncomingMessage & { readonly text: string },
  response: ServerResponse,
  attempt: number,
) => void

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A client of a server that answers as the handler says, and what it was asked. */
async function served(handler: Handler, options: ClientOptions = {}) {
  const asked: { method: string; url: string; text: string; headers: IncomingMessage['headers'] }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const { method = '', url = '', headers } = request
    asked.push({ method, url, text, headers })
    handler(Object.assign(request, { text }), response, asked.length)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  )
  const { port } = server.address() as AddressInfo
  return { asked, client: createClient(`http://127.0.0.1:${port}/behind/proxy/`, options) }
}

function json(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

const hash = 'ab'.repeat(32)
const refused = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error) => error,
  )

test('has a method for every operation of the document', async () => {
  const file = new URL('../../../docs/openapi.json', import.meta.url)
  const { paths }: { paths: Record<string, Record<string, { operationId: string }>> } = JSON.parse(
    await readFile(file, 'utf8'),
  )
  const ids = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  expect(Object.keys(createClient('http://node')).sort()).toEqual([...ids, 'awaitTx'].sort())
})

describe('requests', () => {
  test('have their path, query, body and token', async () => {
    const { asked, client } = await served((_, response) => json(response, 200, {}), {
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
    expect(() => createClient('nowhere')).toThrow(TypeError)
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
      attempt === 1 ? fail(response) : json(response, 200, { id: 'x' })
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
})

describe('events', () => {
  const start = (response: ServerResponse, id: string) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`retry: 1\nid: ${id}\n\n`)
  const message = (id: string, event = 'accepted') =>
    `id: ${id}\nevent: ${event}\ndata: {"txHash":"${id}"}\n\n`

  test('resume behind the last one after the connection breaks, ends, or is refused', async () => {
    const { asked, client } = await served((_, response, attempt) => {
      if (attempt === 1) response.destroy()
      else if (attempt === 2) {
        start(response, '0.0.0')
        response.write(message('1.0.0'))
        setTimeout(() => response.destroy(), 20)
      } else if (attempt === 3) json(response, 502, {})
      else if (attempt === 4) {
        start(response, '1.0.0')
        response.end(message('2.0.0'))
      } else {
        start(response, '2.0.0')
        response.write(`${message('2.0.1', 'of the future')}:\nid: 2.0.2\n\n${message('3.0.2')}`)
      }
    })
    const seen: string[] = []
    for await (const { id } of client.streamEvents({ type: 'accepted', after: '0.0.0' })) {
      seen.push(id)
      if (seen.length === 3) break
    }
    expect(seen).toEqual(['1.0.0', '2.0.0', '3.0.2'])
    expect(asked.map(({ headers }) => headers['last-event-id'])).toEqual([
      '0.0.0',
      '0.0.0',
      '1.0.0',
      '1.0.0',
      '2.0.0',
    ])
    expect(asked[0]?.url).toBe('/behind/proxy/events?type=accepted')
  })

  test('are read whatever the line breaks and wherever the stream is cut', async () => {
    const text =
      ': comment\r\nretry: 5\rid: 7.0.0\r\nevent: block\r\ndata: {"a":\r\ndata: "é"}\r\n\r\n' +
      'id: 8.0.0\revent:block\rdata:1\r\rid\n\n'
    const bytes = Buffer.from(text)
    for (let cut = 1; cut < bytes.length; cut += 3) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(bytes.subarray(0, cut))
          controller.enqueue(bytes.subarray(cut))
        },
      })
      const client = createClient('http://node', {
        fetch: async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
      })
      const seen: NodeEvent[] = []
      for await (const event of client.streamEvents()) if (seen.push(event) === 2) break
      expect(seen).toEqual([
        { type: 'block', id: '7.0.0', data: { a: 'é' } },
        { type: 'block', id: '8.0.0', data: 1 },
      ])
    }
  })

  test('refuse a line without end', async () => {
    const { client } = await served((_, response) => {
      start(response, '0.0.0')
      response.write(`data: ${'x'.repeat(1_100_000)}`)
    })
    expect(await refused(client.streamEvents().next())).toBeInstanceOf(InvalidAnswerError)
  })

  test('are not retried if the node refuses them', async () => {
    const { asked, client } = await served((_, response) => json(response, 400, { error: 'type' }))
    expect(await refused(client.streamEvents({ type: 'x' }).next())).toBeInstanceOf(BadRequestError)
    expect(asked).toHaveLength(1)
  })
})

describe('awaitTx', () => {
  const times = { attempts: 1, count: 1, submittedAt: '', firstRejectedAt: '', rejectedAt: '' }
  const rejection = {
    code: 'FeeTooSmallUTxO',
    reason: 'The fee is too small',
    failures: [{ predicate: 'FeeTooSmallUTxO', message: 'The fee is too small' }],
    ...times,
  }

  /** Answers one status after the other; without events by default. */
  const node = (statuses: readonly object[], events?: (response: ServerResponse) => void): Handler => {
    let next = 0
    return ({ url = '' }, response) => {
      if (url.includes('/events'))
        return events ? events(response) : json(response, 404, { error: 'Not Found', code: 'DISABLED' })
      const body = statuses[Math.min(next++, statuses.length - 1)]
      json(response, 'code' in (body ?? {}) ? 503 : 200, { txHash: hash, ...body })
    }
  }

  test('polls where no events are served, through a restart of the node', async () => {
    const states = [{ status: 'unknown' }, { status: 'mempool' }, { code: 'down' }, { status: 'mature' }]
    const { client } = await served(node(states))
    expect(await client.awaitTx(hash, { finality: 'committed', pollMs: 5 })).toMatchObject({
      status: 'mature',
    })
  })

  test('polls at each event, and closes the stream', async () => {
    let closed = false
    const events = (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: 0.0.0\n\n')
      const timer = setInterval(() => response.write('id: 1.0.0\nevent: accepted\ndata: {}\n\n'), 5)
      response.once('close', () => {
        clearInterval(timer)
        closed = true
      })
    }
    const { client } = await served(
      node([{ status: 'queued' }, { status: 'built' }, { status: 'merged' }], events),
    )
    const status = await client.awaitTx(hash, { finality: 'merged', pollMs: 3_600_000 })
    expect(status).toMatchObject({ status: 'merged' })
    await expect.poll(() => closed).toBe(true)
  })

  test('fails with every failed predicate', async () => {
    const { client } = await served(node([{ status: 'rejected', rejection }]))
    const error = await refused(client.awaitTx(hash))
    expect(error).toBeInstanceOf(RejectedError)
    expect(error).toMatchObject({ code: 'FeeTooSmallUTxO', failures: rejection.failures, rejection })
  })

  test('waits for a removed transaction that the node brings back, and only for that', async () => {
    const removal = { removedAt: '', resubmittedAs: '7' }
    const { client } = await served(node([{ status: 'removed', removal }, { status: 'mempool' }]))
    expect(await client.awaitTx(hash, { pollMs: 5 })).toMatchObject({ status: 'mempool' })
    const gone = await served(node([{ status: 'removed', removal: { removedAt: '' } }]))
    expect(await refused(gone.client.awaitTx(hash))).toBeInstanceOf(RemovedError)
  })

  test('ends by its time limit or its signal, and fails if the node never answered', async () => {
    const { client } = await served(node([{ status: 'mempool' }]), { retries: 0 })
    const waiting = { finality: 'merged', pollMs: 5 } as const
    expect(await refused(client.awaitTx(hash, { ...waiting, timeoutMs: 50 }))).toMatchObject({
      code: 'CLIENT_TIMEOUT',
      message: expect.stringContaining('not merged within 50 ms'),
    })
    const reason = new Error('left')
    const signal = AbortSignal.abort(reason)
    expect(await refused(client.awaitTx(hash, { ...waiting, signal }))).toBe(reason)
    const down = createClient('http://127.0.0.1:9', { retries: 0 })
    expect(await refused(down.awaitTx(hash))).toBeInstanceOf(NetworkError)
  })
})
