import type { FastifyInstance } from 'fastify'
import { StartError } from '../errors.js'
import type { Settings } from '../settings/schema.js'

/**
 * Begins to serve.
 *
 * @returns the address to call the server at, such as `http://127.0.0.1:3000`
 * @throws StartError `NODE_LISTEN`
 */
export async function listen(
  server: FastifyInstance,
  { HOST, PORT }: Pick<Settings, 'HOST' | 'PORT'>,
): Promise<string> {
  try {
    await server.listen({ host: HOST, port: PORT })
  } catch (cause) {
    throw new StartError('NODE_LISTEN', sentence(cause, HOST, PORT), { cause })
  }
  const address = server.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : PORT
  // Whoever listens on every address is reached at this machine's own.
  const host =
    HOST === '0.0.0.0' ? '127.0.0.1' : HOST === '::' ? '[::1]' : HOST.includes(':') ? `[${HOST}]` : HOST
  return `http://${host}:${port}`
}

function sentence(cause: unknown, host: string, port: number): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  switch (code) {
    case 'EADDRINUSE':
      return `PORT is ${port}: something else listens there already. Stop it, or choose another port; 0 takes a free one.`
    case 'EACCES':
      return `PORT is ${port}: this user may not listen there. Ports from 1024 on are open to everybody.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `HOST is "${host}": this machine has no such address.`
    default:
      return `The node cannot listen on ${host}, port ${port} (${code ?? cause}).`
  }
}
