// Connects a wallet, and pays, locks and unlocks on layer 2. The dev wallet has test ada; any other wallet
// signs what layer 2 holds.
import { Blockfrost, Data, Lucid, SLOT_CONFIG_NETWORK, validatorToAddress } from '@lucid-evolution/lucid'
import { layer2 } from '@ratatosk/client/wallet'

const node = new URL(location.href).searchParams.get('node') ?? 'http://127.0.0.1:3000'
const api = `${node}/l2/blockfrost/api/v0`
const field = (id) => document.getElementById(id)
const show = (text) => field('log').append(`${text}\n`)

// A script that lets anyone unlock.
const lock = { type: 'PlutusV3', script: '450101002499' }
const address = validatorToAddress('Custom', lock)
let lucid

async function send(what, transaction) {
  const built = await transaction.complete({ localUPLCEval: false })
  const hash = await (await built.sign.withWallet().complete()).submit()
  await lucid.awaitTx(hash, 500)
  show(`${what} ${hash}`)
}

const actions = {
  async connect() {
    // The ledger's clock: slot 0 is at its start.
    const genesis = await (await fetch(`${api}/genesis`)).json()
    const [zeroTime, slotLength] = [genesis.system_start * 1000, genesis.slot_length * 1000]
    SLOT_CONFIG_NETWORK.Custom = { zeroTime, zeroSlot: 0, slotLength }
    lucid = await Lucid(new Blockfrost(api, 'no project id'), 'Custom')
    const name = field('wallets').value
    const wallet = await window.cardano[name].enable()
    lucid.selectWallet.fromAPI(name === 'ratatosk' ? wallet : layer2(wallet, { url: api }))
    show(`connected ${await lucid.wallet().address()}`)
  },
  async pay() {
    const receiver = field('receiver').value
    await send('paid', lucid.newTx().pay.ToAddress(receiver, { lovelace: 5_000_000n }))
  },
  async lock() {
    const datum = { kind: 'inline', value: Data.to(42n) }
    await send('locked', lucid.newTx().pay.ToContract(address, datum, { lovelace: 10_000_000n }))
  },
  async unlock() {
    const [output] = await lucid.utxosAt(address)
    if (output === undefined) throw new Error('nothing is locked')
    const transaction = lucid.newTx().collectFrom([output], Data.void()).attach.SpendingValidator(lock)
    await send('unlocked', transaction)
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
