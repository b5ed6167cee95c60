// Pays, mints, locks and unlocks. CARDANO_API says on which ledger; nothing else differs between layer 1 and
// layer 2.
import {
  Address,
  Assets,
  Bytes,
  Client,
  Data,
  InlineDatum,
  NativeScripts,
  PlutusV3,
  ScriptHash,
  Text,
  TransactionHash,
} from '@evolution-sdk/evolution'

const { CARDANO_API: api, MNEMONIC: mnemonic } = process.env

// The ledger's network and clock: slot 0 is at its start.
const genesis = await (await fetch(`${api}/genesis`)).json()
const chain = {
  name: 'the ledger at CARDANO_API',
  id: 0,
  networkMagic: genesis.network_magic,
  slotConfig: {
    zeroTime: BigInt(genesis.system_start) * 1000n,
    zeroSlot: 0n,
    slotLength: genesis.slot_length * 1000,
  },
  epochLength: genesis.epoch_length,
}

const ledger = Client.make(chain).withBlockfrost({ baseUrl: api })
const client = ledger.withSeed({ mnemonic })
const own = await client.address()

async function send(what, transaction) {
  const hash = await (await transaction.build()).signAndSubmit()
  await client.awaitTx(hash, 500)
  console.log(`${what} ${TransactionHash.toHex(hash)}`)
  return TransactionHash.toHex(hash)
}

// Pay 5 ada.
const friend = await ledger.withSeed({ mnemonic, accountIndex: 1 }).address()
await send('paid', client.newTx().payToAddress({ address: friend, assets: Assets.fromLovelace(5_000_000n) }))

// Mint a token that the holder of this key alone can mint.
const policy = NativeScripts.makeScriptPubKey(own.paymentCredential.hash)
const unit = ScriptHash.toHex(ScriptHash.fromScript(policy)) + Text.toHex('Ratatosk')
await send(
  'minted',
  client
    .newTx()
    .mintAssets({ assets: Assets.fromRecord({ [unit]: 1n }) })
    .attachScript({ script: policy }),
)

// Lock 10 ada and the token with a Plutus V3 script, which lets anyone unlock them.
const lock = new PlutusV3.PlutusV3({ bytes: Bytes.fromHex('450101002499') })
const address = Address.Address.make({ networkId: 0, paymentCredential: ScriptHash.fromScript(lock) })
const locked = await send(
  'locked',
  client.newTx().payToAddress({
    address,
    assets: Assets.fromRecord({ lovelace: 10_000_000n, [unit]: 1n }),
    datum: new InlineDatum.InlineDatum({ data: Data.int(42n) }),
  }),
)

// Find it by its token, and unlock it.
const found = await client.getUtxosWithUnit(address, unit)
const inputs = found.filter(({ transactionId }) => TransactionHash.toHex(transactionId) === locked)
await send(
  'unlocked',
  client
    .newTx()
    .collectFrom({ inputs, redeemer: Data.constr(0n, []) })
    .attachScript({ script: lock }),
)
console.log(`left at the script: ${(await client.getUtxosWithUnit(address, unit)).length}`)
