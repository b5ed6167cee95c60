import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy in front of a service, with which a test interrupts and restores the service. */
export interface BreakableProxy {
  /** The service's address, through the proxy. */
  readonly url: string
  /** Cuts every connection and refuses new ones. */
  break(): Promise<void>
  /** Keeps connections open but forwards nothing. */
  freeze(): void
  mend(): Promise<void>
  close(): Promise<void>
}

const ports: Readonly<Record<string, number>> = {
  redis: 6379,
  rediss: 6379,
  postgres: 5432,
  postgresql: 5432,
}

/** @param serviceUrl of Redis or PostgreSQL */
export async function breakableProxy(serviceUrl: string): Promise<BreakableProxy> {
  const service = new URL(serviceUrl)
  const target = {
    host: service.hostname,
    port: Number(service.port || ports[service.protocol.slice(0, -1)]),
  }
  const sockets = new Set<Socket>()
  let frozen = false
  const server = createServer((client) => {
    const upstream = connect(target)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => {
        if (!frozen) to.write(chunk)
      })
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const stop = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  await listen(0)
  const { port } = server.address() as AddressInfo
  const url = new URL(service)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return {
    url: url.href,
    break: stop,
    freeze() {
      frozen = true
    },
    async mend() {
      frozen = false
      if (!server.listening) await listen(port)
    },
    close: stop,
  }
}
