import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Archive } from '@ratatosk/block'
import { CborWriter } from '@ratatosk/cbor'
import t, { type Test } from 'tap'
import { build } from './test/build.js'

const pieceSize = 65_536
const hash = new Uint8Array(28).fill(7)

/** An archive of one block of `pieces` transactions of 64 KiB; it counts the bytes read. */
async function largeArchive(
  t: Test,
  pieces: number,
  failAt = Number.POSITIVE_INFINITY,
  options: { maxReads?: number; stallTimeoutMs?: number } = {},
) {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const count = { taken: 0 }
  const transaction = new CborWriter().bytes(new Uint8Array(pieceSize).fill(0xa5)).toBytes()
  const archive: Archive = {
    byHash: async () => block,
    byHeight: async () => block,
    range: async () => [block],
    async *body() {
      try {
        yield new CborWriter().array(5).array(pieces).toBytes()
        for (; count.taken < pieces; count.taken++) {
          if (count.taken === failAt) throw new Error('the table is gone')
          yield transaction
        }
        yield Buffer.from('80808080', 'hex')
      } finally {
        end()
      }
    },
  }
  const { server, chain, log } = await build(t, archive, options)
  const { header } = chain.tip!
  const block = { headerHash: hash, height: 1n, header, merged: false }
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.server.address() as AddressInfo
  const ask = async (path: string, accept: string): Promise<IncomingMessage> => {
    const [response] = await once(get({ port, path, headers: { accept }, agent: false }), 'response')
    return response
  }
  return { count, ended, ask, log }
}

for (const [accept, factor] of [
  ['application/json', 2],
  ['application/cbor', 1],
] as const) {
  t.test(`streams a body of 128 MiB as ${accept} without holding it in memory`, async (t) => {
    const pieces = 2048
    const { count, ask } = await largeArchive(t, pieces)
    const response = await ask('/block/1/body', accept)
    let size = 0
    let ahead = 0
    for await (const chunk of response) {
      size += chunk.length
      // Bytes that were read from the archive and have not arrived here are in memory, on one side or the
      // other.
      ahead = Math.max(ahead, factor * count.taken * pieceSize - size)
      // A slow client.
      await new Promise((resolve) => setImmediate(resolve))
    }
    t.equal(response.statusCode, 200)
    t.equal(count.taken, pieces)
    t.ok(size > factor * pieces * pieceSize)
    t.ok(ahead < 24 * 1024 * 1024, `${Math.round(ahead / 1_048_576)} MiB ahead of the client`)
  })
}

t.test('stops reading the archive when the client disconnects', async (t) => {
  const { count, ended, ask } = await largeArchive(t, 100_000)
  const response = await ask('/blocks?from=1&to=1', 'application/json')
  await once(response, 'data')
  response.destroy()
  await ended
  t.ok(count.taken < 1000)
})

t.test('closes the connection when the archive fails after the first chunk', async (t) => {
  for (const accept of ['application/json', 'application/cbor']) {
    const { ask, log } = await largeArchive(t, 1000, 500)
    const response = await ask('/block/1', accept)
    t.equal(response.statusCode, 200)
    await t.rejects(async () => {
      for await (const _ of response);
    })
    t.notOk(response.complete)
    t.ok(
      log.some(({ err }) => err?.message === 'the table is gone'),
      'the reason is in the log',
    )
  }
})

t.test('answers 500 when the archive fails before the first chunk', async (t) => {
  const { ask } = await largeArchive(t, 1000, 0)
  const response = await ask('/block/1/body', 'application/cbor')
  t.equal(response.statusCode, 500)
  t.equal(response.headers.etag, undefined)
  t.equal(response.headers['cache-control'], undefined)
  let body = ''
  for await (const chunk of response) body += chunk
  t.equal(body, '{"error":"Something went wrong"}')
})

t.test(
  'refuses more concurrent bodies than maxReads with Retry-After, until one has been sent',
  async (t) => {
    const { ask, ended } = await largeArchive(t, 100_000, undefined, { maxReads: 1 })
    const first = await ask('/block/1', 'application/cbor')
    await once(first, 'data')
    first.pause()
    const refused = await ask('/blocks?from=1&to=1', 'application/json')
    t.equal(refused.statusCode, 503)
    t.equal(refused.headers['retry-after'], '1')
    refused.resume()
    const header = await ask('/block/1/header', 'application/json')
    t.equal(header.statusCode, 200, 'a header alone takes no place')
    header.resume()
    first.destroy()
    await ended
    const next = await ask('/block/1', 'application/cbor')
    t.equal(next.statusCode, 200)
    next.destroy()
  },
)

t.test('disconnects a client that reads nothing', async (t) => {
  const { ask, ended } = await largeArchive(t, 100_000, undefined, { stallTimeoutMs: 200 })
  const response = await ask('/block/1', 'application/cbor')
  await ended
  t.equal(response.statusCode, 200)
  response.destroy()
})
