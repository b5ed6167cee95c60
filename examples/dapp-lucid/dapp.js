// Pays, mints, locks and unlocks. CARDANO_API says on which ledger; nothing else differs between layer 1 and
// layer 2.
import {
  Blockfrost,
  Data,
  fromText,
  Lucid,
  mintingPolicyToId,
  paymentCredentialOf,
  SLOT_CONFIG_NETWORK,
  scriptFromNative,
  validatorToAddress,
} from '@lucid-evolution/lucid'

const { CARDANO_API: api, MNEMONIC: mnemonic } = process.env

// The ledger's clock: slot 0 is at its start.
const genesis = await (await fetch(`${api}/genesis`)).json()
SLOT_CONFIG_NETWORK.Custom = {
  zeroTime: genesis.system_start * 1000,
  zeroSlot: 0,
  slotLength: genesis.slot_length * 1000,
}

const lucid = await Lucid(new Blockfrost(api, 'no project id'), 'Custom')
lucid.selectWallet.fromSeed(mnemonic)
const own = await lucid.wallet().address()

async function send(what, transaction) {
  const built = await transaction.complete({ localUPLCEval: false })
  const hash = await (await built.sign.withWallet().complete()).submit()
  await lucid.awaitTx(hash, 500)
  console.log(`${what} ${hash}`)
  return hash
}

// Pay 5 ada.
lucid.selectWallet.fromSeed(mnemonic, { accountIndex: 1 })
const friend = await lucid.wallet().address()
lucid.selectWallet.fromSeed(mnemonic)
await send('paid', lucid.newTx().pay.ToAddress(friend, { lovelace: 5_000_000n }))

// Mint a token that the holder of this key alone can mint.
const policy = scriptFromNative({ type: 'sig', keyHash: paymentCredentialOf(own).hash })
const unit = mintingPolicyToId(policy) + fromText('Ratatosk')
await send(
  'minted',
  lucid
    .newTx()
    .mintAssets({ [unit]: 1n })
    .attach.MintingPolicy(policy)
    .addSigner(own),
)

// Lock 10 ada and the token with a Plutus V3 script, which lets anyone unlock them.
const lock = { type: 'PlutusV3', script: '450101002499' }
const address = validatorToAddress('Custom', lock)
const datum = { kind: 'inline', value: Data.to(42n) }
const locked = await send(
  'locked',
  lucid.newTx().pay.ToContract(address, datum, { lovelace: 10_000_000n, [unit]: 1n }),
)

// Find it by its token, and unlock it.
const found = await lucid.utxosAtWithUnit(address, unit)
const outputs = found.filter(({ txHash }) => txHash === locked)
await send('unlocked', lucid.newTx().collectFrom(outputs, Data.void()).attach.SpendingValidator(lock))
console.log(`left at the script: ${(await lucid.utxosAtWithUnit(address, unit)).length}`)
