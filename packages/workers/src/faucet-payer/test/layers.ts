import { toHex } from '@ratatosk/cbor'
import { createDevnet, type Devnet } from '@ratatosk/devnet'
import { createDevnetLayer1 } from '@ratatosk/layer1'
import { decodeTransactionOutput } from '@ratatosk/ledger'
import type { WalletKeys } from '@ratatosk/ledger/builder'
import { collect, documentFees, slots } from '@ratatosk/test-kit'
import { onTestFinished } from 'vitest'
import { createLayer1FaucetWallet } from '../layer1-wallet.js'
import { createLayer2FaucetWallet } from '../layer2-wallet.js'
import type { FaucetWallet } from '../wallet.js'
import type { Services } from './services.js'
import { type RunningWorker, validate } from './validation.js'
import { firstOutputs } from './wallets.js'

/** A layer on which a faucet pays: a devnet, or a store with a validation worker. */
export interface Layer {
  wallet(keys: WalletKeys): FaucetWallet
  /** Resolves when accepted payments show in the unspent outputs. */
  include(): Promise<void>
  /** Lovelace of each output that an address ever received; on layer 2, of those that are unspent. */
  paidTo(keys: WalletKeys): Promise<bigint[]>
}

export interface LayerOptions {
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
export const layers: Readonly<Record<string, (services: Services, options: LayerOptions) => Promise<Layer>>> =
  {
    'layer 1': async (_, options) => layer1Of(await openDevnet(options)),
    'layer 2': async (services, { funds, clock = Date }) => {
      await endow(services, funds)
      const worker = validate(services, { now: () => clock.now() })
      await worker.worker.ready()
      return layer2Of(worker, { now: () => clock.now() })
    },
  }
