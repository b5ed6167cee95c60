import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { archiveOfBlocks } from '@ratatosk/archivist'
import { SourceChain } from '@ratatosk/test-kit'
import { describe, expect, it } from 'vitest'
import { follow, serve, serveRaw } from './test/following.js'

type Answer = (response: ServerResponse, honest: Buffer, request: IncomingMessage) => void

const cbor = { 'content-type': 'application/cbor' }

/** Everything right but the bodies (or the headers): these are what `answer` makes of the honest answer. */
async function hostile(honest: string, answer: Answer, part: 'body' | 'header' = 'body'): Promise<string> {
  return serveRaw(async (request, response) => {
    const path = (request.url ?? '').replace('/archivist', '')
    const upstream = await fetch(honest + path, { headers: { accept: 'application/cbor' } })
    const bytes = Buffer.from(await upstream.arrayBuffer())
    if (upstream.ok && path.endsWith(part)) answer(response, bytes, request)
    else response.writeHead(upstream.status, cbor).end(bytes)
  })
}

async function chainOf(blocks: number): Promise<SourceChain> {
  const chain = new SourceChain()
  for (let n = 0; n < blocks; n++) await chain.commit(4)
  return chain
}

/** Sends pieces until the other side hangs up; counts them. */
function flood(response: ServerResponse, piece: Buffer, most: number): { sent: number } {
  const count = { sent: 0 }
  const more = () => {
    while (count.sent < most && !response.destroyed) {
      count.sent += piece.length
      if (!response.write(piece)) return
    }
    response.end()
  }
  response.on('drain', more)
  response.on('error', () => undefined)
  more()
  return count
}

const flip = (bytes: Buffer, at: number) => {
  const flipped = Buffer.from(bytes)
  flipped[at]! ^= 1 << (at % 8)
  return flipped
}

const tenGigabytes = 10_000_000_000

