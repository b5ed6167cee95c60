import { fromHex, toHex } from '@ratatosk/cbor'
import { scriptHash } from '@ratatosk/ledger'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { temporaryDirectory } from '../test/backends.js'
import { type Amounts, lucid, mesh, type Sdk } from '../test/bridge-clients.js'
import { post, walletOf } from '../test/bridge-wallet.js'
import { initialised, runNode } from '../test/node.js'

t.setTimeout(600_000)

/** The test wallet that mints and deposits. */
const depositor = 5
const { hash: keyHash } = walletOf(depositor).payment
/** A native script that asks for its signature. */
const policy = toHex(scriptHash('native', fromHex(`8200581c${toHex(keyHash)}`)))
/** A datum that no wallet writes of its own accord: a constructor with a number and a text. */
const datum = 'd8799f182a4568656c6c6fff'
/** Generous, because a loaded machine is slow. */
const timeoutMs = 120_000

const json = async (url: string) => JSON.parse((await ask(url)).body)
const ada = (amount: number): string => String(amount * 1_000_000)

/** Mesh takes a minute to install. */
const sdks = process.env.RATATOSK_SDKS
const skip = ['all', 'mesh'].includes(sdks ?? '') ? false : 'RATATOSK_SDKS=all installs the SDKs'

t.test('unmodified SDKs pass the bridge by two URLs', async (t) => {
  const { url, places } = await runNode(t, {
    DATA_DIR: await temporaryDirectory(t),
    DEVNET_PORT: '0',
    MATURITY_WINDOW_MS: '3000',
    MERGE_INTERVAL_MS: '500',
    BLOCK_VALIDITY_MS: '5000',
    EVENT_WAIT_MS: '10000',
    VERDICT_POLICIES: 'none',
    BRIDGED_POLICIES: policy,
  })
  await initialised(url)
  const [devnet] = /http\S+/.exec(places.layer1 ?? '') ?? []
  const layer1 = `${devnet}/blockfrost/api/v0`
  // Accounts that the genesis does not fund.
  await t.test('Lucid', (t) => passBridge(t, { sdk: lucid(), url, layer1, user: 30, home: 31 }))
  await t.test('Mesh', { skip }, async (t) =>
    passBridge(t, { sdk: await mesh(t), url, layer1, user: 32, home: 33 }),
  )
})

interface Passage {
  readonly sdk: Sdk
  /** Of the node. */
  readonly url: string
  /** Blockfrost API of layer 1. */
  readonly layer1: string
  /** Accounts of the wallet on layer 2, and of the one that gets what leaves it. */
  readonly user: number
  readonly home: number
}

async function passBridge(t: Test, { sdk, url, layer1, user: account, home }: Passage): Promise<void> {
  const from = await sdk.open(layer1, depositor)
  t.equal(from.policy, policy)
  const [first = '', second = '', third = ''] = ['A', 'B', 'C'].map(
    (letter) => policy + toHex(Buffer.from(`${sdk.name} ${letter}`)),
  )
  const assets: Amounts = { [first]: '100', [second]: '20', [third]: '3' }
  await from.mint(assets)

  const layer2 = `${url}/l2/blockfrost/api/v0`
  const user = await sdk.open(layer2, account)
  const { transaction, id } = await post(`${url}/bridge/draft`, {
    kind: 'deposit',
    utxos: await from.outputs(),
    changeAddress: from.address,
    to: user.address,
    lovelace: ada(100),
    assets,
    datum: { inline: datum },
  })
  await post(`${url}/bridge/submit`, { transaction: await from.sign(transaction!) })
  const deposited = async () => (await json(`${url}/deposits?id=${id}`)).deposits[0]?.state
  await until(async () => ![undefined, 'waiting'].includes(await deposited()), {
    what: `${sdk.name}: a block credits the deposit`,
    timeoutMs,
  })
  t.equal(await user.datumOf(id!), datum, 'the SDK finds the inline datum on layer 2')
  t.same(await amountsAt(layer2, user.address), {
    lovelace: ada(100),
    ...assets,
  })

  const { address, payoutFee } = await json(`${url}/bridge`)
  const target = walletOf(home)
  const leaving: Amounts = { lovelace: ada(60), [first]: '70', [second]: '20' }
  const paid = await user.pay(id!, address, leaving, target.address.bytes)
  const { inputs, outputs } = await json(`${layer2}/txs/${paid}/utxos`)
  t.match(inputs, [{ tx_hash: id, output_index: 0, inline_datum: datum }], 'what it spends')
  t.match(outputs, [{ output_index: 0, address }, { output_index: 1 }], 'also the output that leaves')
  const [credited] = await json(`${layer2}/addresses/${user.address}/transactions`)
  t.match(
    await json(`${layer2}/txs/${id}`),
    { block_height: credited.block_height, block_time: credited.block_time },
    'the place of the deposit is the same in each answer',
  )
  const kept = await amountsAt(layer2, user.address)
  t.same({ ...kept, lovelace: '' }, { lovelace: '', [first]: '30', [third]: '3' }, 'the change')

  const withdrawal = async () => (await json(`${url}/withdrawals?outref=${paid}%230`)).withdrawals[0]
  t.equal((await withdrawal()).payTo, target.addressText, 'the node reads the datum of the SDK')
  await until(async () => (await withdrawal()).state === 'paid', {
    what: `${sdk.name}: the withdrawal is paid`,
    timeoutMs,
  })
  t.same(await amountsAt(layer1, target.addressText), {
    ...leaving,
    lovelace: String(BigInt(ada(60)) - BigInt(payoutFee)),
  })
}

/** The balance of an address, as a Blockfrost API answers it. */
async function amountsAt(api: string, address: string): Promise<Amounts> {
  const { amount } = await json(`${api}/addresses/${address}`)
  return Object.fromEntries(
    amount.map(({ unit, quantity }: { unit: string; quantity: string }) => [unit, quantity]),
  )
}
