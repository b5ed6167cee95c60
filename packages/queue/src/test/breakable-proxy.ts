import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy before a server, so that a test can take the server away and bring it back. */
export interface BreakableProxy {
  readonly port: number
  /** Cuts every connection and refuses new ones. */
  break(): Promise<void>
  /** Keeps connections open but lets nothing through any more. */
  freeze(): void
  mend(): Promise<void>
  close(): Promise<void>
}

export async function breakableProxy(target: { host: string; port: number }): Promise<BreakableProxy> {
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
  return {
    port,
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
