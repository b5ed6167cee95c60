// Pays, mints, locks and unlocks. CARDANO_API says on which ledger; nothing else differs between layer 1 and
// layer 2.
import {
  applyCborEncoding,
  BlockfrostProvider,
  ForgeScript,
  MeshTxBuilder,
  MeshWallet,
  mConStr0,
  resolveScriptHash,
  serializePlutusScript,
  stringToHex,
} from '@meshsdk/core'

const { CARDANO_API: api, MNEMONIC: mnemonic } = process.env

const provider = new BlockfrostProvider(api)
const words = mnemonic.split(' ')
const open = async (accountIndex) => {
  const wallet = new MeshWallet({
    networkId: 0,
    accountIndex,
    fetcher: provider,
    submitter: provider,
    key: { type: 'mnemonic', words },
  })
  await wallet.init()
  return wallet
}
const wallet = await open(0)
const own = await wallet.getChangeAddress()
const costModels = await provider.fetchCostModels()

async function send(what, build) {
  const builder = new MeshTxBuilder({ fetcher: provider, evaluator: provider })
  builder.setNetwork(costModels)
  const utxos = await wallet.getUtxos()
  build(builder, utxos)
  const unsigned = await builder.changeAddress(own).selectUtxosFrom(utxos).complete()
  const hash = await wallet.submitTx(await wallet.signTx(unsigned))
  await new Promise((resolve) => provider.onTxConfirmed(hash, resolve))
  console.log(`${what} ${hash}`)
  return hash
}
const lovelace = (quantity) => ({ unit: 'lovelace', quantity })

// Pay 5 ada.
const friend = await (await open(1)).getChangeAddress()
await send('paid', (transaction) => transaction.txOut(friend, [lovelace('5000000')]))

// Mint a token that the holder of this key alone can mint.
const policy = ForgeScript.withOneSignature(own)
const name = stringToHex('Ratatosk')
const token = { unit: resolveScriptHash(policy) + name, quantity: '1' }
await send('minted', (transaction) =>
  transaction.mint('1', resolveScriptHash(policy), name).mintingScript(policy),
)

// Lock 10 ada and the token with a Plutus V3 script, which lets anyone unlock them.
const lock = { code: applyCborEncoding('450101002499'), version: 'V3' }
const { address } = serializePlutusScript(lock, undefined, 0)
const locked = await send('locked', (transaction) =>
  transaction.txOut(address, [lovelace('10000000'), token]).txOutInlineDatumValue(42),
)

// Find it by its token, and unlock it.
const found = await provider.fetchAddressUTxOs(address, token.unit)
const { input, output } = found.find(({ input }) => input.txHash === locked)
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
console.log(`left at the script: ${(await provider.fetchAddressUTxOs(address, token.unit)).length}`)
