import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import { BaseAddress, Bip32PrivateKey, Credential } from '@dcspark/cardano-multiplatform-lib-nodejs'
import { fromHex, toHex } from '@ratatosk/cbor'
import { defaultParameters, testWallets } from '@ratatosk/devnet'
import { decodeAddress, encodeBech32Address, slotToTime } from '@ratatosk/ledger'
import { expect, onTestFinished, test } from 'vitest'
import { loadGenesis, loadProtocolParameters, networkOf } from './network.js'

// The first slots of epochs, as block explorers show them.
test.each([
  ['mainnet', 4_492_800n, '2020-07-29T21:44:51.000Z'],
  ['preprod', 86_400n, '2022-06-21T00:00:00.000Z'],
  ['preview', 0n, '2022-10-25T00:00:00.000Z'],
  ['devnet', 86_400n, '2025-01-02T00:00:00.000Z'],
] as const)('%s: slot %s starts at %s', (NETWORK, slot, time) => {
  const { slots } = networkOf(NETWORK)
  expect(new Date(Number(slotToTime(slots, slot))).toISOString()).toBe(time)
})

test.each([
  ['devnet', 11],
  ['preview', 11],
  ['preprod', 11],
  ['mainnet', 11],
] as const)(
  '%s has default parameters of version %d, with the fees of the specification and three cost models',
  async (NETWORK, major) => {
    const parameters = await loadProtocolParameters({ NETWORK })
    expect(parameters.ledgerVersion.major).toBe(major)
    expect(parameters).toMatchObject({ minFeeA: 44n, minFeeB: 155_381n, maxTransactionSize: 16_384 })
    expect(Object.keys(parameters.costModels)).toEqual(['PlutusV1', 'PlutusV2', 'PlutusV3'])
  },
)

test('has the same parameters of ledger version 11 for all networks', async () => {
  const networks = ['devnet', 'preprod', 'mainnet', 'preview'] as const
  const all = await Promise.all(
    networks.map((NETWORK) => loadProtocolParameters({ NETWORK, LEDGER_VERSION: '11' })),
  )
  for (const parameters of all) expect(parameters).toEqual(defaultParameters('11'))
  const { ledgerVersion, costModels, maxTransactionExecutionUnits } = defaultParameters('11')
  expect(ledgerVersion).toEqual({ major: 11, minor: 0 })
  const lengths = Object.entries(costModels).map(([language, model]) => [language, model.length])
  expect(Object.fromEntries(lengths)).toEqual({ PlutusV1: 332, PlutusV2: 332, PlutusV3: 350 })
  expect(maxTransactionExecutionUnits.memory).toBe(16_500_000n)
})

test('refuses a file of another ledger version', async () => {
  const PROTOCOL_PARAMETERS_FILE = fileURLToPath(new URL('../../parameters/preprod-11.json', import.meta.url))
  const settings = { NETWORK: 'mainnet', PROTOCOL_PARAMETERS_FILE } as const
  const { ledgerVersion } = await loadProtocolParameters(settings)
  expect(ledgerVersion.major).toBe(11)
  await expect(loadProtocolParameters({ ...settings, LEDGER_VERSION: '10' })).rejects.toThrow(
    /^LEDGER_VERSION is 10, but .*ledger version 11: name a file of version 10, or set LEDGER_VERSION=11\.$/,
  )
})

const { mnemonic, wallets } = testWallets

/** The mnemonic's entropy (BIP-39): word 1788 ("test") 23 times, word 1532 ("sauce") with the checksum. */
function entropy(): Buffer {
  const bits = [...Array.from({ length: 23 }, () => 1788), 1532]
    .map((word) => word.toString(2).padStart(11, '0'))
    .join('')
  return Buffer.from(
    Array.from({ length: 32 }, (_, at) => Number.parseInt(bits.slice(8 * at, 8 * at + 8), 2)),
  )
}

