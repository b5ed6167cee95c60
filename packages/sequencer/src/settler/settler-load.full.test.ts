import { BytesMap, toHex } from '@ratatosk/cbor'
import { type Devnet, testWallets } from '@ratatosk/devnet'
import { openWallet, type Wallet } from '@ratatosk/layer1'
import { encodeBech32Address } from '@ratatosk/ledger'
import { keysFromSeedPhrase, type WalletKeys } from '@ratatosk/ledger/builder'
import { buildDeposit, readBridge } from '@ratatosk/protocol'
import type { Store } from '@ratatosk/store'
import { signed } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { openRoots } from '../roots/index.js'
import { accept, acceptingAll } from '../test/accept.js'
import { everythingMerged, until } from '../test/agreement.js'
import { administrator, evaluator, openChain, openers, openRollup, user } from '../test/rollup.js'
import { bridgeTerms } from '../test/rollup-contracts.js'
import { createSettler, settlerKeys } from './create-settler.js'
import { ada, contracts, fakeLeases, leaving, payee, payoutFee } from './test/bridge-chain.js'
import type { Settler } from './types.js'

const blocks = Number(process.env.RATATOSK_SETTLEMENTS ?? 4)
const ofBlock = 50
const count = blocks * ofBlock
const amountOf = (n: number): bigint => 10n * ada + BigInt(n)

test(`${count} deposits are withdrawn in ${blocks} blocks, and three payers pay each once`, {
  timeout: 120_000 + count * 2000,
}, async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const { layer1, devnet } = chain
  context.onTestFinished(chain.keepMining())
  const { place } = contracts.bridge
  const bridge = place.script.hash
  const { sequencer } = await openRollup(context, store, layer1, {
    contracts,
    roots: await openRoots({ bridge }),
    submissions: acceptingAll(store, bridge),
    autoCommit: true,
    autoMerge: true,
    blockValidityMs: 15_000,
  })
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })

  const depositor = administrator(layer1)
  const slots = await layer1.slots()
  const ids: Uint8Array[] = []
  const deposits: Uint8Array[] = []
  for (let n = 0; n < count; n++) {
    const validUntil = (await layer1.currentSlot()) + 600n
    const request = { to: user.address, lovelace: amountOf(n), validUntil, slots }
    const { built, id } = await buildDeposit(depositor, contracts, request)
    await depositor.submit(built)
    ids.push(id)
    deposits.push(built.id)
    if (n % 10 === 9) await until(async () => devnet.mempool().length === 0)
  }
  for (const id of ids)
    await until(async () =>
      ['committed', 'mature', 'merged'].includes((await store.deposit(id))?.state ?? ''),
    )

  for (let first = 0; first < count; first += ofBlock) {
    const before = (await store.blocks.newest())?.height ?? 0n
    const transactions = Array.from({ length: ofBlock / 10 }, (_, part) => {
      const numbers = Array.from({ length: 10 }, (_, n) => first + part * 10 + n)
      return signed(user, {
        inputs: numbers.map((n) => ({ transactionId: ids[n]!, index: 0 })),
        outputs: numbers.map((n) => leaving(amountOf(n), payee(n).bytes)),
      })
    })
    await accept(store, transactions, bridge)
    await until(async () => ((await store.blocks.newest())?.height ?? 0n) > before)
    await until(async () => (await store.blocks.waiting(1)) === 0)
  }
  await until(() => everythingMerged(store), 300_000)
  const atBridge = async () => readBridge(contracts, (await layer1.utxosAsOf(place.addressText)).utxos)
  const { settlements } = await atBridge()
  expect(settlements.length).toBe(blocks)

  const open = (keys: WalletKeys): Wallet => openWallet({ layer1, keys, evaluator, withholdMs: 50 })
  const payers = [7, 8, 9].map((account) =>
    settlerKeys(keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account })),
  )
  for (const { addressText } of payers) {
    const outputs = Array.from({ length: 8 }, () => ({ address: addressText, lovelace: 50n * ada }))
    await layer1.await((await administrator(layer1).send({ outputs })).id)
  }
  const settlers = payers.map((keys, n) => {
    const wallet = open(keys)
    const settler = createSettler({
      layer1,
      contracts,
      blocks: store.blocks,
      leases: fakeLeases(),
      wallet,
      holder: `payer ${n}`,
      pollMs: 5,
    })
    context.onTestFinished(() => settler.close())
    return settler
  })
  const began = devnet.tip().height
  await Promise.all(settlers.map((settler) => settler.start()))
  await until(async () => (await atBridge()).settlements.length === 0, 60_000 + count * 1000)
  const ended = devnet.tip().height

  for (let n = 0; n < count; n++) {
    const paid = await layer1.utxosAt(encodeBech32Address(payee(n)))
    expect(
      paid.map(({ output }) => output.value.lovelace),
      `withdrawal ${n}`,
    ).toEqual([amountOf(n) - payoutFee])
  }
  // All is gone but the minimum of a reserve, to which a payer tops up what is left of the last one.
  const { reserves, deposits: left } = await atBridge()
  const held = [...reserves, ...left.map(({ utxo }) => utxo)]
  const toppedUp = held.reduce((sum, { output }) => sum + output.value.lovelace, 0n)
  expect(toppedUp).toBeLessThanOrEqual(BigInt(held.length) * bridgeTerms.reserveMin)
  await writeFees({ devnet, store, deposits, blocks: ended - began, settlers })
})

/** Prints the fees of layer 1 by kind of transaction. */
async function writeFees(of: {
  readonly devnet: Devnet
  readonly store: Store
  readonly deposits: readonly Uint8Array[]
  /** Of layer 1, in which all were paid. */
  readonly blocks: number
  readonly settlers: readonly Settler[]
}): Promise<void> {
  const kinds = new BytesMap<string>(of.deposits.map((id) => [id, 'deposit'] as const))
  const inQueue = await of.store.blocks.range(1n, 100_000n)
  for (const { commitTransaction, mergeTransaction } of inQueue) {
    if (commitTransaction) kinds.set(commitTransaction.id, 'commit')
    if (mergeTransaction) kinds.set(mergeTransaction.id, 'merge')
  }
  const payees = new Set(Array.from({ length: count }, (_, n) => toHex(payee(n).bytes)))
  const fees: Record<string, { transactions: number; paid: number; lovelace: bigint }> = {}
  let most = 0
  for (let height = 1; height <= of.devnet.tip().height; height++) {
    let paidInBlock = 0
    for (const { transaction } of of.devnet.block(height)?.transactions ?? []) {
      const { outputs, fee } = transaction.body
      const paid = outputs.filter(({ address }) => payees.has(toHex(address.bytes))).length
      paidInBlock += paid
      const kind = kinds.get(transaction.id) ?? (paid > 0 ? 'payout' : 'other')
      fees[kind] ??= { transactions: 0, paid: 0, lovelace: 0n }
      fees[kind].transactions++
      fees[kind].paid += paid
      fees[kind].lovelace += fee
    }
    most = Math.max(most, paidInBlock)
  }
  for (const [kind, { transactions, paid, lovelace }] of Object.entries(fees)) {
    const each = Math.round(Number(lovelace) / transactions)
    const share = paid > 0 ? `, ${Math.round(Number(lovelace) / paid)} for each of ${paid} withdrawals` : ''
    console.log(`${kind}: ${transactions} transactions, ${each} lovelace each${share}`)
  }
  console.log(
    `all paid in ${of.blocks} blocks of layer 1, at most ${most} in one, by payers of ` +
      of.settlers.map((settler) => settler.status().paid).join(', '),
  )
}
