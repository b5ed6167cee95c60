// The steps of a dApp, one line each. CARDANO_API, or CARDANO_KUPO and CARDANO_OGMIOS, say on which ledger;
// nothing else differs between layer 1 and layer 2.
import { Core, makeValue } from '@blaze-cardano/sdk'
import { adaOf, chainOf, confirmed, master, open, pay, policyOf, print, provider, send } from './ledger.js'

const opened = await open()
const { blaze, own } = opened

// The friend is account 9: with stake, and without.
const hardened = (index) => 2 ** 31 + index
const account = master.derive([hardened(1852), hardened(1815), hardened(9)])
const credentialOf = (path) => {
  const hash = account.derive(path).toPublic().toRawKey().hash().hex()
  return Core.Credential.fromCore({ type: Core.CredentialType.KeyHash, hash })
}
const friend = Core.addressFromCredentials(Core.NetworkId.Testnet, credentialOf([0, 0]), credentialOf([2, 0]))
const friendWithoutStake = Core.addressFromCredential(Core.NetworkId.Testnet, credentialOf([0, 0]))

const transferred = await send(blaze, 'transferred', blaze.newTransaction().payLovelace(friend, 5_000_000n))

// Three tokens that the holder of this key alone can mint and burn. Their names are new in each run.
const policy = policyOf(own)
const policyId = Core.PolicyId(policy.hash())
const names = ['A', 'B', 'C'].map((letter) => Core.toHex(Buffer.from(`${letter} ${transferred.slice(0, 8)}`)))
const units = names.map((name) => Core.AssetId.fromParts(policyId, Core.AssetName(name)))
const withTokens = (lovelace, quantity) => makeValue(lovelace, ...units.map((unit) => [unit, quantity]))
const quantities = (quantity) => names.map((name) => [Core.AssetName(name), quantity])
const mint = (assets) => blaze.newTransaction().addMint(policyId, new Map(assets)).provideScript(policy)
const single = Core.AssetName(Core.toHex(Buffer.from(`only ${transferred.slice(0, 8)}`)))
const nft = Core.AssetId.fromParts(policyId, single)
await send(blaze, 'minted', mint([...quantities(100n), [single, 1n]]))

// Two addresses with one payment key.
await send(
  blaze,
  'transferred-assets',
  blaze
    .newTransaction()
    .payAssets(friend, withTokens(2_000_000n, 10n))
    .payAssets(friendWithoutStake, withTokens(2_000_000n, 5n)),
)
await send(blaze, 'burned', mint(quantities(-20n)))

// Scripts that let anyone unlock.
const lock = Core.Script.newPlutusV3Script(new Core.PlutusV3Script(Core.HexBlob('450101002499')))
const olderLock = Core.Script.newPlutusV2Script(
  new Core.PlutusV2Script(Core.HexBlob('4d01000033222220051200120011')),
)
const addressOf = (script) => Core.addressFromValidator(Core.NetworkId.Testnet, script)
const integer = (value) => Core.PlutusData.newInteger(value)
const findLocked = async (script, hash) =>
  (await provider.getUnspentOutputs(addressOf(script))).filter(
    (each) => each.input().transactionId() === hash,
  )

const inline = await send(
  blaze,
  'locked-inline',
  blaze.newTransaction().lockAssets(addressOf(lock), withTokens(10_000_000n, 1n), integer(42n)),
)
const [withDatum] = await findLocked(lock, inline)
await send(
  blaze,
  'unlocked-inline',
  blaze.newTransaction().addInput(withDatum, integer(0n)).provideScript(lock),
)

const hashed = await send(
  blaze,
  'locked-hash',
  blaze.newTransaction().lockLovelace(addressOf(olderLock), 10_000_000n, integer(42n).hash()),
)
const [withHash] = await findLocked(olderLock, hashed)
await send(
  blaze,
  'unlocked-hash',
  blaze.newTransaction().addInput(withHash, integer(0n), integer(42n)).provideScript(olderLock),
)

// The script in an output of its own, and two outputs that it locks.
const published = await send(
  blaze,
  'published-script',
  blaze
    .newTransaction()
    .deployScript(lock, friend)
    .lockLovelace(addressOf(lock), 10_000_000n, integer(1n))
    .lockLovelace(addressOf(lock), 10_000_000n, integer(2n)),
)
const [reference] = await provider.resolveUnspentOutputs([new Core.TransactionInput(published, 0n)])
const atScript = await findLocked(lock, published)
const unlocking = blaze.newTransaction().addReferenceInput(reference)
for (const each of atScript) unlocking.addInput(each, integer(0n))
await send(blaze, 'unlocked-by-reference', unlocking)

print('found-by-address', atScript.length)
// Blaze asks for a unit alone only if one output holds it.
const held = await provider.getUnspentOutputByNFT(nft)
print('found-by-unit', held.output().amount().multiasset().get(nft))
print(
  'found-by-credential',
  'unsupported: Blaze asks for an address only; of a credential it takes that on mainnet without stake',
)

// Ten transactions, each of which spends what the one before pays. All are signed before the first is
// submitted.
const source = await adaOf(opened)
const chain = await chainOf(opened, source, 10)
const hashes = []
for (const transaction of chain) hashes.push(await blaze.submitTransaction(transaction))
await confirmed(hashes.at(-1))
print('chained', hashes.join(','))

// The first of them has spent this output.
const again = await pay(opened, source, friend, 5_000_000n)
const begun = performance.now()
const refusal = await blaze.submitTransaction(again).then(
  () => 'nothing',
  (error) => error.message,
)
print('refused', `after ${Math.round(performance.now() - begun)} ms: ${refusal.replace(/\s+/g, ' ')}`)
// Blaze's client of Ogmios does not say when its connection is closed.
process.exit()
