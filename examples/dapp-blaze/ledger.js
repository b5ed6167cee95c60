// The ledger of CARDANO_API, or of CARDANO_KUPO and CARDANO_OGMIOS, and wallets on it.
import { setTimeout as delay } from 'node:timers/promises'
import { Unwrapped } from '@blaze-cardano/ogmios'
import { Blaze, Blockfrost, Core, HotWallet, Kupmios, TxBuilder } from '@blaze-cardano/sdk'

const { CARDANO_API, CARDANO_KUPO, CARDANO_OGMIOS, MNEMONIC } = process.env

// Blaze's client of Ogmios logs its URL to standard output, where this program writes its steps.
export const print = (step, detail) => process.stdout.write(`${step} ${detail}\n`)
console.log = console.error

export async function connect() {
  if (!CARDANO_API) {
    return new Kupmios(CARDANO_KUPO, await Unwrapped.Ogmios.new(CARDANO_OGMIOS.replace(/^http/, 'ws')))
  }
  const blockfrost = new Blockfrost({ network: 'cardano-preview', projectId: 'none' })
  blockfrost.url = `${CARDANO_API}/`
  return blockfrost
}
export const provider = await connect()

const entropy = Core.mnemonicToEntropy(MNEMONIC, Core.wordlist)
export const master = Core.Bip32PrivateKey.fromBip39Entropy(Buffer.from(entropy), '')
/** The wallet of account 0 at one kind of its addresses. */
export async function open(type = Core.AddressType.BasePaymentKeyStakeKey) {
  const wallet = await HotWallet.fromMasterkey(master.hex(), provider, Core.NetworkId.Testnet, type)
  return { wallet, blaze: await Blaze.from(provider, wallet), own: await wallet.getChangeAddress() }
}

export async function confirmed(hash) {
  // Kupmios takes every answer of Kupo for a confirmation, even one without outputs.
  const first = new Core.TransactionInput(hash, 0n)
  const found = async () => (await provider.resolveUnspentOutputs([first]).catch(() => [])).length > 0
  while (!(await provider.awaitTransactionConfirmation(hash)) || !(await found())) await delay(200)
}

export async function send(blaze, step, builder) {
  const hash = await blaze.submitTransaction(await sign(blaze, builder))
  await confirmed(hash)
  print(step, hash)
  return hash
}

const sign = async (blaze, builder) => blaze.signTransaction(await builder.complete())

/** Spends an output of a wallet for one payment. */
export const pay = ({ blaze, own }, utxo, address, lovelace) =>
  sign(
    blaze,
    new TxBuilder(blaze.params)
      .setNetworkId(Core.NetworkId.Testnet)
      .setChangeAddress(own)
      .addInput(utxo)
      .payLovelace(address, lovelace),
  )

/** An output of a wallet with more than 100 ada and nothing else. */
export const adaOf = async ({ wallet }) =>
  (await wallet.getUnspentOutputs()).find((utxo) => {
    const amount = utxo.output().amount()
    return amount.coin() > 100_000_000n && !amount.multiasset()?.size
  })

/** Transactions of which each spends what the one before pays; all are signed. */
export async function chainOf(opened, source, length) {
  const chain = []
  for (let utxo = source, ada = 90n; chain.length < length; ada -= 2n) {
    const transaction = await pay(opened, utxo, opened.own, ada * 1_000_000n)
    chain.push(transaction)
    const input = new Core.TransactionInput(transaction.getId(), 0n)
    utxo = new Core.TransactionUnspentOutput(input, transaction.body().outputs()[0])
  }
  return chain
}

/** A native script that the holder of an address alone can mint by. */
export const policyOf = (address) =>
  Core.Script.newNativeScript(
    Core.NativeScript.newScriptPubkey(new Core.ScriptPubkey(address.getProps().paymentPart.hash)),
  )
