import { once } from 'node:events'
import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { askPeer } from './peer-request.js'

test('a peer that keeps sending is left after the total limit', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write(Buffer.alloc(65_536)), 20)
    response.once('close', () => clearInterval(timer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => {
    agent.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  let bytes = 0
  const asked = askPeer({
    url: `http://127.0.0.1:${port}/`,
    agent,
    feed: {
      push(piece) {
        bytes += piece.length
      },
      end: () => bytes,
    },
    stallMs: 60_000,
    timeoutMs: 500,
    signal: new AbortController().signal,
  })
  await expect(asked).rejects.toMatchObject({
    code: 'FOLLOWER_PEER_ANSWER',
    message: expect.stringContaining('it took more than 500 ms'),
  })
  expect(bytes).toBeGreaterThan(0)
})
