// Large and rare transactions; prints a line for each. `CROWD` is an address with many outputs.
import {
  Constr,
  Data,
  fromText,
  mintingPolicyToId,
  paymentCredentialOf,
  scriptFromNative,
  toUnit,
} from '@lucid-evolution/lucid'
import { largest, lucid, options, select, send, sign } from './ledger.js'

const [saver, vault] = [await select(20), await select(22)]
const own = await select(0)

const policy = scriptFromNative({ type: 'sig', keyHash: paymentCredentialOf(own).hash })
const policyId = mintingPolicyToId(policy)
const run = fromText(String(Date.now()))
const mint = (assets) => lucid.newTx().mintAssets(assets).attach.MintingPolicy(policy).addSigner(own)

// A token with a reference token, whose datum describes it.
const [reference, token] = [100, 333].map((label) => toUnit(policyId, run, label))
const metadata = new Map([
  [fromText('name'), fromText('Squirrel')],
  [fromText('description'), fromText('A token of a test')],
  [fromText('decimals'), 6n],
])
const datum = { kind: 'inline', value: Data.to(new Constr(0, [metadata, 1n, 0n])) }
await send(
  `minted-cip68 ${token}`,
  mint({ [reference]: 1n, [token]: 1000n }).pay.ToAddressWithData(own, datum, {
    lovelace: 3_000_000n,
    [reference]: 1n,
  }),
)

// A hundred assets. They go to an address of their own: an input with many assets would need as much of the
// next transaction.
const hundred = Object.fromEntries(
  Array.from({ length: 100 }, (_, i) => [policyId + fromText(`${i} `) + run, 1n]),
)
await send('minted-hundred', mint(hundred).pay.ToAddress(vault, hundred))

// A wallet with forty outputs of 2 ada, which pays almost all of them.
const saving = lucid.newTx()
for (let i = 0; i < 40; i++) saving.pay.ToAddress(saver, { lovelace: 2_000_000n })
await send('saved-in-forty', saving)
await select(20)
await send('paid-from-forty', lucid.newTx().pay.ToAddress(own, { lovelace: 78_000_000n }))
await select(0)

// Twenty transactions, each of which spends the change of the one before. The last is submitted first.
lucid.overrideUTxOs([largest(await lucid.wallet().getUtxos())])
const chain = []
for (let i = 0; i < 20; i++) {
  const [change, , built] = await lucid.newTx().pay.ToAddress(own, { lovelace: 2_000_000n }).chain(options)
  chain.push(await sign(built))
  // The payment comes back, too: without it, each transaction would have one more output to spend.
  lucid.overrideUTxOs([largest(change)])
}
const reversed = await Promise.all(chain.toReversed().map((transaction) => transaction.submit()))
await lucid.awaitTx(reversed[0], 500)
console.log(`reversed ${reversed.join()}`)

console.log(`found-in-crowd ${(await lucid.utxosAt(process.env.CROWD)).length}`)
