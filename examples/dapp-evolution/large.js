// Large and rare transactions; prints a line for each. `CROWD` is an address with many outputs.
import {
  Address,
  Assets,
  Data,
  InlineDatum,
  NativeScripts,
  ScriptHash,
  Text,
  TransactionHash,
} from '@evolution-sdk/evolution'
import { ada, largest, open, send } from './ledger.js'

const [client, saver] = [open(), open(20)]
const own = await client.address()
const vault = await open(22).address()

const script = NativeScripts.makeScriptPubKey(own.paymentCredential.hash)
const policy = ScriptHash.toHex(ScriptHash.fromScript(script))
const run = Text.toHex(String(Date.now()))
const mint = (record) =>
  client
    .newTx()
    .mintAssets({ assets: Assets.fromRecord(record) })
    .attachScript({ script })

// A token with a reference token, whose datum describes it.
const [reference, token] = ['000643b0', '0014df10'].map((label) => policy + label + run)
const text = (value) => Data.bytearray(Text.toHex(value))
const metadata = Data.map([
  [text('name'), text('Squirrel')],
  [text('description'), text('A token of a test')],
  [text('decimals'), Data.int(6n)],
])
await send(
  client,
  `minted-cip68 ${token}`,
  mint({ [reference]: 1n, [token]: 1000n }).payToAddress({
    address: own,
    assets: Assets.fromRecord({ lovelace: 3_000_000n, [reference]: 1n }),
    datum: new InlineDatum.InlineDatum({ data: Data.constr(0n, [metadata, Data.int(1n), Data.int(0n)]) }),
  }),
)

// A hundred assets. They go to an address of their own: an input with many assets would need as much of the
// next transaction.
const hundred = Object.fromEntries(
  Array.from({ length: 100 }, (_, i) => [policy + Text.toHex(`${i} `) + run, 1n]),
)
const kept = Assets.fromRecord({ lovelace: 12_000_000n, ...hundred })
await send(client, 'minted-hundred', mint(hundred).payToAddress({ address: vault, assets: kept }))

// A wallet with forty outputs of 2 ada, which pays almost all of them.
let saving = client.newTx()
const savings = await saver.address()
for (let i = 0; i < 40; i++) saving = saving.payToAddress({ address: savings, assets: ada(2n) })
await send(client, 'saved-in-forty', saving)
await send(saver, 'paid-from-forty', saver.newTx().payToAddress({ address: own, assets: ada(78n) }))

// Twenty transactions, each of which spends the change of the one before. The last is submitted first.
let available = [largest(await client.getWalletUtxos())]
const chain = []
for (let i = 0; i < 20; i++) {
  const built = await client
    .newTx()
    .payToAddress({ address: own, assets: ada(2n) })
    .build({ availableUtxos: available })
  chain.push(await built.sign())
  // The payment comes back, too: without it, each transaction would have one more output to spend.
  available = [largest(built.chainResult().available)]
}
const reversed = await Promise.all(chain.toReversed().map((signed) => signed.submit()))
await client.awaitTx(reversed[0], 500)
console.log(`reversed ${reversed.map(TransactionHash.toHex).join()}`)

console.log(`found-in-crowd ${(await client.getUtxos(Address.fromBech32(process.env.CROWD))).length}`)
