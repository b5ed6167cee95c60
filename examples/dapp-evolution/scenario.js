// The steps of dApps; prints a line for each. CARDANO_API, or CARDANO_KUPO and CARDANO_OGMIOS, say on which
// ledger and by which provider.
import {
  Address,
  Assets,
  Bytes,
  Data,
  Effect,
  InlineDatum,
  NativeScripts,
  PlutusV2,
  PlutusV3,
  Redeemers,
  ScriptHash,
  Text,
  Transaction,
  TransactionBody,
  TransactionHash,
  TransactionInput,
  TransactionWitnessSet,
  TxOut,
} from '@evolution-sdk/evolution'
import * as CostModel from '@evolution-sdk/evolution/CostModel'
import { runEffectPromise } from '@evolution-sdk/evolution/EffectRuntime'
import { ada, confirm, largest, open, send } from './ledger.js'

const client = open()
const own = await client.address()
const friend = await open(4).address()

const of =
  (...hashes) =>
  ({ transactionId }) =>
    hashes.includes(TransactionHash.toHex(transactionId))

// Two payments to the same key, with stake and without.
const friendKey = friend.paymentCredential
const transferred = await send(
  client,
  'transferred',
  client
    .newTx()
    .payToAddress({ address: friend, assets: ada(5n) })
    .payToAddress({
      address: Address.Address.make({ networkId: 0, paymentCredential: friendKey }),
      assets: ada(3n),
    }),
)

// Two assets of this run.
const policy = NativeScripts.makeScriptPubKey(own.paymentCredential.hash)
const [squirrel, acorn] = ['Squirrel', 'Acorn'].map(
  (name) => ScriptHash.toHex(ScriptHash.fromScript(policy)) + Text.toHex(`${name} ${Date.now()}`),
)
const mint = (record) =>
  client
    .newTx()
    .mintAssets({ assets: Assets.fromRecord(record) })
    .attachScript({ script: policy })
await send(client, 'minted', mint({ [squirrel]: 10n, [acorn]: 5n }))
const transferredAssets = await send(
  client,
  'transferred-assets',
  client.newTx().payToAddress({
    address: friend,
    assets: Assets.fromRecord({ lovelace: 3_000_000n, [squirrel]: 4n, [acorn]: 5n }),
  }),
)
await send(client, 'burned', mint({ [squirrel]: -1n }))

// A Plutus V3 script that lets anyone unlock, with the datum in the output.
const answer = Data.int(42n)
// Not 0n: the builder would take it for none.
const redeemer = Data.constr(0n, [])
const lock = new PlutusV3.PlutusV3({ bytes: Bytes.fromHex('450101002499') })
const address = Address.Address.make({ networkId: 0, paymentCredential: ScriptHash.fromScript(lock) })
const datum = new InlineDatum.InlineDatum({ data: answer })
const lockedInline = await send(
  client,
  'locked-inline',
  client
    .newTx()
    .payToAddress({ address, assets: Assets.fromRecord({ lovelace: 10_000_000n, [squirrel]: 1n }), datum }),
)
await send(
  client,
  'unlocked-inline',
  client
    .newTx()
    .collectFrom({ inputs: (await client.getUtxos(address)).filter(of(lockedInline)), redeemer })
    .attachScript({ script: lock }),
)

// The same in Plutus V2, with the hash of the datum in the output. The builder leaves the datum out of the
// witnesses, so it is added to what it evaluates and builds; the change pays for it.
const lockV2 = new PlutusV2.PlutusV2({ bytes: Bytes.fromHex('46010000222499') })
const addressV2 = Address.Address.make({ networkId: 0, paymentCredential: ScriptHash.fromScript(lockV2) })
const lockedHash = await send(
  client,
  'locked-hash',
  client.newTx().payToAddress({ address: addressV2, assets: ada(10n), datum: Data.toDatumHash(answer) }),
)
await confirm(client, 'unlocked-hash', await unlockByHash())

