import { Readable } from 'node:stream'
import { bodyOf, encodeBlockBody } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import fastify from 'fastify'
import { expect, type TestContext, test } from 'vitest'
import { audit, openArchivist, type QueueReading } from './index.js'
import { openScene } from './test/scene.js'

test('reads again while layer 1 moves, and forgets what it removed', async (context) => {
  const { audit: run, chain, lies } = await openScene(context)
  await chain.commit(2)
  await chain.commit(2, { utxosRoot: new Uint8Array(32) })
  let readings = 0
  lies.layer1 = (queue): QueueReading => {
    readings++
    // The defective block, and one that the archive does not have yet.
    const submitted = { headerHash: new Uint8Array(28).fill(1), header: queue.blocks[0]!.header }
    return readings === 1 ? { ...queue, blocks: [...queue.blocks, submitted] } : queue
  }
  let isReplaced = false
  const report = await run({
    onProgress: ({ height }) => {
      if (height !== 2 || isReplaced) return
      isReplaced = true
      chain.remove(1)
      void chain.commit(3)
    },
  })
  expect(readings).toBe(2)
  expect(report).toMatchObject({ verdict: 'clean', counts: { blocks: 2, transactions: 5 } })
  expect(report.utxosRoot).toBe(toHex(chain.tip!.fields.utxosRoot))
})

test('a source that does not answer leaves the audit incomplete', async (context) => {
  const { audit: run, chain, lies } = await openScene(context)
  await chain.commit(2)
  const away = async () => Promise.reject(new Error('it is unavailable'))
  expect(await run({ layer1: { read: away } })).toMatchObject({
    verdict: 'incomplete',
    unchecked: [{ what: 'The state queue on layer 1', why: 'it is unavailable' }],
  })
  const node = {
    queue: away,
    transactionsOf: async () => [],
    placesOf: away,
    async *unspentOutputs() {},
    transaction: away,
    spenderOf: away,
  }
  expect(await run({ node })).toMatchObject({ unchecked: [{ why: 'it is unavailable' }] })
  lies.body = () => {
    throw new Error('the disk is full')
  }
  const { verdict, unchecked } = await run()
  expect([verdict, unchecked.map(({ what }) => what)]).toEqual([
    'incomplete',
    ['The body of a block', 'Block 1'],
  ])
})

test('no bytes of a body make it throw', async (context) => {
  const { audit: run, chain, lies } = await openScene(context)
  await chain.commit(3)
  const [{ cbors }] = chain.blocks as [(typeof chain.blocks)[number]]
  const honest = encodeBlockBody(bodyOf(cbors))
  for (let place = 0; place < honest.length; place += 13) {
    lies.body = () => honest.with(place, (honest[place] ?? 0) ^ (1 + (place % 255)))
    expect((await run({ readings: 1 })).verdict, `byte ${place}`).toBe('defective')
  }
})

test('an aborted audit rejects with the reason', async (context) => {
  const { audit: run, chain } = await openScene(context)
  await chain.commit(3)
  const stop = new AbortController()
  const reason = new Error('stopped')
  const running = run({ signal: stop.signal, onProgress: () => stop.abort(reason) })
  await expect(running).rejects.toBe(reason)
})

async function serve(context: TestContext, body: Uint8Array | string, status = 200) {
  const server = fastify({ forceCloseConnections: true })
  context.onTestFinished(() => server.close())
  let requests = 0
  server.get('/*', (_request, reply) => {
    requests++
    return reply.code(status).send(body)
  })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return { url, requests: () => requests }
}

test('an archivist is bounded, and asked again only where that may help', async (context) => {
  const signal = new AbortController().signal
  const hash = new Uint8Array(28)
  const large = await serve(context, Buffer.alloc(10_000))
  await expect(openArchivist(large.url, { maxBodyBytes: 100 }).body(hash, signal)).rejects.toThrow(
    'more than 356 bytes',
  )
  await expect(openArchivist(large.url).header(1, signal)).rejects.toThrow('more than 1280 bytes')
  const broken = await serve(context, 'no CBOR')
  await expect(openArchivist(broken.url).header(1, signal)).rejects.toThrow('not CBOR')
  const elsewhere = await serve(context, '', 302)
  await expect(openArchivist(elsewhere.url).header(1, signal)).rejects.toThrow('status 302')
  const busy = await serve(context, '', 503)
  await expect(openArchivist(busy.url, { attempts: 2 }).header(1, signal)).rejects.toThrow('503')
  expect([large.requests(), broken.requests(), busy.requests()]).toEqual([2, 1, 2])
  expect(() => openArchivist('http://user:secret@host')).toThrow('must not contain a user or password')
  expect(() => openArchivist('ftp://host')).toThrow('must begin with http')
})

test('an archivist that sends slowly without an end is left', async (context) => {
  const server = fastify({ forceCloseConnections: true })
  context.onTestFinished(() => server.close())
  server.get('/*', (_request, reply) => {
    const drip = new Readable({ read() {} })
    const timer = setInterval(() => drip.push('a'), 10)
    reply.raw.once('close', () => clearInterval(timer))
    return reply.send(drip)
  })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  const archivist = openArchivist(url, { timeoutMs: 500, attempts: 2 })
  await expect(archivist.header(1, new AbortController().signal)).rejects.toThrow('more than 500 ms')
})

test('what is not a genesis is refused', async () => {
  const layer1 = { read: async () => ({ blocks: [] }) }
  const archivist = openArchivist('http://127.0.0.1:1')
  const output = { reference: { transactionId: new Uint8Array(32), index: 0 }, output: Uint8Array.of(0xff) }
  await expect(audit({ layer1, archivist, genesis: [output] })).rejects.toThrow(TypeError)
})
