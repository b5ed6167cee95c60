import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LocalServer {
  readonly url: string
  readonly requests: readonly Pick<IncomingMessage, 'method' | 'url' | 'headers'>[]
  close(): Promise<void>
}

/** A server of one test, on a port of its own. */
export async function serve(answer: RequestListener): Promise<LocalServer> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Answers each path with its JSON, everything else with 404. */
export function jsonBy(bodies: Readonly<Record<string, unknown>>): RequestListener {
  return (request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    const known = Object.hasOwn(bodies, path)
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(known ? bodies[path] : { status_code: 404, message: 'not found' }))
  }
}
