import { once } from 'node:events'
import { Agent, createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { askPeer, type PeerRequest } from './peer-request.js'

async function serve(
  answer: RequestListener,
): Promise<Pick<PeerRequest<number>, 'url' | 'agent' | 'signal'>> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => {
    agent.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, agent, signal: new AbortController().signal }
}

function countingFeed() {
  let bytes = 0
  return {
    push(piece: Uint8Array) {
      bytes += piece.length
    },
    end: () => bytes,
  }
}

/** Sends a piece again and again. */
const dripping =
  (bytes: number, everyMs: number): RequestListener =>
  (_request, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write(Buffer.alloc(bytes)), everyMs)
    response.once('close', () => clearInterval(timer))
  }

test('a peer that keeps sending is left after the total limit', async () => {
  const feed = countingFeed()
  const call = await serve(dripping(65_536, 20))
  await expect(askPeer({ ...call, feed, stallMs: 60_000, timeoutMs: 500 })).rejects.toMatchObject({
    code: 'FOLLOWER_PEER_ANSWER',
    message: expect.stringContaining('it took more than 500 ms'),
  })
  expect(feed.end()).toBeGreaterThan(0)
})

test('a peer that sends byte by byte is left, although each byte asks for room', async () => {
  const call = await serve(dripping(1, 20))
  const room = async () => undefined
  await expect(
    askPeer({ ...call, feed: countingFeed(), room, stallMs: 300, timeoutMs: 60_000 }),
  ).rejects.toMatchObject({ message: expect.stringMatching(/^it sent \d+ bytes in 300 ms$/) })
})

test('a peer is not blamed for the time in which this process has no room', async () => {
  const call = await serve((_request, response) => response.writeHead(200).end(Buffer.alloc(10)))
  const room = (bytes: number) => sleep(bytes > 0 ? 1000 : 0)
  expect(await askPeer({ ...call, feed: countingFeed(), room, stallMs: 200, timeoutMs: 800 })).toBe(10)
})

test('a peer that switches the protocol is left', async () => {
  const call = await serve(({ socket }) => {
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: none\r\n\r\n')
  })
  const asked = askPeer({ ...call, feed: countingFeed(), stallMs: 60_000, timeoutMs: 60_000 })
  await expect(asked).rejects.toMatchObject({ message: 'it answered with status 101' })
})
