import { CborWriter, toHex } from '@ratatosk/cbor'
import { createDevnet, devnetApis, testWallets } from '@ratatosk/devnet'
import { blake2b256, encodeOutputReference } from '@ratatosk/ledger'
import {
  keysFromSeedPhrase,
  type OutputContent,
  toLayer1Output,
  type WalletKeys,
} from '@ratatosk/ledger/builder'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import fastify from 'fastify'
import type { HarnessOptions, ProviderHarness } from '../provider-suite/harness.js'
import type { Layer1, Layer1Limits } from '../types.js'

/** Longer than a request takes on a busy machine, so that only a request without an answer times out. */
export const limits = {
  requestTimeoutMs: 10_000,
  callTimeoutMs: 20_000,
  attempts: 2,
  backoffMs: 1,
  pollMs: 20,
}

/** For cases that wait for time-outs. A request that a busy machine delays is repeated. */
export const shortLimits = { ...limits, requestTimeoutMs: 300, attempts: 5 }

export const keys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 0 })
export const emptyKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 40 })

/** One per test worker, with which it ends: its threads are slow to start. */
export const evaluator = createEvaluator({ threads: 1 })

export type Devnet = Awaited<ReturnType<typeof createDevnet>>

/** How a devnet is reached: in process, or by one of its HTTP APIs. */
export interface Reached {
  readonly layer1: Layer1
  readonly target: 'client' | 'blockfrost' | 'kupmios'
  close(): Promise<void>
}

/** @param more outputs of genesis behind the funds */
export async function openDevnet(funds = 3, more: readonly OutputContent[] = []): Promise<Devnet> {
  const fund = new CborWriter().map(2).uint(0).bytes(keys.address.bytes).uint(1).uint(1_000_000_000)
  const outputs = [
    ...Array.from({ length: funds }, () => fund.toBytes()),
    ...more.map((content) => toLayer1Output(content).bytes),
  ]
  return createDevnet({
    blockEveryMs: 0,
    evaluator,
    genesis: {
      startTime: Date.now() - 100_000_000,
      networkMagic: 42,
      utxos: outputs.map((output, index) => ({
        outref: `${'11'.repeat(32)}#${index}`,
        output: toHex(output),
      })),
    },
  })
}

export async function openHarness(
  { shortTimeouts }: HarnessOptions,
  reach: (devnet: Devnet, limits: Layer1Limits) => Promise<Reached>,
): Promise<ProviderHarness> {
  const devnet = await openDevnet()
  const { layer1, target, close } = await reach(devnet, shortTimeouts ? shortLimits : limits)
  return {
    layer1,
    keys,
    emptyKeys,
    evaluator,
    produceBlock: async () => {
      await devnet.produceBlock()
    },
    rollBack: async (blocks) => {
      await devnet.rollBack(blocks)
    },
    inject(kind, operation, times) {
      // Behind Kupo and Ogmios, each operation is asked of one of the two.
      const targets = target === 'kupmios' ? (['kupo', 'ogmios'] as const) : [target]
      for (const one of targets) devnet.faults.inject({ kind, operation, times, target: one })
    },
    clearFaults: () => devnet.faults.clear(),
    close: async () => {
      await close()
      await devnet.close()
    },
  }
}

/** The HTTP APIs of a devnet on a port of their own. `heard` gets the path of each request. */
export async function serveApis(
  devnet: Devnet,
  heard: (path: string) => Promise<void> | void = () => undefined,
) {
  const server = fastify({ forceCloseConnections: true })
  server.addHook('onRequest', async ({ url }) => heard(url))
  await server.register(devnetApis, { devnet })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    blockfrost: `${url}/blockfrost/api/v0`,
    kupo: `${url}/kupo`,
    ogmios: `${url}/ogmios`,
    close: () => server.close(),
  }
}

const fee = 2_000_000n

/**
 * Sends a transaction with outputs that the builder does not make, such as deep data, from the largest output
 * of a wallet. Resolves to its id.
 */
export async function payOdd(
  layer1: Pick<Layer1, 'utxosAt' | 'submit'>,
  { address, addressText, payment }: WalletKeys,
  contents: readonly OutputContent[],
): Promise<Uint8Array> {
  const plain = (await layer1.utxosAt(addressText)).filter(
    ({ output: { value, datum, referenceScript } }) =>
      value.assets.size === 0 && datum.kind === 'none' && referenceScript === undefined,
  )
  const [fund] = plain.sort((a, b) => Number(b.output.value.lovelace - a.output.value.lovelace))
  if (fund === undefined) throw new Error('The wallet is empty')
  const paid = contents.reduce((sum, { value }) => sum + value.lovelace, fee)
  const rest = { lovelace: fund.output.value.lovelace - paid, assets: new Map() }
  const all = [...contents, { address: address.bytes, value: rest, datum: { kind: 'none' } as const }]
  const body = new CborWriter(20_000).map(3).uint(0).array(1).raw(encodeOutputReference(fund.reference))
  body.uint(1).array(all.length)
  for (const content of all) body.raw(toLayer1Output(content).bytes)
  const bodyBytes = body.uint(2).uint(fee).toBytes()
  const signature = payment.sign(blake2b256(bodyBytes))
  const transaction = new CborWriter(20_000).array(4).raw(bodyBytes)
  transaction.map(1).uint(0).array(1).array(2).bytes(payment.publicKey).bytes(signature)
  return layer1.submit(transaction.boolean(true).null().toBytes())
}
