import { fromHex } from '@ratatosk/cbor'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { networkOf } from '../network/network.js'
import { temporaryDirectory } from '../test/backends.js'
import { layer1Of, payment, post, signedBy, utxoOf, walletOf, walletOutputs } from '../test/bridge-wallet.js'
import { initialised, runNode, submit } from '../test/node.js'
import { devnetParameters } from '../test/transfer.js'

t.setTimeout(180_000)

const ada = (amount: number): bigint => BigInt(amount) * 1_000_000n
const json = async (url: string) => JSON.parse((await ask(url)).body)

t.test('a deposit is spent on layer 2, and what is withdrawn is paid on layer 1', async (t) => {
  const { url, places } = await runNode(t, {
    DATA_DIR: await temporaryDirectory(t),
    DEVNET_PORT: '0',
    MATURITY_WINDOW_MS: '3000',
    VERDICT_POLICIES: 'none',
    MERGE_INTERVAL_MS: '500',
    BLOCK_VALIDITY_MS: '5000',
    EVENT_WAIT_MS: '10000',
  })
  await initialised(url)
  const layer1 = layer1Of(places.layer1)
  const depositor = walletOf(5)
  const { slots } = networkOf('devnet')
  const parameters = await devnetParameters()

  const { transaction, id, creditedFrom } = await post(`${url}/bridge/draft`, {
    kind: 'deposit',
    utxos: walletOutputs(await layer1.utxosAt(depositor.addressText)),
    changeAddress: depositor.addressText,
    to: depositor.addressText,
    lovelace: String(ada(100)),
  })
  t.ok(Date.parse(creditedFrom!) > Date.now(), 'it says when it is credited')
  await post(`${url}/bridge/submit`, { transaction: signedBy(depositor.payment, transaction!) })
  const shown = async () => (await json(`${url}/deposits?id=${id}`)).deposits[0]
  await until(async () => (await shown()) !== undefined, { what: 'the deposit is on layer 1' })
  t.equal((await shown()).state, 'waiting')
  await until(async () => (await shown()).state !== 'waiting', { what: 'a block credits the deposit' })
  const { outref, output } = await shown()
  t.equal(outref, `${id}#0`)

  const [, payee, exit] = [1, 6, 7].map(walletOf)
  const spent = await payment({
    keys: depositor,
    funds: [utxoOf({ transactionId: fromHex(id!), index: 0 }, fromHex(output))],
    outputs: [{ address: payee!.addressText, lovelace: ada(70) }],
    parameters,
    slots,
  })
  t.equal((await submit(url, Buffer.from(spent.bytes).toString('hex'))).status, 200)
  const [received] = spent.produced

  const { address } = await json(`${url}/bridge`)
  const data = encodePlutusData(exit!.address.bytes)
  const withdrawn = await payment({
    keys: payee!,
    funds: [received!],
    outputs: [{ address, lovelace: ada(60), datum: { kind: 'inline', data } }],
    parameters,
    slots,
  })
  const before = await layer1.utxosAt(exit!.addressText)
  t.equal((await submit(url, Buffer.from(withdrawn.bytes).toString('hex'))).status, 200)
  const withdrawal = async () =>
    (await json(`${url}/withdrawals?address=${exit!.addressText}`)).withdrawals[0]
  await until(async () => (await withdrawal())?.state === 'paid', { what: 'the withdrawal is paid' })
  await until(async () => (await withdrawal()).payoutTxHash !== undefined, { what: 'its payout is named' })
  const after = await layer1.utxosAt(exit!.addressText)
  const { payoutTxHash } = await withdrawal()
  t.ok(
    after.some(({ reference }) => Buffer.from(reference.transactionId).toString('hex') === payoutTxHash),
    'it is the transaction that paid',
  )
  const sum = (utxos: typeof after) => utxos.reduce((total, each) => total + each.output.value.lovelace, 0n)
  t.equal(sum(after) - sum(before), ada(60) - 300_000n, 'less what the payer keeps')
  const { treasury, settlements } = await json(`${url}/bridge`)
  t.strictSame(settlements, [])
  t.equal(treasury.owed, '0')
  const { status } = await ask(`${url}/l2/blockfrost/api/v0/addresses/${address}/utxos`)
  t.equal(status, 404, 'what left never was on layer 2')
})
