import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import archivist from '@ratatosk/archivist'
import type { Archive } from '@ratatosk/block'
import fastify from 'fastify'
import { onTestFinished } from 'vitest'

/** Serves an archive until the test ends. Returns the base URL. */
export async function serve(archive: Archive): Promise<string> {
  const server = fastify({ forceCloseConnections: true })
  onTestFinished(() => server.close())
  await server.register(archivist, { archive, prefix: '/archivist' })
  return `${await server.listen({ host: '127.0.0.1', port: 0 })}/archivist`
}

/** Serves a peer with arbitrary responses until the test ends. Returns the base URL. */
export async function serveRaw(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer)
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
