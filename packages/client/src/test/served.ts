import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'vitest'
import { type Operation, operations } from '../api.js'
import { type ClientOptions, createClient } from '../index.js'

export type Handler = (
  request: IncomingMessage & { readonly text: string },
  response: ServerResponse,
  attempt: number,
) => void

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A server that answers as the handler says, and what it was asked. */
export async function servedAt(handler: Handler) {
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
  return { asked, url: `http://127.0.0.1:${port}` }
}

/** A client of such a server. */
export async function served(handler: Handler, options: ClientOptions = {}) {
  const { asked, url } = await servedAt(handler)
  return { asked, client: createClient(`${url}/behind/proxy/`, options) }
}

export function json(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

const fields = Object.values(operations).flatMap(({ answer = [] }: Operation) => answer)
/** Has the fields of every answer, and no values. */
export const anyAnswer: Readonly<Record<string, unknown>> = Object.fromEntries(
  fields.map((name) => [name, null]),
)

export const hash = 'ab'.repeat(32)
export const refused = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error) => error,
  )
