import { CborWriter, toHex } from '@ratatosk/cbor'
import { addressText, routerOptions } from '@ratatosk/chain-apis'
import { blake2b256, decodeAddress } from '@ratatosk/ledger'
import {
  alice,
  bob,
  draft,
  genesisOf,
  succeeding,
  succeedingHash,
  testKey,
  unitDatum,
} from '@ratatosk/test-kit/ledger-apis'
import { bech32 } from 'bech32'
import fastify, { type FastifyInstance } from 'fastify'
import { createDevnet } from '../create-devnet.js'
import { devnetApis } from '../plugin/devnet-apis.js'
import type { Devnet, DevnetOptions } from '../types.js'

/** All unspent outputs with their bytes, for comparing UTxO sets. */
export function utxoSet(devnet: Devnet): string[] {
  return devnet
    .utxos()
    .map(({ key, output }) => `${key} ${toHex(output.bytes)}`)
    .sort()
}

export interface ServedDevnet {
  readonly devnet: Devnet
  readonly server: FastifyInstance
  /** `127.0.0.1:<port>` */
  readonly host: string
  readonly blockfrost: string
  readonly kupo: string
  readonly ogmios: string
  close(): Promise<void>
}

/** Serves a devnet with all APIs on a free port. */
export async function serveDevnet(options: DevnetOptions = {}): Promise<ServedDevnet> {
  const devnet = await createDevnet(options)
  const server = fastify({
    forceCloseConnections: true,
    routerOptions,
  })
  await server.register(devnetApis, { devnet })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    devnet,
    server,
    host: new URL(url).host,
    blockfrost: `${url}/blockfrost/api/v0`,
    kupo: `${url}/kupo`,
    ogmios: `${url}/ogmios`,
    async close() {
      await server.close()
      await devnet.close()
    },
  }
}

const carol = testKey(3)
const policy = toHex(succeedingHash)
const base = Uint8Array.from([0x00, ...bob.hash, ...alice.hash])
const script = Uint8Array.from([0x70, ...succeedingHash])
const never = testKey(77)

const text = (bytes: Uint8Array) => addressText(decodeAddress(bytes))
const bech32Of = (prefix: string, bytes: Uint8Array) => bech32.encode(prefix, bech32.toWords(bytes), 128)
const source = (index: number) => `${'11'.repeat(32)}#${index}`
const minting = {
  fee: 500_000n,
  scripts: [succeeding],
  redeemers: [{ tag: 1, index: 0, memory: 10_000n, steps: 10_000_000n }],
  collateral: [source(3)],
}

/** The epoch in which the newest block is. */
const epoch = 139

/** A served devnet with the addresses, assets and transactions that the cases of others are about. */
export async function openPeersScene() {
  const startTime = Date.now() - (epoch * 432_000 + 1000) * 1000
  const { utxos, networkMagic } = genesisOf(Array.from({ length: 4 }, () => alice.addressBytes))
  const devnet = await createDevnet({ blockEveryMs: 0, genesis: { startTime, networkMagic, utxos } })
  const server = fastify({ routerOptions })
  await server.register(devnetApis, { devnet })
  const block = async (transaction: Parameters<typeof draft>[0]) => {
    const { cbor, hash } = draft(transaction)
    const result = await devnet.submit(cbor)
    if (result.kind !== 'accepted')
      throw new Error(JSON.stringify(result.kind === 'rejected' && result.failures))
    await devnet.produceBlock()
    return hash
  }
  const locked = await block({
    inputs: [source(0)],
    outputs: [
      { address: script, lovelace: 20_000_000n, inlineDatum: unitDatum },
      { address: carol.addressBytes, lovelace: 79_800_000n },
    ],
    fee: 200_000n,
    signers: [alice],
  })
  await block({
    ...minting,
    inputs: [`${locked}#0`],
    outputs: [{ address: alice.addressBytes, lovelace: 19_500_000n }],
    signers: [alice],
    redeemers: [{ tag: 0, index: 0, memory: 10_000n, steps: 10_000_000n }],
  })
  const [held, burned] = [`${policy}6161`, `${policy}6262`]
  const minted = { [held]: 1n, [burned]: 1n }
  const label = new CborWriter().map(1).uint(674).map(1).text('msg').array(1).text('paid').toBytes()
  const mint = await block({
    ...minting,
    inputs: [source(1)],
    outputs: [
      { address: base, lovelace: 9_500_000n, assets: { [held]: 1n } },
      { address: base, lovelace: 40_000_000n },
      { address: bob.addressBytes, lovelace: 50_000_000n, assets: { [burned]: 1n } },
    ],
    signers: [alice],
    mint: minted,
    auxiliaryData: label,
  })
  await block({
    ...minting,
    inputs: [`${mint}#2`, `${locked}#1`],
    outputs: [{ address: bob.addressBytes, lovelace: 129_300_000n }],
    signers: [alice, bob, carol],
    mint: { [burned]: -1n },
  })
  const stake = text(Uint8Array.from([0xe0, ...alice.hash]))
  const places: Readonly<Record<string, string>> = {
    'address with outputs': text(base),
    'address used and empty': carol.address,
    'address never used': never.address,
    'script credential used and empty': bech32Of('script', succeedingHash),
    addr_vk: bech32Of('addr_vk', bob.publicKey),
    'addr_vkh with outputs': bech32Of('addr_vkh', bob.hash),
    'addr_vkh never used': bech32Of('addr_vkh', never.hash),
    'stake with outputs': stake,
    'stake never used': text(Uint8Array.from([0xe0, ...never.hash])),
    'asset held': held,
    'asset burned': burned,
    policy,
    tx: mint,
    TX: mint.toUpperCase(),
    'redeemer data hash': toHex(blake2b256(unitDatum)),
  }
  return {
    devnet,
    server,
    places,
    /** A path with the scene's values in the place of `<what they are>`. */
    pathOf: (template: string) =>
      template.replace(/<([^>]+)>/g, (_, name: string) => {
        const value = places[name]
        if (value === undefined) throw new Error(`The scene has no <${name}>`)
        return value
      }),
    close: async () => {
      await server.close()
      await devnet.close()
    },
  }
}
