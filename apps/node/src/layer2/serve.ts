import { protocolVersion } from '@ratatosk/block'
import { apis, protocolParametersJson } from '@ratatosk/chain-apis'
import { devWalletScript } from '@ratatosk/dev-wallet/script'
import { testWallets } from '@ratatosk/devnet'
import { sameOriginOnly } from '@ratatosk/http'
import { type Finality, finalities, openLayer2Chain } from '@ratatosk/layer2-chain'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import type { LedgerIndex } from '@ratatosk/ledger-index'
import { type NetworkInfo, network as networkPlugin } from '@ratatosk/network'
import type { SubmissionQueue } from '@ratatosk/queue'
import { maxBlockBytes } from '@ratatosk/sequencer'
import type { FastifyInstance } from 'fastify'
import { nodeVersion } from '../command-line.js'
import type { NodeContext } from '../context.js'
import { refuseForeignSockets } from '../server/cross-origin.js'
import type { Storage } from '../storage/open-storage.js'

/** Where the APIs of a finality are. */
const prefixes: Readonly<Record<Finality, string>> = {
  accepted: '/l2',
  committed: '/l2/committed',
  merged: '/l2/merged',
}

const paths = { blockfrost: '/blockfrost/api/v0', kupo: '/kupo', ogmios: '/ogmios' } as const

/** The most evaluations that wait; they cost strangers no fee. */
const maxWaitingEvaluations = 32

/** Serves layer 2 by the APIs of layer 1, once for each finality, and `GET /network`. */
export async function serveLayer2(
  server: FastifyInstance,
  { settings, network, parameters, clock, log, closing }: NodeContext,
  { store }: Storage,
  index: LedgerIndex,
  queue: Pick<SubmissionQueue, 'add'>,
): Promise<void> {
  // A thread of its own, so that it takes none from validation.
  const evaluator = createEvaluator({ threads: 1, queueLimit: maxWaitingEvaluations })
  closing.defer(() => evaluator.close())
  const layer2 = openLayer2Chain({
    store,
    index,
    queue,
    evaluator,
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
  await server.register(async (scope) => {
    refuseForeignSockets(scope, settings)
    for (const finality of finalities) {
      await scope.register(apis, {
        chain: layer2.view(finality),
        prefix: prefixes[finality],
        paths,
        // Clients of other routes always find connections.
        maxWebSockets: Math.ceil(settings.MAX_CONNECTIONS / 2),
        stallTimeoutMs: settings.STALL_TIMEOUT_MS,
      })
    }
  })
  if (network.name === 'devnet') serveDevWallet(server)
  await server.register(networkPlugin, { info: networkInfo() })

  function networkInfo(): NetworkInfo {
    const { zeroTime, zeroSlot, slotLength } = network.slots
    return {
      network: network.name,
      networkId: network.id,
      networkMagic: network.magic,
      slotClock: { zeroTime: Number(zeroTime), zeroSlot: Number(zeroSlot), slotLength },
      protocolParameters: protocolParametersJson(parameters, maxBlockBytes),
      maturityWindow: settings.MATURITY_WINDOW_MS,
      versions: { node: nodeVersion(), protocol: Number(protocolVersion) },
      apis: {
        blockfrost: pathsOf(paths.blockfrost),
        kupo: pathsOf(paths.kupo),
        ogmios: pathsOf(paths.ogmios),
      },
    }
  }
}

/** Serves the devnet's public test wallets to pages, as a CIP-30 wallet on layer 2. */
function serveDevWallet(server: FastifyInstance): void {
  const options = { wallets: testWallets.wallets, url: `${prefixes.accepted}${paths.blockfrost}` }
  // A page of any origin may load a script; none needs to read its text.
  server.get('/dev-wallet.js', { exposeHeadRoute: false, config: sameOriginOnly }, async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(await devWalletScript(options)),
  )
}

/**
 * For Fastify's `rewriteUrl`: the URL of a request with single slashes, if it is one of layer 2. Some clients
 * join a base URL that ends in a slash to a path that starts with one. All other URLs stay as they are.
 */
export function layer2Url({ url = '/' }: { readonly url?: string | undefined }): string {
  if (!url.startsWith('/l2/')) return url
  const [path = '', ...query] = url.split('?')
  return [path.replaceAll(/\/{2,}/g, '/'), ...query].join('?')
}

function pathsOf(path: string): Readonly<Record<Finality, string>> {
  return {
    accepted: prefixes.accepted + path,
    committed: prefixes.committed + path,
    merged: prefixes.merged + path,
  }
}
