import { faucet } from '@ratatosk/faucet'
import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import type { WalletKeys } from '@ratatosk/ledger/builder'
import { testedServices } from '@ratatosk/test-kit/vitest'
import fastify, { type FastifyInstance } from 'fastify'
import { expect, onTestFinished, type TestContext } from 'vitest'
import { createFaucetPayer, type FaucetPayer, type FaucetPayerOptions, type FaucetWallet } from '../index.js'
import { type Layer, type LayerOptions, layers } from './layers.js'
import { openers, type Services } from './services.js'
import { ada, bankKeys, claimant, faucetKeys } from './wallets.js'

const token = 'a token that only tests know'

interface Answer {
  readonly status: number
  readonly body: { readonly [field: string]: string }
}

export interface Scene {
  readonly services: Services
  readonly layer: Layer
  readonly wallet: FaucetWallet
  readonly payer: FaucetPayer
  readonly server: FastifyInstance
  readonly log: string[]
  claim(number: number, changes?: { readonly key?: string; readonly ip?: string }): Promise<Answer>
  /** A second payer and server, which the store sees as another process. */
  another(settings?: Partial<FaucetPayerOptions>): Promise<Scene>
  /** Lovelace of each payment to a claimant. */
  paidTo(number: number): Promise<bigint[]>
  refill(lovelace: bigint): Promise<void>
}

export type SceneOptions = Partial<LayerOptions> & {
  readonly settings?: Partial<FaucetPayerOptions>
  readonly wrap?: (wallet: FaucetWallet) => FaucetWallet
}

/** Every tested store with every layer. */
export const stages = testedServices(openers).flatMap(([backend]) =>
  Object.keys(layers).map((layer) => ({ backend, layer })),
)

export async function openScene(
  context: TestContext,
  { backend, layer: name }: (typeof stages)[number],
  options: SceneOptions = {},
): Promise<Scene> {
  const services = await openers[backend](context)
  const { funds = Array.from({ length: 5 }, () => 10_000n * ada), clock = Date } = options
  const layer = await layers[name]!(services, { funds, clock })
  const now = () => clock.now()
  return join({
    services,
    layer,
    settings: { now, ...options.settings },
    ...(options.wrap && { wrap: options.wrap }),
  })
}

export interface Joined {
  readonly services: Services
  readonly layer: Layer
  readonly settings?: Partial<FaucetPayerOptions>
  readonly wrap?: (wallet: FaucetWallet) => FaucetWallet
}

/** A faucet over services and a layer that are open already. */
export async function join({
  services,
  layer,
  settings = {},
  wrap = (wallet) => wallet,
}: Joined): Promise<Scene> {
  const log: string[] = []
  const server = fastify({
    ...httpErrorOptions,
    logger: { level: 'trace', stream: { write: (line: string) => void log.push(line) } },
  })
  const wallet = wrap(layer.wallet(faucetKeys))
  const payer = createFaucetPayer({
    claims: services.store.faucetClaims,
    wallet,
    leaseMs: 1000,
    log: server.log,
    ...settings,
  })
  await server.register(httpErrors)
  await server.register(faucet, { token, network: 'testnet', payer })
  onTestFinished(async () => {
    await server.close()
    await payer.close()
  })
  return {
    services,
    layer,
    wallet,
    payer,
    server,
    log,
    async claim(number, { key = `key ${number}`, ip = `ip ${number}` } = {}) {
      const response = await server.inject({
        method: 'POST',
        url: '/faucet/claims',
        headers: { authorization: `Bearer ${token}` },
        payload: { address: claimant(number).addressText, idempotencyKey: key, ipHash: ip },
      })
      return { status: response.statusCode, body: response.json() }
    },
    another: (changes = {}) => join({ services, layer, settings: { ...settings, ...changes } }),
    async paidTo(number) {
      await layer.include()
      return layer.paidTo(claimant(number))
    },
    async refill(lovelace) {
      await pay(layer.wallet(bankKeys), faucetKeys, lovelace)
      await layer.include()
    },
  }
}

export async function pay(wallet: FaucetWallet, to: WalletKeys, lovelace: bigint): Promise<void> {
  const draft = { address: to.address.bytes, lovelace, minBalance: 0n, underWay: [] }
  const preparation = await wallet.prepare(draft)
  if (preparation.kind !== 'prepared') throw new Error(preparation.kind)
  expect((await wallet.send(preparation.payment)).kind).toMatch(/^(accepted|settled)$/)
}