async function unlockByHash() {
  const inputs = (await client.getUtxos(addressV2)).filter(of(lockedHash))
  const withDatum = ({ body, witnessSet, isValid, auxiliaryData }) =>
    new Transaction.Transaction({
      body,
      witnessSet: new TransactionWitnessSet.TransactionWitnessSet({ ...witnessSet, plutusData: [answer] }),
      isValid,
      auxiliaryData,
    })
  const evaluate = (transaction) => Effect.promise(() => client.evaluateTx(withDatum(transaction)))
  const unsigned = await client
    .newTx()
    .collectFrom({ inputs, redeemer })
    .attachScript({ script: lockV2 })
    .build({ evaluator: { evaluate } })
  const built = await unsigned.toTransaction()
  const { costModels } = await client.getProtocolParameters()
  const views = new CostModel.CostModels({
    PlutusV1: new CostModel.CostModel({ costs: [] }),
    PlutusV2: new CostModel.CostModel({ costs: Object.values(costModels.PlutusV2).map(BigInt) }),
    PlutusV3: new CostModel.CostModel({ costs: [] }),
  })
  const extraFee = 10_000n
  const [change, ...others] = built.body.outputs
  const paid = new TxOut.TransactionOutput({
    ...change,
    assets: Assets.subtractLovelace(change.assets, extraFee),
  })
  const body = new TransactionBody.TransactionBody({
    ...built.body,
    outputs: [paid, ...others],
    fee: built.body.fee + extraFee,
    scriptDataHash: Redeemers.toScriptDataHash(built.witnessSet.redeemers, views, [answer]),
  })
  const transaction = withDatum({ ...built, body })
  const utxos = [...inputs, ...(await client.getWalletUtxos())]
  const { vkeyWitnesses } = await client.signTx(transaction, { utxos })
  return client.submitTx(
    new Transaction.Transaction({
      ...transaction,
      witnessSet: new TransactionWitnessSet.TransactionWitnessSet({
        ...transaction.witnessSet,
        vkeyWitnesses,
      }),
    }),
  )
}

// Publishes the script in one output, and locks another that is unlocked by reference to it.
const published = await send(
  client,
  'published-script',
  client
    .newTx()
    .payToAddress({ address, assets: ada(10n), datum, script: lock })
    .payToAddress({ address, assets: ada(5n), datum }),
)
const outputs = await client.getUtxosByOutRef(
  [0n, 1n].map(
    (index) =>
      new TransactionInput.TransactionInput({ transactionId: TransactionHash.fromHex(published), index }),
  ),
)
const [reference, locked] = [0n, 1n].map((index) => outputs.find((output) => output.index === index))
await send(
  client,
  'unlocked-by-reference',
  client
    .newTx()
    .readFrom({ referenceInputs: [reference] })
    .collectFrom({ inputs: [locked], redeemer }),
)

// The outputs at the script, all acorns, and the three payments to the friend's key.
const count = (step, found) => console.log(`${step} ${found.length}`)
count('found-by-address', (await client.getUtxos(address)).filter(of(published)))
count('found-by-unit', [await client.getUtxoByUnit(acorn)].filter(of(transferredAssets)))
count('found-by-credential', (await client.getUtxos(friendKey)).filter(of(transferred, transferredAssets)))

// Each transaction spends the output of the one before, without waiting for it.
let available = [largest(await client.getWalletUtxos())]
const chained = []
for (let i = 0; i < 10; i++) {
  const built = await client
    .newTx()
    .payToAddress({ address: friend, assets: ada(2n) })
    .build({ availableUtxos: available })
  chained.push(await built.signAndSubmit())
  available = built
    .chainResult()
    .available.filter((output) => Address.toBech32(output.address) === Address.toBech32(own))
}
await client.awaitTx(chained.at(-1), 500)
console.log(`chained ${chained.map(TransactionHash.toHex).join()}`)

// Two transactions that spend the same output: the ledger takes one.
const once = { availableUtxos: [largest(await client.getWalletUtxos())] }
const [first, second] = await Promise.all(
  [2n, 3n].map(async (quantity) => {
    const transaction = client.newTx().payToAddress({ address: friend, assets: ada(quantity) })
    return (await transaction.build(once)).sign()
  }),
)
const taken = await first.submit()
// `submit()` would hide the causes of the error, where the words of the ledger are.
const begun = performance.now()
const refusal = await runEffectPromise(second.effect.submit()).catch((error) => error)
const ms = Math.round(performance.now() - begun)
await client.awaitTx(taken, 500)
const words = (error) => (error instanceof Error ? [error.message, ...words(error.cause)] : [])
console.log(`refused after ${ms} ms: ${words(refusal).join(': ').replace(/\s+/g, ' ')}`)
