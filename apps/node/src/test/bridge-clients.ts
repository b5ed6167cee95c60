import { createRequire } from 'node:module'
import { join } from 'node:path'
import { toHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import type { Test } from 'tap'

/** Decimal amounts by unit: policy id and asset name in hex, joined, or `lovelace`. */
export type Amounts = Readonly<Record<string, string>>

/** An SDK, installed unchanged; it knows no more of a ledger than the URL of its Blockfrost API. */
export interface Sdk {
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
export function lucid(): Sdk {
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
export async function mesh(t: Test): Promise<Sdk> {
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
