import { once } from 'node:events'
import { createServer } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { StartError } from '../errors.js'
import type { Settings } from '../settings/schema.js'
import { codeOf } from '../storage/data-directory.js'

/** A port that a process listens on, and the setting that names it. */
export interface Place {
  readonly host: string
  readonly port: number
  readonly setting: 'PORT' | 'DEVNET_PORT'
}

/** Checks that the node can listen, before a start creates anything. @throws StartError `NODE_LISTEN` */
export async function checkAddress(settings: Settings): Promise<void> {
  const { HOST: host, PORT, DEVNET_PORT } = settings
  await checkPlace({ host, port: PORT, setting: 'PORT' })
  if (DEVNET_PORT === PORT && PORT !== 0)
    throw new StartError('NODE_LISTEN', `PORT and DEVNET_PORT are both ${PORT}: set different ports.`)
  // Processes on one PostgreSQL may name the same port: only one of them hosts the devnet.
  if (DEVNET_PORT === undefined || !hasOwnDevnet(settings)) return
  await checkPlace({ host, port: DEVNET_PORT, setting: 'DEVNET_PORT' })
}

/** Whether the devnet is in the store of this process alone. */
function hasOwnDevnet({ NODE_ROLE, LAYER1_PROVIDER, DATABASE_URL }: Settings): boolean {
  return NODE_ROLE === 'all' && LAYER1_PROVIDER === 'devnet' && DATABASE_URL === undefined
}

/** Checks that a port is free. @throws StartError `NODE_LISTEN` */
export async function checkPlace(place: Place): Promise<void> {
  const probe = createServer()
  try {
    const listening = once(probe, 'listening')
    probe.listen(place)
    await listening
  } catch (cause) {
    throw listenError(cause, place)
  }
  await new Promise((resolve) => probe.close(resolve))
}

/** Listens; returns the base URL, such as `http://127.0.0.1:3000`. @throws StartError `NODE_LISTEN` */
export async function listen(
  server: FastifyInstance,
  { HOST, PORT, MAX_CONNECTIONS }: Pick<Settings, 'HOST' | 'PORT' | 'MAX_CONNECTIONS'>,
): Promise<string> {
  try {
    // By default 511 connections may wait to be accepted, and the system resets some of a larger burst.
    await server.listen({ host: HOST, port: PORT, backlog: MAX_CONNECTIONS })
  } catch (cause) {
    throw listenError(cause, { host: HOST, port: PORT, setting: 'PORT' })
  }
  const address = server.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : PORT
  return urlOf(HOST, port)
}

/** A server on the unspecified address is reached through loopback. */
function urlOf(host: string, port: number): string {
  const name =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

/** Whether what listens on PORT of HOST answers as a node. */
export async function isRunning({ HOST, PORT }: Pick<Settings, 'HOST' | 'PORT'>): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(5000)
    const { status, headers, body } = await fetch(`${urlOf(HOST, PORT)}/health/live`, { signal })
    await body?.cancel()
    return status === 200 && headers.has('x-request-id')
  } catch {
    return false
  }
}

/** Why a process cannot listen at a place, with what to do. */
export const listenError = (cause: unknown, place: Place): StartError =>
  new StartError('NODE_LISTEN', messageOf(cause, place), { cause })

function messageOf(cause: unknown, { host, port, setting }: Place): string {
  const code = codeOf(cause)
  switch (code) {
    case 'EADDRINUSE':
      return (
        `${setting} is ${port}: another process listens on this port. Stop it, or set another ` +
        `${setting}; 0 takes a free port.`
      )
    case 'EACCES':
      return `${setting} is ${port}: this user may not listen on this port. Use 1024 or higher.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `HOST is "${host}": this machine has no such address.`
    default:
      return `The node cannot listen on ${host}, port ${port} (${code}).`
  }
}
