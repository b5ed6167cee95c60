import { toHex } from '@ratatosk/cbor'
import { createDevnet, type Devnet } from '@ratatosk/devnet'
import { faucet } from '@ratatosk/faucet'
import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import { createDevnetLayer1 } from '@ratatosk/layer1'
import { decodeTransactionOutput } from '@ratatosk/ledger'
import type { WalletKeys } from '@ratatosk/ledger/builder'
import { collect, documentFees, slots } from '@ratatosk/test-kit'
import { testedServices } from '@ratatosk/test-kit/vitest'
import fastify, { type FastifyInstance } from 'fastify'
import { expect, onTestFinished, type TestContext } from 'vitest'
import type { ValidationWorkerOptions } from '../../index.js'
import { openers, type RunningWorker, run, type Services } from '../../test/running-worker.js'
import {
  createFaucetPayer,
  createLayer1FaucetWallet,
  createLayer2FaucetWallet,
  type FaucetPayer,
  type FaucetPayerOptions,
  type FaucetWallet,
} from '../index.js'
import { ada, bankKeys, claimant, faucetKeys, firstOutputs } from './wallets.js'

/** A layer on which a faucet pays: a devnet, or a store with a validation worker. */
export interface Layer {
  wallet(keys: WalletKeys): FaucetWallet
  /** Resolves when accepted payments show in the unspent outputs. */
  include(): Promise<void>
  /** Lovelace of each output that an address ever received; on layer 2, of those that are unspent. */
  paidTo(keys: WalletKeys): Promise<bigint[]>
}

interface LayerOptions {
  /** Lovelace of each output that the faucet starts with. */
  readonly funds: readonly bigint[]
  readonly clock?: { now(): number }
}

const genesisHash = '11'.repeat(32)

export async function openDevnet({ funds, clock = Date }: LayerOptions): Promise<Devnet> {
  const devnet = await createDevnet({
    blockEveryMs: 0,
    clock,
    genesis: {
      startTime: clock.now() - 100_000_000,
      networkMagic: 42,
      utxos: firstOutputs(funds).map((output, index) => ({
        outref: `${genesisHash}#${index}`,
        output: toHex(output),
      })),
    },
  })
  onTestFinished(() => devnet.close())
  return devnet
}

export function layer1Of(devnet: Devnet): Layer {
  const layer1 = createDevnetLayer1(devnet, { requestTimeoutMs: 500, attempts: 2, backoffMs: 1 })
  return {
    wallet: (keys) => createLayer1FaucetWallet({ layer1, keys }),
    async include() {
      await devnet.produceBlock()
    },
    async paidTo(keys) {
      const { bytes } = keys.address
      const made = devnet.outputs().filter(({ output }) => toHex(output.address.bytes) === toHex(bytes))
      return made.map(({ output }) => output.value.lovelace)
    },
  }
}

/** Puts the first outputs into the ledger of layer 2. */
export async function endow({ store }: Pick<Services, 'store'>, funds: readonly bigint[]): Promise<void> {
  await store.applyGenesis(
    firstOutputs(funds).map((output, index) => {
      const { bytes } = decodeTransactionOutput(output).address
      return {
        reference: { transactionId: Buffer.from(genesisHash, 'hex'), index },
        output,
        address: bytes,
        paymentCredential: bytes.slice(1),
      }
    }),
  )
}

export function layer2Of(
  { store, submissions }: Pick<RunningWorker, 'store' | 'submissions'>,
  { now = Date.now, verdictMs = 10_000 } = {},
): Layer {
  return {
    wallet: (keys) =>
      createLayer2FaucetWallet({
        store,
        submissions,
        keys,
        parameters: documentFees,
        slots,
        verdictMs,
        now,
      }),
    include: async () => {},
    async paidTo(keys) {
      const outputs = await collect(store.utxoPages(keys.address.bytes))
      return outputs.map(({ output }) => decodeTransactionOutput(output).value.lovelace)
    },
  }
}

/** Opens each layer over a store and a queue. */
const layers: Readonly<Record<string, (services: Services, options: LayerOptions) => Promise<Layer>>> = {
  'layer 1': async (_, options) => layer1Of(await openDevnet(options)),
  'layer 2': async (services, { funds, clock = Date }) => {
    await endow(services, funds)
    const worker = validate(services, { now: () => clock.now() })
    await worker.worker.ready()
    return layer2Of(worker, { now: () => clock.now() })
  },
}

/** A validation worker that tries each transaction once; closed after the test. */
export const validate = (services: Services, options: Partial<ValidationWorkerOptions> = {}): RunningWorker =>
  run(services, { parameters: documentFees, maxAttempts: 1, ...options })

const token = 'a token that only tests know'

interface Answer {
  readonly status: number
  readonly body: { readonly [field: string]: string }
}

interface Scene {
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

type SceneOptions = Partial<LayerOptions> & {
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

interface Joined {
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
