import { createDevnet, type Devnet, type DevnetOptions, devnetApis, testWallets } from '@ratatosk/devnet'
import { createDevnetLayer1, type Layer1, openWallet, type Wallet } from '@ratatosk/layer1'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { fastify } from 'fastify'
import type { Test } from 'tap'

/** A layer 1 that the test owns, which nodes reach over HTTP. */
export interface DevnetServer {
  readonly devnet: Devnet
  /** Settings with which a node reaches it. */
  readonly settings: Readonly<Record<string, string>>
}

/** Slots and blocks are short by default, so that tests wait little. */
export async function devnetServer(
  t: Test,
  options: Pick<DevnetOptions, 'blockEveryMs' | 'securityParameter'> = {},
): Promise<DevnetServer> {
  const devnet = await createDevnet({ blockEveryMs: 50, slotLengthMs: 50, ...options })
  t.teardown(() => devnet.close())
  const server = fastify({ forceCloseConnections: true })
  t.teardown(() => server.close())
  await server.register(devnetApis, { devnet, paths: { kupo: false, ogmios: false } })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    devnet,
    settings: { LAYER1_PROVIDER: 'blockfrost', BLOCKFROST_URL: `${url}/blockfrost/api/v0` },
  }
}

/** Opens test wallets on a devnet by the number of their account, beside any node. */
export function devnetWallets(t: Test, devnet: Devnet) {
  const evaluator = createEvaluator()
  t.teardown(() => evaluator.close())
  const port: Layer1 = createDevnetLayer1(devnet)
  const walletOf = (account: number): Wallet => {
    const keys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account })
    return openWallet({ layer1: port, keys, evaluator })
  }
  return { evaluator, port, walletOf }
}
