// Connects a wallet, and pays, locks and unlocks on layer 2. The dev wallet has test ada; any other wallet
// signs what layer 2 holds.
import {
  applyCborEncoding,
  BlockfrostProvider,
  BrowserWallet,
  MeshTxBuilder,
  mConStr0,
  serializePlutusScript,
} from '@meshsdk/core'
import { layer2 } from '@ratatosk/client/wallet'

const node = new URL(location.href).searchParams.get('node') ?? 'http://127.0.0.1:3000'
const api = `${node}/l2/blockfrost/api/v0`
const field = (id) => document.getElementById(id)
const show = (text) => field('log').append(`${text}\n`)

// A script that lets anyone unlock.
const lock = { code: applyCborEncoding('450101002499'), version: 'V3' }
const { address } = serializePlutusScript(lock, undefined, 0)
const provider = new BlockfrostProvider(api)
let wallet

async function send(what, build) {
  const builder = new MeshTxBuilder({ fetcher: provider, evaluator: provider })
  builder.setNetwork(await provider.fetchCostModels())
  const utxos = await wallet.getUtxos()
  build(builder, utxos)
  const own = await wallet.getChangeAddress()
  const unsigned = await builder.changeAddress(own).selectUtxosFrom(utxos).complete()
  const hash = await wallet.submitTx(await wallet.signTx(unsigned))
  await new Promise((resolve) => provider.onTxConfirmed(hash, resolve))
  show(`${what} ${hash}`)
}
const ada = (amount) => [{ unit: 'lovelace', quantity: String(amount * 1_000_000) }]

const actions = {
  async connect() {
    const name = field('wallets').value
    // Mesh finds wallets by their names.
    const enable = async () => layer2(await window.cardano[name].enable(), { url: api })
    if (name !== 'ratatosk') window.cardano[`${name} on layer 2`] = { ...window.cardano[name], enable }
    wallet = await BrowserWallet.enable(name === 'ratatosk' ? name : `${name} on layer 2`)
    show(`connected ${await wallet.getChangeAddress()}`)
  },
  async pay() {
    const receiver = field('receiver').value
    await send('paid', (transaction) => transaction.txOut(receiver, ada(5)))
  },
  async lock() {
    await send('locked', (transaction) => transaction.txOut(address, ada(10)).txOutInlineDatumValue(42))
  },
  async unlock() {
    const [found] = await provider.fetchAddressUTxOs(address)
    if (found === undefined) throw new Error('nothing is locked')
    const { input, output } = found
    await send('unlocked', (transaction, utxos) => {
      const [collateral] = utxos.filter(({ output }) => output.amount.length === 1)
      transaction
        .spendingPlutusScriptV3()
        .txIn(input.txHash, input.outputIndex, output.amount, output.address)
        .txInInlineDatumPresent()
        .txInRedeemerValue(mConStr0([]))
        .txInScript(lock.code)
        .txInCollateral(collateral.input.txHash, collateral.input.outputIndex)
    })
  },
}

for (const [id, act] of Object.entries(actions)) {
  field(id).onclick = () =>
    act().catch((error) => show(`${id} failed: ${error.info ?? error.message ?? error}`))
}

// Offers the node's dev wallet as window.cardano.ratatosk.
const script = document.createElement('script')
script.src = `${node}/dev-wallet.js`
script.onerror = () => show(`${script.src} cannot be loaded: is a node of the devnet running?`)
script.onload = () => field('wallets').append(...Object.keys(window.cardano).map((name) => new Option(name)))
document.head.append(script)
