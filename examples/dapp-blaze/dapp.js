// Pays, mints, locks and unlocks. CARDANO_API says on which ledger; nothing else differs between layer 1 and
// layer 2.
import { Blaze, Blockfrost, Core, HotWallet, makeValue } from '@blaze-cardano/sdk'

const { CARDANO_API: api, MNEMONIC: mnemonic } = process.env

const provider = new Blockfrost({ network: 'cardano-preview', projectId: 'none' })
provider.url = `${api}/`

const entropy = Core.mnemonicToEntropy(mnemonic, Core.wordlist)
const key = Core.Bip32PrivateKey.fromBip39Entropy(Buffer.from(entropy), '')
const wallet = await HotWallet.fromMasterkey(key.hex(), provider)
const blaze = await Blaze.from(provider, wallet)
const own = await wallet.getChangeAddress()

async function send(what, transaction) {
  const signed = await blaze.signTransaction(await transaction.complete())
  const hash = await blaze.submitTransaction(signed)
  await provider.awaitTransactionConfirmation(hash, 60_000)
  console.log(`${what} ${hash}`)
  return hash
}

// Pay 5 ada. The friend has the same key without stake.
const keyHash = own.getProps().paymentPart.hash
const friend = Core.addressFromCredential(
  Core.NetworkId.Testnet,
  Core.Credential.fromCore({ type: Core.CredentialType.KeyHash, hash: keyHash }),
)
await send('paid', blaze.newTransaction().payLovelace(friend, 5_000_000n))

// Mint a token that the holder of this key alone can mint.
const policy = Core.Script.newNativeScript(Core.NativeScript.newScriptPubkey(new Core.ScriptPubkey(keyHash)))
const name = Core.AssetName(Buffer.from('Ratatosk').toString('hex'))
const unit = Core.AssetId.fromParts(Core.PolicyId(policy.hash()), name)
await send(
  'minted',
  blaze
    .newTransaction()
    .addMint(Core.PolicyId(policy.hash()), new Map([[name, 1n]]))
    .provideScript(policy),
)

// Lock 10 ada and the token with a Plutus V3 script, which lets anyone unlock them.
const lock = Core.Script.newPlutusV3Script(new Core.PlutusV3Script(Core.HexBlob('450101002499')))
const address = Core.addressFromValidator(Core.NetworkId.Testnet, lock)
const integer = (value) => Core.PlutusData.newInteger(value)
const locked = await send(
  'locked',
  blaze.newTransaction().lockAssets(address, makeValue(10_000_000n, [unit, 1n]), integer(42n)),
)

// Find it by its token, and unlock it.
const find = () => provider.getUnspentOutputsWithAsset(address, unit)
const output = (await find()).find((each) => each.input().transactionId() === locked)
await send('unlocked', blaze.newTransaction().addInput(output, integer(0n)).provideScript(lock))
console.log(`left at the script: ${(await find()).length}`)
