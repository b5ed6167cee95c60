import pg from 'pg'

const reconnectMs = 1000

/** A session for LISTEN, opened by the first subscription and reopened a second after it is lost. */
export function postgresListener(config: pg.ClientConfig) {
  const listeners = new Map<string, ((message: string) => void)[]>()
  let session: Promise<pg.Client> | undefined
  let closed = false

  async function open(): Promise<pg.Client> {
    const client = new pg.Client(config)
    client.on('notification', ({ channel, payload = '' }) => {
      for (const listener of listeners.get(channel) ?? []) listener(payload)
    })
    client.on('error', () => undefined)
    client.on('end', reopen)
    await client.connect()
    for (const channel of listeners.keys()) await listen(client, channel)
    return client
  }

  function reopen(): void {
    if (closed) return
    session = undefined
    setTimeout(() => {
      if (closed || session !== undefined) return
      session = open()
      session.catch(reopen)
    }, reconnectMs).unref()
  }

  return {
    async subscribe(channel: string, listener: (message: string) => void): Promise<void> {
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener])
      if (session === undefined) {
        session = open()
        await session
      } else {
        await listen(await session, channel)
      }
    },
    async close(): Promise<void> {
      closed = true
      await session?.then((client) => client.end()).catch(() => undefined)
    },
  }
}

async function listen(client: pg.Client, channel: string): Promise<void> {
  await client.query(`LISTEN ${client.escapeIdentifier(channel)}`)
}
