// The steps of dApps; prints a line for each. CARDANO_API, or CARDANO_KUPO and CARDANO_OGMIOS, say on which
// ledger and by which provider.
import {
  credentialToAddress,
  Data,
  fromText,
  mintingPolicyToId,
  paymentCredentialOf,
  scriptFromNative,
  validatorToAddress,
} from '@lucid-evolution/lucid'
import { largest, lucid, options, select, send, sign } from './ledger.js'

const friend = await select(4)
const own = await select(0)

const of =
  (...hashes) =>
  (output) =>
    hashes.includes(output.txHash)

// Two payments to the same key, with stake and without.
const friendKey = paymentCredentialOf(friend)
const transferred = await send(
  'transferred',
  lucid
    .newTx()
    .pay.ToAddress(friend, { lovelace: 5_000_000n })
    .pay.ToAddress(credentialToAddress('Custom', friendKey), { lovelace: 3_000_000n }),
)

// Two assets of this run.
const policy = scriptFromNative({ type: 'sig', keyHash: paymentCredentialOf(own).hash })
const [squirrel, acorn] = ['Squirrel', 'Acorn'].map(
  (name) => mintingPolicyToId(policy) + fromText(`${name} ${Date.now()}`),
)
await send(
  'minted',
  lucid
    .newTx()
    .mintAssets({ [squirrel]: 10n, [acorn]: 5n })
    .attach.MintingPolicy(policy)
    .addSigner(own),
)
const transferredAssets = await send(
  'transferred-assets',
  lucid.newTx().pay.ToAddress(friend, { lovelace: 3_000_000n, [squirrel]: 4n, [acorn]: 5n }),
)
await send(
  'burned',
  lucid
    .newTx()
    .mintAssets({ [squirrel]: -1n })
    .attach.MintingPolicy(policy)
    .addSigner(own),
)

// A Plutus V3 script that lets anyone unlock, with the datum in the output.
const lock = { type: 'PlutusV3', script: '450101002499' }
const address = validatorToAddress('Custom', lock)
const inline = { kind: 'inline', value: Data.to(42n) }
const lockedInline = await send(
  'locked-inline',
  lucid.newTx().pay.ToContract(address, inline, { lovelace: 10_000_000n, [squirrel]: 1n }),
)
await send(
  'unlocked-inline',
  lucid
    .newTx()
    .collectFrom((await lucid.utxosAt(address)).filter(of(lockedInline)), Data.void())
    .attach.SpendingValidator(lock),
)

// The same in Plutus V2, with the hash of the datum in the output.
const lockV2 = { type: 'PlutusV2', script: '46010000222499' }
const addressV2 = validatorToAddress('Custom', lockV2)
const lockedHash = await send(
  'locked-hash',
  lucid.newTx().pay.ToContract(addressV2, { kind: 'asHash', value: Data.to(42n) }, { lovelace: 10_000_000n }),
)
await send(
  'unlocked-hash',
  lucid
    .newTx()
    .collectFrom((await lucid.utxosAt(addressV2)).filter(of(lockedHash)), Data.void())
    .attach.SpendingValidator(lockV2),
)

// Publishes the script in one output, and locks another that is unlocked by reference to it.
const published = await send(
  'published-script',
  lucid
    .newTx()
    .pay.ToContract(address, inline, { lovelace: 10_000_000n }, lock)
    .pay.ToContract(address, inline, { lovelace: 5_000_000n }),
)
const [reference] = await lucid.utxosByOutRef([{ txHash: published, outputIndex: 0 }])
await send(
  'unlocked-by-reference',
  lucid
    .newTx()
    .readFrom([reference])
    .collectFrom(await lucid.utxosByOutRef([{ txHash: published, outputIndex: 1 }]), Data.void()),
)

// The outputs at the script, all acorns, and the three payments to the friend's key.
const count = (step, outputs) => console.log(`${step} ${outputs.length}`)
count('found-by-address', (await lucid.utxosAt(address)).filter(of(published)))
count('found-by-unit', [await lucid.utxoByUnit(acorn)].filter(of(transferredAssets)))
count('found-by-credential', (await lucid.utxosAt(friendKey)).filter(of(transferred, transferredAssets)))

// Ten transactions, each of which has nothing to spend but the change of the one before. All are signed
// before the first is submitted.
lucid.overrideUTxOs([largest(await lucid.wallet().getUtxos())])
const chain = []
for (let i = 0; i < 10; i++) {
  const [change, , built] = await lucid.newTx().pay.ToAddress(friend, { lovelace: 2_000_000n }).chain(options)
  chain.push(await sign(built))
  lucid.overrideUTxOs(change)
}
const chained = []
for (const transaction of chain) chained.push(await transaction.submit())
await lucid.awaitTx(chained.at(-1), 500)
lucid.overrideUTxOs([])
console.log(`chained ${chained.join()}`)

// Two transactions that spend the same output: the ledger takes one.
const once = { ...options, presetWalletInputs: [largest(await lucid.wallet().getUtxos())] }
const [first, second] = await Promise.all(
  [2_000_000n, 3_000_000n].map(async (lovelace) =>
    sign(await lucid.newTx().pay.ToAddress(friend, { lovelace }).complete(once)),
  ),
)
const taken = await first.submit()
const begun = performance.now()
const refusal = await second.submit().catch((error) => error)
const ms = Math.round(performance.now() - begun)
await lucid.awaitTx(taken, 500)
console.log(`refused after ${ms} ms: ${refusal.message.replace(/\s+/g, ' ')}`)
