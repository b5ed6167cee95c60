import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fromHex, toHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import { scriptHash } from '@ratatosk/ledger'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { networkOf } from '../network/network.js'
import { temporaryDirectory } from '../test/backends.js'
import { layer1Of, payment, post, signedBy, utxoOf, walletOf, walletOutputs } from '../test/bridge-wallet.js'
import { initialised, runNode, submit } from '../test/node.js'
import { devnetParameters } from '../test/transfer.js'

t.setTimeout(180_000)

const ada = (amount: number): bigint => BigInt(amount) * 1_000_000n

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

/** Decimal amounts by unit: policy id and asset name in hex, joined, or `lovelace`. */
type Amounts = Readonly<Record<string, string>>

/** An SDK, installed unchanged; it knows no more of a ledger than the URL of its Blockfrost API. */
interface Sdk {
  readonly name: string
  /** Opens the wallet of an account of the test wallets' mnemonic. */
  open(url: string, account: number): Promise<SdkWallet>
}

/** A wallet of an SDK on one ledger. Transactions are awaited until the ledger has them. */
interface SdkWallet {
  readonly address: string
  /** Unspent outputs as CIP-30 gives them. */
  outputs(): Promise<readonly string[]>
  /** The policy of what `mint` mints. */
  readonly policy: string
  /** Mints under a native script that asks for the signature of the wallet. */
  mint(amounts: Amounts): Promise<string>
  /** Signs a transaction that someone else has built. */
  sign(transaction: string): Promise<string>
  /** The inline datum of the first output of a transaction, in hex. */
  datumOf(transactionId: string): Promise<string | undefined>
  /** Spends the first output of a transaction, and pays with an inline datum, which is one byte string. */
  pay(transactionId: string, to: string, amounts: Amounts, datum: Uint8Array): Promise<string>
}

/** Lucid Evolution. */
function lucid(): Sdk {
  // Loaded as CommonJS: the ES modules of its libsodium lack a file.
  const sdk = createRequire(import.meta.url)(
    '@lucid-evolution/lucid',
  ) as typeof import('@lucid-evolution/lucid')
  return { name: 'Lucid', open: (url, account) => openLucid(sdk, url, account) }
}

const bigints = (amounts: Amounts): Record<string, bigint> =>
  Object.fromEntries(Object.entries(amounts).map(([unit, quantity]) => [unit, BigInt(quantity)]))

async function openLucid(
  sdk: typeof import('@lucid-evolution/lucid'),
  url: string,
  account: number,
): Promise<SdkWallet> {
  const { Blockfrost, Data, Lucid, mintingPolicyToId, paymentCredentialOf, scriptFromNative, utxoToCore } =
    sdk
  const lucid = await Lucid(new Blockfrost(url), 'Custom')
  lucid.selectWallet.fromSeed(testWallets.mnemonic, { accountIndex: account })
  const address = await lucid.wallet().address()
  const policy = scriptFromNative({ type: 'sig', keyHash: paymentCredentialOf(address).hash })
  const first = (transactionId: string) => lucid.utxosByOutRef([{ txHash: transactionId, outputIndex: 0 }])

  async function send(builder: ReturnType<typeof lucid.newTx>): Promise<string> {
    const signed = await (await builder.complete()).sign.withWallet().complete()
    const hash = await signed.submit()
    await lucid.awaitTx(hash, 200)
    return hash
  }

  return {
    address,
    policy: mintingPolicyToId(policy),
    outputs: async () => (await lucid.wallet().getUtxos()).map((utxo) => utxoToCore(utxo).to_cbor_hex()),
    mint: (amounts) => send(lucid.newTx().mintAssets(bigints(amounts)).attach.MintingPolicy(policy)),
    sign: async (transaction) => (await lucid.fromTx(transaction).sign.withWallet().complete()).toCBOR(),
    datumOf: async (transactionId) => (await first(transactionId))[0]?.datum ?? undefined,
    pay: async (transactionId, to, amounts, datum) => {
      const value = Data.to(toHex(datum))
      const spending = lucid.newTx().collectFrom(await first(transactionId))
      return send(spending.pay.ToAddressWithData(to, { kind: 'inline', value }, bigints(amounts)))
    },
  }
}

/** The part of Mesh that the tests call: it is no dependency of the repository. */
interface Mesh {
  readonly BlockfrostProvider: new (url: string) => MeshProvider
  readonly MeshWallet: new (options: Readonly<Record<string, unknown>>) => MeshWallet
  readonly MeshTxBuilder: new (options: { readonly fetcher: MeshProvider }) => MeshBuilder
  readonly ForgeScript: { withOneSignature(address: string): string }
  resolveScriptHash(script: string): string
}

interface MeshAmount {
  readonly unit: string
  readonly quantity: string
}

