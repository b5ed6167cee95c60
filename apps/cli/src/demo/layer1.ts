import { createDevnet, type Devnet, devnetApis, type Genesis } from '@ratatosk/devnet'
import { fastify } from 'fastify'

/** A layer 1 of a demo, in this process. */
export interface DemoLayer1 {
  readonly devnet: Devnet
  /** With which nodes reach it. */
  readonly settings: Readonly<Record<string, string>>
  close(): Promise<void>
}

/** Slots and blocks of layer 1, in milliseconds: short, so that a demo waits little. */
const slotMs = 200

/** Starts a devnet, and serves it to nodes. @param genesis by default that of the test wallets */
export async function startLayer1(genesis?: Genesis): Promise<DemoLayer1> {
  const devnet = await createDevnet({
    ...(genesis && { genesis }),
    slotLengthMs: slotMs,
    blockEveryMs: slotMs,
  })
  const server = fastify({ forceCloseConnections: true })
  const close = () => server.close().finally(() => devnet.close())
  try {
    await server.register(devnetApis, { devnet, paths: { kupo: false, ogmios: false } })
    const url = await server.listen({ host: '127.0.0.1', port: 0 })
    return {
      devnet,
      settings: { LAYER1_PROVIDER: 'blockfrost', BLOCKFROST_URL: `${url}/blockfrost/api/v0` },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
