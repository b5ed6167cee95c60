import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** A TCP proxy before a service, so that a test can take the service away and bring it back. */
export interface BreakableProxy {
  /** The service's address, through the proxy. */
  readonly url: string
  /** Cuts every connection and refuses new ones. */
  break(): Promise<void>
  mend(): Promise<void>
}

export async function breakableProxy(t: Test, serviceUrl: string): Promise<BreakableProxy> {
  const service = new URL(serviceUrl)
  const port = Number(service.port || (service.protocol.startsWith('redis') ? 6379 : 5432))
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, service.hostname)
    client.pipe(upstream).pipe(client)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
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
  t.teardown(stop)
  const { port: own } = server.address() as AddressInfo
  const url = new URL(service)
  url.hostname = '127.0.0.1'
  url.port = String(own)
  return { url: url.href, break: stop, mend: () => listen(own) }
}