const hardened = (index: number) => (index | 0x8000_0000) >>> 0

test('derives the devnet wallets from the public mnemonic by CIP-1852', () => {
  expect(mnemonic).toBe(`${'test '.repeat(23)}sauce`)
  const root = Bip32PrivateKey.from_bip39_entropy(entropy(), new Uint8Array())
  for (const [account, wallet] of wallets.entries()) {
    const keys = root.derive(hardened(1852)).derive(hardened(1815)).derive(hardened(account))
    const [payment, stake] = [keys.derive(0).derive(0), keys.derive(2).derive(0)].map((key) =>
      key.to_raw_key(),
    )
    const credential = (key: typeof payment) => Credential.new_pub_key(key!.to_public().hash())
    const address = BaseAddress.new(0, credential(payment), credential(stake)).to_address()
    expect(wallet).toEqual({
      account,
      address: address.to_bech32(),
      signingKey: payment!.to_bech32(),
      stakeSigningKey: stake!.to_bech32(),
    })
  }
})

test('gives each devnet wallet twenty genesis outputs', async () => {
  const genesis = await loadGenesis({}, networkOf('devnet'))
  const owners = genesis!.outputs.map(({ address }) => {
    const decoded = decodeAddress(address)
    return decoded.kind === 'byron' ? '' : encodeBech32Address(decoded)
  })
  for (const { address } of wallets) {
    expect(
      owners.filter((owner) => owner === address),
      address,
    ).toHaveLength(20)
  }
  expect(owners).toHaveLength(20 * wallets.length)
})

test.each(['preview', 'preprod', 'mainnet'] as const)('%s has no default genesis', async (NETWORK) => {
  expect(await loadGenesis({}, networkOf(NETWORK))).toBeUndefined()
})

test('refuses a genesis that holds 2^64 lovelace or more', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'genesis-'))
  t.onTestFinished(() => rm(folder, { recursive: true }))
  const GENESIS_FILE = join(folder, 'genesis.json')
  const address = `60${'ab'.repeat(28)}`
  const load = async (...amounts: readonly bigint[]) => {
    const utxos = amounts.map((lovelace, index) => ({
      outref: `${'cd'.repeat(32)}#${index}`,
      output: `a200581d${address}011b${lovelace.toString(16).padStart(16, '0')}`,
    }))
    await writeFile(GENESIS_FILE, JSON.stringify({ utxos }))
    return loadGenesis({ GENESIS_FILE }, networkOf('devnet'))
  }
  expect((await load(2n ** 63n, 2n ** 63n - 1n))?.outputs).toHaveLength(2)
  await expect(load(2n ** 63n, 2n ** 63n)).rejects.toThrow(/hold 18446744073709551616 lovelace/)
})

test.each([
  ['at a Byron address', /Byron era/],
  ['with a head that is not its shortest', /shortest form/],
] as const)('refuses an output %s', async (what, message) => {
  const folder = await mkdtemp(join(tmpdir(), 'genesis-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const GENESIS_FILE = join(folder, 'genesis.json')
  const utxos = [{ outref: `${'cd'.repeat(32)}#0`, output: flawedOutputs[what] }]
  await writeFile(GENESIS_FILE, JSON.stringify({ utxos }))
  await expect(loadGenesis({ GENESIS_FILE }, networkOf('devnet'))).rejects.toThrow(message)
})

// Of a test network, which its attributes name.
const content = fromHex(`83581c${'05'.repeat(28)}a102410100`)
const checksum = crc32(content).toString(16).padStart(8, '0')
const byron = `82d81858${content.length.toString(16)}${toHex(content)}1a${checksum}`

/** Outputs that no genesis may have, in hex. */
const flawedOutputs = {
  'at a Byron address': `8258${(byron.length / 2).toString(16)}${byron}01`,
  'with a head that is not its shortest': `82581d60${'ab'.repeat(28)}1801`,
} as const
