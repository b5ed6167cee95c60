import { createRequire } from 'node:module'
import type { LucidEvolution, Provider, SpendingValidator } from '@lucid-evolution/lucid'
import { toHex } from '@ratatosk/cbor'
import { failing, succeeding } from '@ratatosk/test-kit/ledger-apis'
import { type Test, test } from 'tap'
import { testWallets } from '../genesis.js'
import { type ServedDevnet, serveDevnet } from '../test/scenes.js'

// Loaded as CommonJS: the ES modules of its libsodium lack a file.
const {
  Blockfrost,
  Kupmios,
  Lucid,
  SLOT_CONFIG_NETWORK,
  validatorToAddress,
  validatorToRewardAddress,
  validatorToScriptHash,
} = createRequire(import.meta.url)('@lucid-evolution/lucid') as typeof import('@lucid-evolution/lucid')

const unit = 'd87980'
const openLock: SpendingValidator = { type: 'PlutusV3', script: toHex(succeeding) }
const closedLock: SpendingValidator = { type: 'PlutusV3', script: toHex(failing) }

const providers: Readonly<Record<string, (served: ServedDevnet) => Provider>> = {
  Blockfrost: ({ blockfrost }) => new Blockfrost(blockfrost, 'devnet'),
  Kupmios: ({ kupo, ogmios }) => new Kupmios(kupo, ogmios),
}

async function open(t: Test, provider: (served: ServedDevnet) => Provider) {
  const served = await serveDevnet({ blockEveryMs: 0 })
  t.teardown(() => served.close())
  const { zeroTime, zeroSlot, slotLength } = served.devnet.slots
  SLOT_CONFIG_NETWORK.Custom = { zeroTime: Number(zeroTime), zeroSlot: Number(zeroSlot), slotLength }
  const lucid = await Lucid(provider(served), 'Custom')
  lucid.selectWallet.fromSeed(testWallets.mnemonic)
  return { served, lucid }
}

/** Signs and submits, and makes a block while the SDK awaits the transaction. */
async function confirm(
  served: ServedDevnet,
  lucid: LucidEvolution,
  builder: ReturnType<LucidEvolution['newTx']>,
) {
  const complete = await builder.complete({ localUPLCEval: false })
  const signed = await complete.sign.withWallet().complete()
  const hash = await signed.submit()
  const awaited = lucid.awaitTx(hash, 50)
  await served.devnet.produceBlock()
  await awaited
  return hash
}

