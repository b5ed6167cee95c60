// Large and rare transactions; prints a line for each. `CROWD` is an address with many outputs.
import { ForgeScript, resolveScriptHash, stringToHex } from '@meshsdk/core'
import { chainOf, confirmed, fetcher, isAda, lovelace, open, print, send } from './ledger.js'

const [wallet, saver] = [await open(0), await open(20)]
const own = await wallet.getChangeAddress()
const savings = await saver.getChangeAddress()
const vault = await (await open(22)).getChangeAddress()

const script = ForgeScript.withOneSignature(own)
const policy = resolveScriptHash(script)
const run = stringToHex(String(Date.now()))
const token = (name, quantity = 1) => ({ unit: policy + name, quantity: String(quantity) })
const mint = (builder, name, quantity = 1) =>
  builder.mint(String(quantity), policy, name).mintingScript(script)

// A token with a reference token, whose datum describes it.
const [reference, fungible] = [`000643b0${run}`, `0014df10${run}`]
const text = (value) => ({ bytes: stringToHex(value) })
const metadata = [
  { k: text('name'), v: text('Squirrel') },
  { k: text('description'), v: text('A token of a test') },
  { k: text('decimals'), v: { int: 6 } },
]
await send(wallet, `minted-cip68 ${policy}${fungible}`, (builder) => {
  mint(builder, reference)
  mint(builder, fungible, 1000)
  builder
    .txOut(own, [lovelace(3_000_000), token(reference)])
    .txOutInlineDatumValue({ constructor: 0, fields: [{ map: metadata }, { int: 1 }, { int: 0 }] }, 'JSON')
})

// A hundred assets. They go to an address of their own: an input with many assets would need as much of the
// next transaction.
await send(wallet, 'minted-hundred', (builder) => {
  const names = Array.from({ length: 100 }, (_, i) => stringToHex(`${i} `) + run)
  for (const name of names) mint(builder, name)
  builder.txOut(vault, [lovelace(12_000_000), ...names.map((name) => token(name))])
})

// A wallet with forty outputs of 2 ada, which pays almost all of them.
await send(wallet, 'saved-in-forty', (builder) => {
  for (let i = 0; i < 40; i++) builder.txOut(savings, [lovelace(2_000_000)])
})
await send(saver, 'paid-from-forty', (builder) => builder.txOut(own, [lovelace(78_000_000)]))

// Twenty transactions, each of which spends what the one before pays. The last is submitted first.
const source = (await wallet.getUtxos()).find(
  (utxo) => isAda(utxo) && Number(utxo.output.amount[0].quantity) > 100_000_000,
)
const chain = await chainOf(wallet, source, 20)
const reversed = await Promise.all(chain.toReversed().map((transaction) => wallet.submitTx(transaction)))
await confirmed(reversed[0])
print('reversed', reversed.join(','))

print('found-in-crowd', (await fetcher.fetchAddressUTxOs(process.env.CROWD)).length)
// OgmiosProvider may leave a connection open.
process.exit()
