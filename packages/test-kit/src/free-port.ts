import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port on which nothing listens. */
export async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return String(typeof address === 'object' ? address?.port : undefined)
}
