import cors from '@fastify/cors'
import { routerOptions } from '@ratatosk/chain-apis'
import { openPGlite, openPostgres } from '@ratatosk/database'
import fastify from 'fastify'
import { createDevnet } from '../create-devnet.js'
import { defaultParameters, testWallets } from '../genesis.js'
import { devnetApis } from '../plugin/devnet-apis.js'
import { createSqlStore } from '../store/sql-store.js'
import type { DevnetStore } from '../store/store.js'
import { createMemoryStore } from '../store/store.js'
import type { Devnet } from '../types.js'
import type { StandaloneOptions } from './options.js'

interface Standalone {
  /** The text to print: the API URLs and the test wallets. */
  readonly banner: string
  close(): Promise<void>
}

/** Opens the devnet with its store and serves all of its APIs. */
export async function start(options: StandaloneOptions): Promise<Standalone> {
  const {
    host,
    port,
    allowedHosts,
    dataDirectory,
    blockEveryMs,
    slotLengthMs,
    ogmiosVersion,
    ogmiosStrictRpc,
    ledgerVersion,
  } = options
  const { store, close: closeStore } = await openStore(dataDirectory)
  const devnet = await createDevnet({
    store,
    blockEveryMs,
    slotLengthMs,
    ...(ledgerVersion && { parameters: defaultParameters(ledgerVersion) }),
  })
  const server = fastify({
    forceCloseConnections: true,
    routerOptions,
  })
  // Wallets and dApps under development come from any origin.
  await server.register(cors, { origin: true })
  await server.register(devnetApis, {
    devnet,
    paths: { control: '/devnet', wallet: '/dev-wallet.js' },
    allowedHosts: [host, ...allowedHosts],
    ogmiosVersion,
    ogmiosStrictRpc,
  })
  const url = await server.listen({ host, port })
  return {
    banner: bannerOf(devnet, url, dataDirectory),
    async close() {
      await server.close()
      await devnet.close()
      await closeStore()
    },
  }
}

const toErrors = (message: string) => void process.stderr.write(`${message}\n`)
const log = { debug() {}, info() {}, warn: toErrors, error: toErrors }

async function openStore(
  directory: string | undefined,
): Promise<{ readonly store: DevnetStore; close(): Promise<void> }> {
  if (directory === undefined) return { store: createMemoryStore(), close: async () => {} }
  const { openEmbedded } = await import('@ratatosk/database/embedded')
  const embedded = await openEmbedded(directory, { log })
  const { place } = embedded
  const database = 'url' in place ? openPostgres(place) : openPGlite(place.pglite)
  return {
    store: createSqlStore({ database }),
    async close() {
      await database.close()
      await embedded.close()
    },
  }
}

function bannerOf(devnet: Devnet, url: string, dataDirectory: string | undefined): string {
  const { warning, mnemonic, derivation, wallets } = testWallets
  const { height } = devnet.tip()
  const { zeroTime, slotLength } = devnet.slots
  const ada = (address: string): bigint =>
    devnet.utxos({ address }).reduce((sum, { output }) => sum + output.value.lovelace, 0n) / 1_000_000n
  return [
    'Ratatosk devnet: a local Cardano layer 1',
    '',
    `  Blockfrost  ${url}/blockfrost/api/v0   (any project id)`,
    `  Kupo        ${url}/kupo`,
    `  Ogmios      ${url.replace('http', 'ws')}/ogmios   (also POST)`,
    `  Control     ${url}/devnet   (blocks, roll-backs, faults)`,
    `  Wallet      ${url}/dev-wallet.js   (CIP-30, for web pages)`,
    '',
    `  Chain       block ${height}, stored in ${dataDirectory ?? 'memory'}`,
    `  Slots       ${slotLength} ms each, since ${new Date(Number(zeroTime)).toISOString()}`,
    `  Network     magic ${devnet.networkMagic}`,
    '',
    `  WARNING: ${warning}`,
    '',
    `  Mnemonic    ${mnemonic}`,
    `  Derivation  ${derivation}`,
    ...wallets.map(
      ({ account, address }) => `  Account ${String(account).padEnd(3)} ${address}  ${ada(address)} ada`,
    ),
    '',
  ].join('\n')
}
