import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import {
  BadRequestError,
  createClient,
  InvalidAnswerError,
  NetworkError,
  type NodeEvent,
  RejectedError,
  RemovedError,
} from './index.js'
import { type Handler, hash, json, refused, served } from './test/served.js'

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

  test('are read up to the head that stood at the beginning, however many follow', async () => {
    let ended = 0
    const { asked, client } = await served(({ headers }, response) => {
      response.once('close', () => ended++)
      const last = headers['last-event-id']
      start(response, typeof last === 'string' ? last : '3.7.1')
      if (last === undefined) return
      // The third was dropped, and the stream only moves on.
      response.write(`${message('1.0.0')}${message('2.0.0')}:\nid: 3.7.1\n\n${message('4.7.1')}`)
    })
    const seen: string[] = []
    for await (const { id } of client.readEvents({ type: 'accepted' })) seen.push(id)
    expect(seen).toEqual(['1.0.0', '2.0.0'])
    expect(asked).toHaveLength(2)
    await expect.poll(() => ended).toBe(2)
  })

  test('end with the position alone, if the filter takes none', async () => {
    const { client } = await served(({ headers }, response) => {
      const last = headers['last-event-id']
      start(response, typeof last === 'string' ? last : '3.7.1')
      if (last !== undefined) response.write(':\nid: 3.7.1\n\n')
    })
    expect((await client.readEvents({ address: 'addr_test1' }).next()).done).toBe(true)
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
