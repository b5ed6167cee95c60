import { createDevnet, type Devnet, type DevnetOptions, devnetApis } from '@ratatosk/devnet'
import { fastify } from 'fastify'

/** A layer 1 that the test owns. */
export interface TestLayer1 {
  readonly devnet: Devnet
  /** Settings with which a node reaches it. */
  readonly settings: Readonly<Record<string, string>>
  /** Base URL of its control API. */
  readonly controlUrl: string
  close(): Promise<void>
}

/** Slots and blocks are short, so that tests wait little. */
export async function testLayer1(options: Pick<DevnetOptions, 'genesis'> = {}): Promise<TestLayer1> {
  const devnet = await createDevnet({
    blockEveryMs: 50,
    slotLengthMs: 50,
    securityParameter: 1000,
    ...options,
  })
  const server = fastify({ forceCloseConnections: true })
  await server.register(devnetApis, { devnet, paths: { kupo: false, ogmios: false, control: '/devnet' } })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    devnet,
    settings: { LAYER1_PROVIDER: 'blockfrost', BLOCKFROST_URL: `${url}/blockfrost/api/v0` },
    controlUrl: `${url}/devnet`,
    async close() {
      await server.close()
      await devnet.close()
    },
  }
}
