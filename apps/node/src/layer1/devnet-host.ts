import { createDevnet, createSqlStore, type Devnet, devnetFaces, type SqlConnection } from '@ratatosk/devnet'
import { fastify } from 'fastify'
import type { Logger } from 'pino'
import { ClosingStack } from '../parts/closing-stack.js'
import type { Settings } from '../settings/schema.js'

/** A devnet in this process. */
export interface HostedDevnet {
  readonly devnet: Devnet
  /** Where its HTTP interfaces are, such as `http://127.0.0.1:1337`; undefined where they are not served. */
  readonly url: string | undefined
  close(): Promise<void>
}

export interface HostOptions {
  readonly settings: Settings
  /** Where the chain is kept. */
  readonly connection: SqlConnection
  /** Served even where the settings ask for no port: other processes come by it. */
  readonly served: boolean
  readonly log: Logger
}

/** Opens the devnet that a database keeps, or begins it. */
export async function hostDevnet({ settings, connection, served, log }: HostOptions): Promise<HostedDevnet> {
  const { DATABASE_SCHEMA, DEVNET_PORT, HOST } = settings
  const closing = new ClosingStack()
  try {
    const devnet = await createDevnet({
      store: createSqlStore({ connection, schema: `${DATABASE_SCHEMA}_devnet` }),
      onError: (err) => log.warn({ err }, 'The devnet could not make a block; it tries again'),
    })
    closing.defer(() => devnet.close())
    const url =
      served || DEVNET_PORT !== undefined ? await serve(devnet, HOST, DEVNET_PORT ?? 0, closing) : undefined
    return { devnet, url, close: () => closing.close() }
  } catch (error) {
    await closing.close()
    throw error
  }
}

async function serve(devnet: Devnet, host: string, port: number, closing: ClosingStack): Promise<string> {
  // Some clients double a slash in their paths.
  const server = fastify({ forceCloseConnections: true, routerOptions: { ignoreDuplicateSlashes: true } })
  closing.defer(() => server.close())
  await server.register(devnetFaces, { devnet })
  return server.listen({ host, port })
}
