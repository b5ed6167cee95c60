// The steps of a dApp, one line each. CARDANO_API, or CARDANO_KUPO and CARDANO_OGMIOS, say on which ledger;
// nothing else differs between layer 1 and layer 2.
import {
  applyCborEncoding,
  deserializeAddress,
  ForgeScript,
  mConStr0,
  resolveScriptHash,
  serializePlutusScript,
  stringToHex,
} from '@meshsdk/core'
import { bech32 } from 'bech32'
import {
  blockfrost,
  chainOf,
  confirmed,
  fetcher,
  isAda,
  lovelace,
  open,
  print,
  send,
  sign,
  spendFrom,
} from './ledger.js'

const wallet = await open(0)
const own = await wallet.getChangeAddress()
const friend = (await open(9)).getAddresses()

const transferred = await send(wallet, 'transferred', (builder) =>
  builder.txOut(friend.baseAddressBech32, [lovelace(5_000_000)]),
)

// Three tokens that the holder of this key alone can mint and burn. Their names are new in each run.
const policy = ForgeScript.withOneSignature(own)
const names = ['A', 'B', 'C'].map((letter) => stringToHex(`${letter} ${transferred.slice(0, 8)}`))
const tokens = (quantity) =>
  names.map((name) => ({ unit: resolveScriptHash(policy) + name, quantity: String(quantity) }))
const mint = (builder, quantity) => {
  for (const name of names) builder.mint(quantity, resolveScriptHash(policy), name).mintingScript(policy)
}
await send(wallet, 'minted', (builder) => mint(builder, '100'))

// Two addresses with one payment key.
const shared = await send(wallet, 'transferred-assets', (builder) =>
  builder
    .txOut(friend.baseAddressBech32, [lovelace(2_000_000), ...tokens(10)])
    .txOut(friend.enterpriseAddressBech32, [lovelace(2_000_000), ...tokens(5)]),
)
await send(wallet, 'burned', (builder) => mint(builder, '-20'))

// Scripts that let anyone unlock.
const lockOf = (code, version) => {
  const script = { code: applyCborEncoding(code), version }
  return { ...script, ...serializePlutusScript(script, undefined, 0) }
}
const lock = lockOf('450101002499', 'V3')
const olderLock = lockOf('4d01000033222220051200120011', 'V2')

const addCollateral = (builder, utxos) => {
  const { input, output } = utxos.find(isAda)
  builder.txInCollateral(input.txHash, input.outputIndex, output.amount, output.address)
}
async function findLocked({ address }, hash) {
  const found = await fetcher.fetchAddressUTxOs(address)
  return found.filter(({ input }) => input.txHash === hash)
}

const inline = await send(wallet, 'locked-inline', (builder) =>
  builder.txOut(lock.address, [lovelace(10_000_000), ...tokens(1)]).txOutInlineDatumValue(42),
)
const [{ input, output }] = await findLocked(lock, inline)
await send(wallet, 'unlocked-inline', (builder, utxos) => {
  builder
    .spendingPlutusScriptV3()
    .txIn(input.txHash, input.outputIndex, output.amount, output.address)
    .txInInlineDatumPresent()
    .txInRedeemerValue(mConStr0([]))
    .txInScript(lock.code)
  addCollateral(builder, utxos)
})

const hashed = await send(wallet, 'locked-hash', (builder) =>
  builder.txOut(olderLock.address, [lovelace(10_000_000)]).txOutDatumHashValue(42),
)
const [{ input: olderInput, output: olderOutput }] = await findLocked(olderLock, hashed)
await send(wallet, 'unlocked-hash', (builder, utxos) => {
  builder
    .spendingPlutusScriptV2()
    .txIn(olderInput.txHash, olderInput.outputIndex, olderOutput.amount, olderOutput.address)
    .txInDatumValue(42)
    .txInRedeemerValue(mConStr0([]))
    .txInScript(olderLock.code)
  addCollateral(builder, utxos)
})

// The script in an output of its own, and two outputs that it locks.
const published = await send(wallet, 'published-script', (builder) =>
  builder
    .txOut(friend.baseAddressBech32, [lovelace(2_000_000)])
    .txOutReferenceScript(lock.code, lock.version)
    .txOut(lock.address, [lovelace(10_000_000)])
    .txOutInlineDatumValue(1)
    .txOut(lock.address, [lovelace(10_000_000)])
    .txOutInlineDatumValue(2),
)
const atScript = await findLocked(lock, published)
const scriptHash = resolveScriptHash(lock.code, lock.version)
await send(wallet, 'unlocked-by-reference', (builder, utxos) => {
  for (const { input, output } of atScript) {
    builder
      .spendingPlutusScriptV3()
      .txIn(input.txHash, input.outputIndex, output.amount, output.address)
      .txInInlineDatumPresent()
      .txInRedeemerValue(mConStr0([]))
      .spendingTxInReference(published, 0, String(lock.code.length / 2), scriptHash)
  }
  addCollateral(builder, utxos)
})

print('found-by-address', atScript.length)

// KupoProvider puts what it is given as an address into the path, where Kupo takes any pattern.
const [{ unit }] = tokens(1)
const holders = blockfrost
  ? await blockfrost.fetchAssetAddresses(unit)
  : (await fetcher.fetchAddressUTxOs(`${unit.slice(0, 56)}.${unit.slice(56)}`)).map(({ output }) => output)
print('found-by-unit', new Set(holders.map(({ address }) => address)).size)

const { pubKeyHash } = deserializeAddress(friend.baseAddressBech32)
const credential = bech32.encode('addr_vkh', bech32.toWords(Buffer.from(pubKeyHash, 'hex')))
const ofFriend = await fetcher.fetchAddressUTxOs(blockfrost ? credential : `${pubKeyHash}/*`)
print('found-by-credential', ofFriend.filter(({ input }) => input.txHash === shared).length)

// Ten transactions, each of which spends what the one before pays. All are signed before the first is
// submitted.
const source = (await wallet.getUtxos()).find(
  (utxo) => isAda(utxo) && Number(utxo.output.amount[0].quantity) > 100_000_000,
)
const conflicting = await sign(
  wallet,
  spendFrom(own, source).txOut(friend.baseAddressBech32, [lovelace(5_000_000)]),
)
const chain = await chainOf(wallet, source, 10)
const hashes = []
for (const transaction of chain) hashes.push(await wallet.submitTx(transaction))
await confirmed(hashes.at(-1))
print('chained', hashes.join(','))

// The first of them has spent what this one spends.
const begun = performance.now()
const refusal = await wallet.submitTx(conflicting).then(
  () => 'nothing',
  (error) => (typeof error === 'string' ? error : JSON.stringify(error)),
)
print('refused', `after ${Math.round(performance.now() - begun)} ms: ${refusal.replace(/\s+/g, ' ')}`)
// OgmiosProvider leaves the connection of a refused submission open.
process.exit()
