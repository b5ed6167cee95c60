import { type BlockFrostAPI, BlockfrostServerError } from '@blockfrost/blockfrost-js'
import { CborWriter, toHex } from '@ratatosk/cbor'
import { decodeAddress, encodeBech32Address } from '@ratatosk/ledger'
import type { Test } from 'tap'
import { draft } from './draft.js'
import { alice, bob, first, lock, second, succeeding, succeedingHash } from './scenes.js'
import type { RunTest, ServedLedger } from './served-ledger.js'

export async function errorOf(work: Promise<unknown>): Promise<BlockfrostServerError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof BlockfrostServerError) return error
  throw error ?? new Error('expected an error')
}

export function bech32Of(bytes: Uint8Array): string {
  const address = decodeAddress(bytes)
  if (address.kind === 'byron') throw new Error('Byron addresses are in base58')
  return encodeBech32Address(address)
}

/** The view of assets, metadata and supply by the client `@blockfrost/blockfrost-js`. */
export function blockfrostSupplySuite(
  test: RunTest,
  open: (t: Test) => Promise<{ readonly ledger: ServedLedger; readonly api: BlockFrostAPI }>,
): void {
  test('minted assets and their metadata', async (t) => {
    const { api, ledger } = await open(t)
    const policy = toHex(succeedingHash)
    const [named, plain] = [`${policy}6161`, `${policy}6262`]
    const base = Uint8Array.from([0x00, ...bob.hash, ...alice.hash])
    const held = { [named]: 1n, [plain]: 7n }
    const tokens = new CborWriter().map(1).text('aa').map(1).text('name').text('first')
    const metadata = new CborWriter().map(2).uint(1990).array(0)
    const { cbor, hash } = draft({
      inputs: [first],
      outputs: [{ address: base, lovelace: 99_500_000n, assets: held }],
      fee: 500_000n,
      signers: [alice],
      mint: held,
      collateral: [second],
      scripts: [succeeding],
      redeemers: [{ tag: 1, index: 0, memory: 10_000n, steps: 10_000_000n }],
      auxiliaryData: metadata.uint(721).map(1).text(policy).raw(tokens.toBytes()).toBytes(),
    })
    t.equal(await api.txSubmit(cbor), hash)
    await ledger.produceBlock()
    const address = bech32Of(base)
    const json = { [policy]: { aa: { name: 'first' } } }
    t.same(await api.metadataTxsLabel('721'), [{ tx_hash: hash, json_metadata: json }])
    t.same(await api.metadataTxsLabelCbor('1990'), [
      { tx_hash: hash, cbor_metadata: '\\x80', metadata: '80' },
    ])
    t.same(await api.metadataTxsLabel('721', { order: 'desc', count: 1 }), await api.metadataTxsLabel('721'))
    t.match(await errorOf(api.metadataTxsLabel('721', { page: 2 })), { status_code: 404 })
    t.match(await errorOf(api.metadataTxsLabel('1x')), { status_code: 400 })
    t.same(await api.assets(), [
      { asset: named, quantity: '1' },
      { asset: plain, quantity: '7' },
    ])
    t.same(await api.assets({ count: 1, order: 'desc' }), [{ asset: plain, quantity: '7' }])
    t.same(await api.assetsPolicyById(policy), await api.assets())
    const extended = { decimals: null, has_nft_onchain_metadata: false }
    t.same(await api.addressesExtended(address), {
      address,
      amount: [
        { unit: 'lovelace', quantity: '99500000', decimals: 6, has_nft_onchain_metadata: false },
        { unit: named, quantity: '1', ...extended, has_nft_onchain_metadata: true },
        { unit: plain, quantity: '7', ...extended },
      ],
      stake_address: bech32Of(Uint8Array.from([0xe0, ...alice.hash])),
      type: 'shelley',
      script: false,
    })
    t.match(await errorOf(api.addressesExtended(bob.address)), { status_code: 404 })
  })

  test('the supply is what unspent outputs hold', async (t) => {
    const { api, ledger } = await open(t)
    const before = BigInt((await api.network()).supply.circulating)
    await lock(ledger, succeedingHash)
    const { supply, stake } = await api.network()
    const left = before - 200_000n
    t.same(supply, {
      max: '45000000000000000',
      total: String(left),
      circulating: String(left),
      locked: '20000000',
      treasury: '0',
      reserves: String(45_000_000_000_000_000n - left),
    })
    t.same(stake, { live: '0', active: '0' })
  })
}
