// The ledger of CARDANO_API, or of CARDANO_KUPO and CARDANO_OGMIOS, and wallets on it.
import { setTimeout as delay } from 'node:timers/promises'
import {
  BlockfrostProvider,
  KupoProvider,
  MeshTxBuilder,
  MeshWallet,
  OgmiosProvider,
  resolveTxHash,
} from '@meshsdk/core'
import { WebSocket } from 'ws'

const { CARDANO_API, CARDANO_KUPO, CARDANO_OGMIOS, MNEMONIC } = process.env

// OgmiosProvider takes it from the platform; Node.js has it from version 22 on.
globalThis.WebSocket ??= WebSocket

export const blockfrost = CARDANO_API && new BlockfrostProvider(CARDANO_API)
const ogmios = new OgmiosProvider(CARDANO_OGMIOS?.replace(/^http/, 'ws'))
export const fetcher = blockfrost ?? new KupoProvider(CARDANO_KUPO)
const evaluator = blockfrost ?? ogmios
const submitter = blockfrost ?? ogmios

/** KupoProvider has no cost models; OgmiosProvider answers with all parameters as Ogmios writes them. */
async function fetchCostModels() {
  if (blockfrost) return blockfrost.fetchCostModels()
  const { plutusCostModels } = await ogmios.fetchProtocolParameters()
  return ['plutus:v1', 'plutus:v2', 'plutus:v3'].map((language) => plutusCostModels[language])
}
const costModels = await fetchCostModels()

export async function open(accountIndex) {
  const key = { type: 'mnemonic', words: MNEMONIC.split(' ') }
  const wallet = new MeshWallet({ networkId: 0, accountIndex, fetcher, submitter, key })
  await wallet.init()
  return wallet
}

export const print = (step, detail) => console.log(`${step} ${detail}`)
export const lovelace = (quantity) => ({ unit: 'lovelace', quantity: String(quantity) })
export const isAda = ({ output }) => output.amount.length === 1

export const newBuilder = (own, options = { fetcher, evaluator }) =>
  new MeshTxBuilder(options).setNetwork(costModels).changeAddress(own)
export const sign = async (wallet, builder) => wallet.signTx(await builder.complete())

export async function confirmed(hash) {
  if (blockfrost) return new Promise((resolve) => blockfrost.onTxConfirmed(hash, resolve))
  // Mesh has no listener for Kupo.
  while ((await fetcher.fetchUTxOs(hash)).length === 0) await delay(200)
}

export async function send(wallet, step, build) {
  const utxos = await wallet.getUtxos()
  const builder = newBuilder(await wallet.getChangeAddress()).selectUtxosFrom(utxos)
  build(builder, utxos)
  const hash = await wallet.submitTx(await sign(wallet, builder))
  await confirmed(hash)
  print(step, hash)
  return hash
}

/** Without the size of its reference script, Mesh looks the output up. */
export const spendFrom = (own, { input, output }) =>
  // With an evaluator, it asks the ledger even without scripts.
  newBuilder(own, { fetcher }).txIn(input.txHash, input.outputIndex, output.amount, output.address, 0)

/** Transactions of which each spends what the one before pays; all are signed. */
export async function chainOf(wallet, source, length) {
  const address = await wallet.getChangeAddress()
  const chain = []
  for (let utxo = source, ada = 90; chain.length < length; ada -= 2) {
    const amount = [lovelace(ada * 1_000_000)]
    const transaction = await sign(wallet, spendFrom(address, utxo).txOut(address, amount))
    chain.push(transaction)
    utxo = { input: { txHash: resolveTxHash(transaction), outputIndex: 0 }, output: { address, amount } }
  }
  return chain
}