for (const [name, provider] of Object.entries(providers)) {
  test(`Lucid Evolution with its ${name} provider`, async (t) => {
    t.test('queries, pays and awaits', async (t) => {
      const { served, lucid } = await open(t, provider)
      const address = await lucid.wallet().address()
      t.equal(address, testWallets.wallets[0]?.address)
      const utxos = await lucid.wallet().getUtxos()
      t.equal(utxos.length, 5)
      t.equal(utxos[0]?.assets.lovelace, 10_000_000_000n)

      const to = testWallets.wallets[1]?.address ?? ''
      const hash = await confirm(served, lucid, lucid.newTx().pay.ToAddress(to, { lovelace: 3_000_000n }))
      t.equal(served.devnet.status(hash).status, 'confirmed')
      const [paid] = await lucid.utxosByOutRef([{ txHash: hash, outputIndex: 0 }])
      t.match(paid, { address: to, assets: { lovelace: 3_000_000n } })
      t.equal((await lucid.utxosAt(to)).length, 6)
    })

    t.test('locks with a datum and unlocks with a Plutus script that the devnet evaluates', async (t) => {
      const { served, lucid } = await open(t, provider)
      const lock = validatorToAddress('Custom', openLock)
      const locking = lucid
        .newTx()
        .pay.ToContract(lock, { kind: 'inline', value: unit }, { lovelace: 5_000_000n })
      await confirm(served, lucid, locking)
      const locked = await lucid.utxosAt(lock)
      t.match(locked, [{ datum: unit, assets: { lovelace: 5_000_000n } }])
      const unlocking = lucid.newTx().collectFrom(locked, unit).attach.SpendingValidator(openLock)
      const hash = await confirm(served, lucid, unlocking)
      t.equal(served.devnet.status(hash).status, 'confirmed')
      t.same(await lucid.utxosAt(lock), [])
    })

    t.test('mints with a reference script and finds the asset', async (t) => {
      const { served, lucid } = await open(t, provider)
      const policy = validatorToScriptHash(openLock)
      const asset = `${policy}${toHex(Buffer.from('devnet'))}`
      const address = await lucid.wallet().address()
      const publishing = lucid
        .newTx()
        .pay.ToAddressWithData(address, { kind: 'inline', value: unit }, { lovelace: 5_000_000n }, openLock)
      const published = await confirm(served, lucid, publishing)
      const reference = await lucid.utxosByOutRef([{ txHash: published, outputIndex: 0 }])
      t.match(reference, [{ scriptRef: { type: 'PlutusV3' } }])
      const minting = lucid
        .newTx()
        .readFrom(reference)
        .mintAssets({ [asset]: 1n }, unit)
        .pay.ToAddress(address, { lovelace: 2_000_000n, [asset]: 1n })
      const minted = await confirm(served, lucid, minting)
      t.match(await lucid.utxoByUnit(asset), { txHash: minted, assets: { [asset]: 1n } })
      t.equal((await lucid.utxosAtWithUnit(address, asset)).length, 1)
    })

    t.test('registers a script and withdraws zero with it', async (t) => {
      const { served, lucid } = await open(t, provider)
      const account = validatorToRewardAddress('Custom', openLock)
      await confirm(served, lucid, lucid.newTx().register.Stake(account))
      const withdrawing = lucid.newTx().withdraw(account, 0n, unit).attach.WithdrawalValidator(openLock)
      const hash = await confirm(served, lucid, withdrawing)
      t.equal(served.devnet.status(hash).status, 'confirmed')
    })

    t.test('reports a failing script while building', async (t) => {
      const { served, lucid } = await open(t, provider)
      const lock = validatorToAddress('Custom', closedLock)
      const locking = lucid
        .newTx()
        .pay.ToContract(lock, { kind: 'inline', value: unit }, { lovelace: 5_000_000n })
      await confirm(served, lucid, locking)
      const unlocking = lucid
        .newTx()
        .collectFrom(await lucid.utxosAt(lock), unit)
        .attach.SpendingValidator(closedLock)
      const error = await unlocking.complete({ localUPLCEval: false }).then(
        () => undefined,
        (reason: unknown) => String(reason),
      )
      t.match(error, name === 'Blockfrost' ? /validatorFailed/ : /3012|validationError/)
    })

    t.test('reports why a transaction was rejected', async (t) => {
      const { lucid, served } = await open(t, provider)
      const builder = lucid.newTx().pay.ToAddress(await lucid.wallet().address(), { lovelace: 3_000_000n })
      const signed = await (await builder.complete()).sign.withWallet().complete()
      await signed.submit()
      await served.devnet.produceBlock()
      const error = await signed.submit().then(
        () => undefined,
        (reason: unknown) => String(reason),
      )
      t.match(error, /BadInputsUTxO/)
    })

    t.test('finds a datum by its hash', async (t) => {
      const { served, lucid } = await open(t, provider)
      const lock = validatorToAddress('Custom', openLock)
      const locking = lucid
        .newTx()
        .pay.ToContract(lock, { kind: 'asHash', value: unit }, { lovelace: 5_000_000n })
      await confirm(served, lucid, locking)
      const [locked] = await lucid.utxosAt(lock)
      t.type(locked?.datumHash, 'string')
      t.equal(await lucid.config().provider?.getDatum(locked?.datumHash ?? ''), unit)
    })
  })
}