describe('backs off from a peer, logs it, and uses another peer when a body arrives', () => {
  const cases: Record<string, Answer> = {
    'with a flipped byte at the start': (response, bytes) =>
      response.writeHead(200, cbor).end(flip(bytes, 6)),
    'with a flipped byte in a transaction': (response, bytes) =>
      response.writeHead(200, cbor).end(flip(bytes, 60)),
    'with a flipped byte in a signature': (response, bytes) =>
      response.writeHead(200, cbor).end(flip(bytes, bytes.indexOf('5840', 'hex') + 20)),
    'with a flipped byte in an output': (response, bytes) =>
      response.writeHead(200, cbor).end(flip(bytes, bytes.indexOf('808064', 'hex') - 2)),
    'with a flipped byte in the hash': (response, bytes) =>
      response.writeHead(200, cbor).end(flip(bytes, bytes.length - 15)),
    truncated: (response, bytes) => response.writeHead(200, cbor).end(bytes.subarray(0, bytes.length / 2)),
    'without their last byte': (response, bytes) => response.writeHead(200, cbor).end(bytes.subarray(0, -1)),
    'with an additional byte': (response, bytes) =>
      response.writeHead(200, cbor).end(Buffer.concat([bytes, Buffer.of(0)])),
    'over a connection that breaks': (response, bytes) => {
      response.writeHead(200, { ...cbor, 'content-length': bytes.length })
      response.write(bytes.subarray(0, 100), () => response.destroy())
    },
    'not at all, because the connection closes': (response) => void response.destroy(),
    'not at all, but in an empty response': (response) => response.writeHead(200, cbor).end(),
    'not at all, because the peer stalls': () => undefined,
    'not at all, because the peer stalls after the head': (response) =>
      void response.writeHead(200, cbor).write(''),
    'byte by byte': (response, bytes) => {
      response.writeHead(200, cbor)
      let at = 0
      const drip = setInterval(() => response.write(bytes.subarray(at, ++at)), 20)
      response.on('close', () => clearInterval(drip))
    },
    'as JSON': (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"body":{}}'),
    'with status 500': (response) => response.writeHead(500).end(),
    'in another protocol': ({ socket }) =>
      void socket?.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: none\r\n\r\n'),
    'through a redirect': (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  }

  it.each(Object.entries(cases))('%s', async (_what, answer) => {
    const chain = await chainOf(3)
    const honest = await serve(archiveOfBlocks(chain))
    const bad = await hostile(honest, answer)
    // A body of these chains has about 2 KB, so an honest peer does not stall for 300 ms.
    const { follower, archive, log } = await follow(chain, [bad, honest], { stallMs: 300 })
    await follower.synced()
    expect((await archive.range(1n, 9n)).map(({ headerHash }) => headerHash)).toEqual(
      chain.blocks.map(({ headerHash }) => headerHash),
    )
    expect(log.backedOff.map(({ peer }) => peer)).toContain(bad)
    expect(log.backedOff.map(({ peer }) => peer)).not.toContain(honest)
  })

  it('of another block under the requested hash', async () => {
    const chain = await chainOf(3)
    const honest = await serve(archiveOfBlocks(chain))
    const [, second] = chain.blocks
    const id = Buffer.from(second!.headerHash).toString('hex')
    const other = await fetch(`${honest}/block/${id}/body`, { headers: { accept: 'application/cbor' } })
    const bytes = Buffer.from(await other.arrayBuffer())
    const bad = await hostile(honest, (response, asked) => {
      // The end of the response names the requested block.
      const end = asked.subarray(asked.lastIndexOf('6468617368', undefined, 'hex'))
      const start = bytes.subarray(0, bytes.lastIndexOf('6468617368', undefined, 'hex'))
      response.writeHead(200, cbor).end(Buffer.concat([start, end]))
    })
    const { follower, archive, log } = await follow(chain, [bad, honest])
    await follower.synced()
    expect((await archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
    expect(log.backedOff[0]).toMatchObject({
      peer: bad,
      reason: 'The transactions do not have the transactions_root of the header',
    })
  })

  const floods: Record<string, (honest: Buffer) => { readonly head: Buffer; readonly piece: Buffer }> = {
    'ten gigabytes of zeros': () => ({ head: Buffer.alloc(0), piece: Buffer.alloc(1 << 20) }),
    'ten gigabytes of zeros in one transaction': () => ({
      head: Buffer.from('a364626f647985815b00000002540be400', 'hex'),
      piece: Buffer.alloc(1 << 20),
    }),
    'ten gigabytes of transactions': () => ({
      head: Buffer.from('a364626f647985993fff', 'hex'),
      piece: Buffer.concat([Buffer.from('5a00010000', 'hex'), Buffer.alloc(65_536)]),
    }),
  }

  it.each(Object.entries(floods))('as %s', async (_what, make) => {
    const chain = await chainOf(2)
    const honest = await serve(archiveOfBlocks(chain))
    const counts: { sent: number }[] = []
    const bad = await hostile(honest, (response, bytes) => {
      const { head, piece } = make(bytes)
      response.writeHead(200, cbor)
      response.write(head)
      counts.push(flood(response, piece, tenGigabytes))
    })
    const { follower, archive, log } = await follow(chain, [bad, honest], { maxBodyBytes: 4_000_000 })
    await follower.synced()
    expect((await archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
    expect(log.backedOff[0]).toMatchObject({ peer: bad })
    expect(counts.length).toBeGreaterThan(0)
    // More than the limit, because socket buffers fill before the peer notices.
    for (const { sent } of counts) expect(sent).toBeLessThan(40_000_000)
  })

  it('as a compression bomb', async () => {
    const chain = await chainOf(2)
    const honest = await serve(archiveOfBlocks(chain))
    const bomb = gzipSync(
      Buffer.concat([Buffer.from('a364626f647985815a03ffffff', 'hex'), Buffer.alloc(0x03ffffff)]),
    )
    const bad = await hostile(honest, (response) =>
      response.writeHead(200, { ...cbor, 'content-encoding': 'gzip' }).end(bomb),
    )
    const { follower, archive, log } = await follow(chain, [bad, honest], { maxBodyBytes: 4_000_000 })
    await follower.synced()
    expect((await archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
    expect(log.backedOff[0]).toMatchObject({
      peer: bad,
      reason: expect.stringMatching(/an encoding that was not requested/),
    })
  })

  it('with a single flipped byte, at any position', async () => {
    const chain = await chainOf(1)
    const honest = await serve(archiveOfBlocks(chain))
    const id = Buffer.from(chain.tip!.headerHash).toString('hex')
    const answer = await fetch(`${honest}/block/${id}/body`, { headers: { accept: 'application/cbor' } })
    const length = (await answer.arrayBuffer()).byteLength
    // The last byte is the height, which the header does not contain.
    const places = Array.from({ length: 60 }, (_, n) => Math.floor((n * (length - 1)) / 60))
    let place = 0
    const bad = await hostile(honest, (response, bytes) =>
      response.writeHead(200, cbor).end(flip(bytes, places[place]!)),
    )
    const { follower, archive, log } = await follow(chain, [bad], { backoffMs: 0 })
    for (; place < places.length - 1; place++) {
      const before = log.backedOff.length
      follower.synced().catch(() => undefined)
      await log.line(() => log.backedOff.length > before)
    }
    expect(await archive.tip()).toBeUndefined()
  })
})

describe('headers that are older than the state queue', () => {
  const cases: Record<string, Answer> = {
    'of another block': (response, bytes) => response.writeHead(200, cbor).end(flip(bytes, 10)),
    'with another hash': (response, bytes) => response.writeHead(200, cbor).end(flip(bytes, 100)),
    'that never end': (response) => {
      response.writeHead(200, cbor)
      flood(response, Buffer.alloc(1 << 20), tenGigabytes)
    },
    'from a peer that stalls': () => undefined,
  }

  it.each(Object.entries(cases))('%s are refused', async (_what, answer) => {
    const chain = await chainOf(8)
    chain.merge(8)
    const honest = await serve(archiveOfBlocks(chain))
    const bad = await hostile(honest, answer, 'header')
    const { follower, archive, log } = await follow(chain, [bad, honest], { stallMs: 300 })
    await follower.synced()
    expect((await archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
    expect(new Set(log.backedOff.map(({ peer }) => peer))).toEqual(new Set([bad]))
  })

  it('are found by their hashes when a peer claims wrong heights', async () => {
    const chain = await chainOf(8)
    chain.merge(8)
    const honest = await serve(archiveOfBlocks(chain))
    // The height is the last byte.
    const liar = await hostile(
      honest,
      (response, bytes) => response.writeHead(200, cbor).end(Buffer.from(bytes).fill(3, bytes.length - 1)),
      'header',
    )
    const { follower, archive } = await follow(chain, [liar])
    await follower.synced()
    expect((await archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
    expect((await archive.tip())?.height).toBe(8n)
  })
})

describe('a peer', () => {
  it('is asked again after a backoff that doubles with each failure', async () => {
    const chain = await chainOf(1)
    const honest = await serve(archiveOfBlocks(chain))
    let failures = 0
    const bad = await hostile(honest, (response, bytes) => {
      if (++failures > 4) response.writeHead(200, cbor).end(bytes)
      else response.writeHead(200, cbor).end(bytes.subarray(1))
    })
    const { follower, archive, log } = await follow(chain, [bad], { backoffMs: 1 })
    await follower.synced()
    expect((await archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
    expect(log.backedOff.map(({ backoffMs }) => backoffMs)).toEqual([1, 2, 4, 8])
    expect(log.lines.map(({ message }) => message)).toContain('No peer has the body of block 1')
    expect(log.lines.at(-1)?.message).toBe('Following layer 1 again')
  })

  it('that has lied is asked for one thing at a time until it has served a right body', async () => {
    const chain = await chainOf(8)
    const honest = await serve(archiveOfBlocks(chain))
    let lies = 0
    let [asked, mostAsked, mostDoubted] = [0, 0, 0]
    const bad = await serveRaw(async (request, response) => {
      const path = (request.url ?? '').replace('/archivist', '')
      const isBody = path.endsWith('body')
      if (isBody) {
        mostAsked = Math.max(mostAsked, ++asked)
        // Also when the follower leaves.
        response.on('close', () => asked--)
        // Those of the first four were asked for before any of them lied.
        if (lies >= 4 && lies < 8) mostDoubted = Math.max(mostDoubted, asked)
      }
      const isLie = isBody && lies++ < 8
      const upstream = await fetch(honest + path, { headers: { accept: 'application/cbor' } })
      const bytes = Buffer.from(await upstream.arrayBuffer())
      await setTimeout(50)
      response.writeHead(upstream.status, cbor).end(isLie ? flip(bytes, 60) : bytes)
    })
    const { follower, archive } = await follow(chain, [bad], { backoffMs: 1, concurrency: 4 })
    await follower.synced()
    expect((await archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
    expect(mostAsked).toBeGreaterThan(1)
    expect(mostDoubted).toBe(1)
  })

  it('does not back off when it closes an idle connection', async () => {
    const chain = await chainOf(6)
    const honest = await serve(archiveOfBlocks(chain))
    const used = new WeakSet<object>()
    let closed = 0
    const closing = await hostile(honest, (response, bytes, { socket }) => {
      if (used.has(socket)) {
        closed++
        socket.resetAndDestroy()
      } else response.writeHead(200, cbor).end(bytes)
      used.add(socket)
    })
    const { follower, archive, log } = await follow(chain, [closing], { concurrency: 1 })
    await follower.synced()
    expect((await archive.tip())?.headerHash).toEqual(chain.tip!.headerHash)
    expect(closed).toBeGreaterThan(0)
    expect(log.backedOff).toEqual([])
  })

  it.each(['ftp://host/', 'host:3000', '', 'http://user:secret@host/'])(
    'cannot have the URL %j',
    async (address) => {
      const chain = await chainOf(0)
      const opening = follow(chain, [address])
      await expect(opening).rejects.toThrow(TypeError)
      await expect(opening).rejects.not.toThrow(/secret/)
    },
  )
})
