import { blockVersion } from '@ratatosk/block'
import { apis, type ChainView, protocolParametersJson } from '@ratatosk/chain-apis'
import { devWalletScript, faultOfScriptUrl } from '@ratatosk/client/wallet/script'
import { testWallets } from '@ratatosk/devnet'
import { sameOriginOnly } from '@ratatosk/http'
import { type Finality, finalities, openLayer2Chain } from '@ratatosk/layer2/chain'
import { profileLimits } from '@ratatosk/ledger'
import { maxBlockBytes } from '@ratatosk/sequencer'
import type { NetworkInfo } from '@ratatosk/tx-query/network'
import type { FastifyPluginAsync } from 'fastify'
import { nodeVersion } from '../command-line.js'
import { present } from '../context.js'
import type { Node } from '../node.js'
import { refuseForeignSockets } from '../server/cross-origin.js'
import type { Settings } from '../settings/schema.js'

const prefixes: Readonly<Record<Finality, string>> = {
  accepted: '/l2',
  committed: '/l2/committed',
  merged: '/l2/merged',
}

const paths = { blockfrost: '/blockfrost/api/v0', kupo: '/kupo', ogmios: '/ogmios' } as const

interface Layer2ApisOptions {
  readonly views: ReadonlyMap<Finality, ChainView>
  readonly settings: Pick<
    Settings,
    'CORS_ORIGIN' | 'MAX_CONNECTIONS' | 'OGMIOS_STRICT_RPC' | 'OGMIOS_VERSION' | 'STALL_TIMEOUT_MS'
  >
}

/** Serves layer 2 by the APIs of layer 1, once for each finality. */
export const layer2Apis: FastifyPluginAsync<Layer2ApisOptions> = async (server, { views, settings }) => {
  refuseForeignSockets(server, settings)
  for (const [finality, chain] of views) {
    await server.register(apis, {
      chain,
      prefix: prefixes[finality],
      paths,
      ogmiosVersion: settings.OGMIOS_VERSION,
      ogmiosStrictRpc: settings.OGMIOS_STRICT_RPC,
      // Clients of other routes always find connections.
      maxWebSockets: Math.ceil(settings.MAX_CONNECTIONS / 2),
      stallTimeoutMs: settings.STALL_TIMEOUT_MS,
    })
  }
}

export async function openLayer2(node: Node): Promise<Layer2ApisOptions> {
  const { settings, network, parameters, clock, log, server, reads, submissions, scripts } = node
  const index = present(node.index, 'index')
  const layer2 = openLayer2Chain({
    store: reads,
    index,
    queue: submissions,
    ...scripts,
    maxTransactionSize: settings.MAX_TX_SIZE,
    submitTimeoutMs: settings.LAYER2_SUBMIT_TIMEOUT_MS,
    log,
    parameters,
    slots: network.slots,
    networkMagic: network.magic,
    networkId: network.id,
    maxBlockSize: maxBlockBytes,
    securityParameter: Math.max(1, Math.ceil(settings.MATURITY_WINDOW_MS / settings.COMMIT_INTERVAL_MS)),
    now: clock,
  })
  // Before the server closes, which waits for requests.
  server.addHook('preClose', async () => layer2.close())
  return { views: new Map(finalities.map((each) => [each, layer2.view(each)])), settings }
}

/** The body of `GET /network`. */
export function networkInfo({ settings, network, parameters }: Node): NetworkInfo {
  const { zeroTime, zeroSlot, slotLength } = network.slots
  return {
    network: network.name,
    networkId: network.id,
    networkMagic: network.magic,
    slotClock: { zeroTime: Number(zeroTime), zeroSlot: Number(zeroSlot), slotLength },
    protocolParameters: protocolParametersJson(parameters, maxBlockBytes),
    limits: profileLimits,
    maturityWindow: settings.MATURITY_WINDOW_MS,
    versions: { node: nodeVersion(), protocol: Number(blockVersion) },
    apis: {
      blockfrost: pathsOf(paths.blockfrost),
      kupo: pathsOf(paths.kupo),
      ogmios: pathsOf(paths.ogmios),
    },
  }
}

/** Serves the devnet's public test wallets to pages, as a CIP-30 wallet on layer 2. */
export const devWallet: FastifyPluginAsync = async (server) => {
  const options = { wallets: testWallets.wallets, url: `${prefixes.accepted}${paths.blockfrost}` }
  // A page of any origin may load a script; none needs to read its text.
  server.get('/dev-wallet.js', { exposeHeadRoute: false, config: sameOriginOnly }, async ({ url }, reply) => {
    const fault = faultOfScriptUrl(url, options.wallets)
    if (fault !== undefined) return reply.code(400).send({ error: fault })
    return reply.type('text/javascript; charset=utf-8').send(await devWalletScript(options))
  })
}

function pathsOf(path: string): Readonly<Record<Finality, string>> {
  return {
    accepted: prefixes.accepted + path,
    committed: prefixes.committed + path,
    merged: prefixes.merged + path,
  }
}
