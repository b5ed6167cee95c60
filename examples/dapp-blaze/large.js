// Large and rare transactions; prints a line for each. `CROWD` is an address with many outputs.
import { Core, makeValue } from '@blaze-cardano/sdk'
import { adaOf, chainOf, confirmed, connect, open, policyOf, print, provider, send } from './ledger.js'

const opened = await open()
const { blaze, own } = opened
// The same key without stake, whose address has no outputs yet.
const saver = await open(Core.AddressType.EnterpriseKey)

const policy = policyOf(own)
const policyId = Core.PolicyId(policy.hash())
const vault = Core.addressFromValidator(Core.NetworkId.Testnet, policy)
const hex = (text) => Core.toHex(Buffer.from(text))
const run = hex(String(Date.now()))
const mint = (names) =>
  blaze
    .newTransaction()
    .addMint(policyId, new Map(names.map(([name, quantity]) => [Core.AssetName(name), quantity])))
    .provideScript(policy)

// A token with a reference token, whose datum describes it.
const [reference, token] = [`000643b0${run}`, `0014df10${run}`]
const text = (value) => Core.PlutusData.newBytes(Buffer.from(value))
const metadata = new Core.PlutusMap()
metadata.insert(text('name'), text('Squirrel'))
metadata.insert(text('description'), text('A token of a test'))
metadata.insert(text('decimals'), Core.PlutusData.newInteger(6n))
const fields = new Core.PlutusList()
fields.add(Core.PlutusData.newMap(metadata))
for (const number of [1n, 0n]) fields.add(Core.PlutusData.newInteger(number))
const datum = Core.PlutusData.newConstrPlutusData(new Core.ConstrPlutusData(0n, fields))
const described = new Core.TransactionOutput(
  own,
  makeValue(3_000_000n, [Core.AssetId(policyId + reference), 1n]),
)
described.setDatum(Core.Datum.newInlineData(datum))
await send(
  blaze,
  `minted-cip68 ${policyId}${token}`,
  mint([
    [reference, 1n],
    [token, 1000n],
  ]).addOutput(described),
)

// A hundred assets. They go to an address of their own: an input with many assets would need as much of the
// next transaction.
const assets = Array.from({ length: 100 }, (_, i) => [hex(`${i} `) + run, 1n])
const units = assets.map(([name, quantity]) => [Core.AssetId(policyId + name), quantity])
const kept = new Core.TransactionOutput(vault, makeValue(12_000_000n, ...units))
await send(blaze, 'minted-hundred', mint(assets).addOutput(kept))

// A wallet with forty outputs of 2 ada, which pays almost all of them.
const saving = blaze.newTransaction()
for (let i = 0; i < 40; i++) saving.payLovelace(saver.own, 2_000_000n)
await send(blaze, 'saved-in-forty', saving)
// Blaze itself chooses at most thirty inputs.
const spending = saver.blaze.newTransaction().payLovelace(own, 78_000_000n)
for (const saved of await saver.wallet.getUnspentOutputs()) spending.addInput(saved)
await send(saver.blaze, 'paid-from-forty', spending)

// Twenty transactions, each of which spends what the one before pays. The last is submitted first. A
// connection of Ogmios takes one request after the other, so each transaction has its own.
const chain = await chainOf(opened, await adaOf(opened), 20)
const submit = async (transaction) => (await connect()).postTransactionToChain(transaction)
const reversed = await Promise.all(chain.toReversed().map(submit))
await confirmed(reversed[0])
print('reversed', reversed.join(','))

const crowd = await provider.getUnspentOutputs(Core.addressFromBech32(process.env.CROWD))
print('found-in-crowd', crowd.length)
// Blaze's client of Ogmios does not say when its connection is closed.
process.exit()