interface MeshUtxo {
  readonly input: { readonly txHash: string; readonly outputIndex: number }
  readonly output: {
    readonly address: string
    readonly amount: readonly MeshAmount[]
    readonly plutusData?: string
  }
}

interface MeshProvider {
  fetchUTxOs(hash: string, index: number): Promise<readonly MeshUtxo[]>
  onTxConfirmed(hash: string, confirmed: () => void): void
}

interface MeshWallet {
  init(): Promise<void>
  getChangeAddress(): Promise<string>
  getUtxos(): Promise<readonly MeshUtxo[]>
  getUtxosHex(): Promise<readonly string[]>
  signTx(transaction: string): Promise<string>
  submitTx(transaction: string): Promise<string>
}

interface MeshBuilder {
  mint(quantity: string, policy: string, name: string): MeshBuilder
  mintingScript(script: string): MeshBuilder
  txIn(hash: string, index: number, amount: readonly MeshAmount[], address: string): MeshBuilder
  txOut(address: string, amount: readonly MeshAmount[]): MeshBuilder
  txOutInlineDatumValue(data: string): MeshBuilder
  changeAddress(address: string): MeshBuilder
  selectUtxosFrom(utxos: readonly MeshUtxo[]): MeshBuilder
  complete(): Promise<string>
}

/** Mesh, installed from the registry as `examples/dapp-mesh` asks for it. */
async function mesh(t: Test): Promise<Sdk> {
  const examples = new URL('../../../../examples/run-client.mjs', import.meta.url)
  const { install }: { install(t: Test, name: string): Promise<string> } = await import(examples.href)
  const sdk: Mesh = createRequire(join(await install(t, 'dapp-mesh'), 'package.json'))('@meshsdk/core')
  return { name: 'Mesh', open: (url, account) => openMesh(sdk, url, account) }
}

const listed = (amounts: Amounts): readonly MeshAmount[] =>
  Object.entries(amounts).map(([unit, quantity]) => ({ unit, quantity }))

async function openMesh(sdk: Mesh, url: string, account: number): Promise<SdkWallet> {
  const provider = new sdk.BlockfrostProvider(url)
  const wallet = new sdk.MeshWallet({
    networkId: 0,
    accountIndex: account,
    fetcher: provider,
    submitter: provider,
    key: { type: 'mnemonic', words: testWallets.mnemonic.split(' ') },
  })
  await wallet.init()
  const address = await wallet.getChangeAddress()
  const script = sdk.ForgeScript.withOneSignature(address)
  const policy = sdk.resolveScriptHash(script)

  async function send(build: (builder: MeshBuilder) => unknown): Promise<string> {
    const builder = new sdk.MeshTxBuilder({ fetcher: provider })
    build(builder)
    const unsigned = await builder
      .changeAddress(address)
      .selectUtxosFrom(await wallet.getUtxos())
      .complete()
    const hash = await wallet.submitTx(await wallet.signTx(unsigned))
    await new Promise<void>((resolve) => provider.onTxConfirmed(hash, resolve))
    return hash
  }

  return {
    address,
    policy,
    outputs: () => wallet.getUtxosHex(),
    mint: (amounts) =>
      send((builder) => {
        for (const { unit, quantity } of listed(amounts))
          builder.mint(quantity, policy, unit.slice(policy.length)).mintingScript(script)
      }),
    sign: (transaction) => wallet.signTx(transaction),
    datumOf: async (transactionId) => (await provider.fetchUTxOs(transactionId, 0))[0]?.output.plutusData,
    pay: async (transactionId, to, amounts, datum) => {
      const [spent] = await provider.fetchUTxOs(transactionId, 0)
      if (spent === undefined) throw new Error(`Mesh does not find output 0 of ${transactionId}`)
      const { input, output } = spent
      return send((builder) =>
        builder
          .txIn(input.txHash, input.outputIndex, output.amount, output.address)
          .txOut(to, listed(amounts))
          .txOutInlineDatumValue(toHex(datum)),
      )
    },
  }
}

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
const lovelaceOf = (amount: number): string => String(amount * 1_000_000)

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
    lovelace: lovelaceOf(100),
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
    lovelace: lovelaceOf(100),
    ...assets,
  })

  const { address, payoutFee } = await json(`${url}/bridge`)
  const target = walletOf(home)
  const leaving: Amounts = { lovelace: lovelaceOf(60), [first]: '70', [second]: '20' }
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
    lovelace: String(BigInt(lovelaceOf(60)) - BigInt(payoutFee)),
  })
}

/** The balance of an address, as a Blockfrost API answers it. */
async function amountsAt(api: string, address: string): Promise<Amounts> {
  const { amount } = await json(`${api}/addresses/${address}`)
  return Object.fromEntries(
    amount.map(({ unit, quantity }: { unit: string; quantity: string }) => [unit, quantity]),
  )
}
