import { encodeHeader, headerHash } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import { type Layer1, openWallet } from '@ratatosk/layer1'
import { decodeTransaction } from '@ratatosk/ledger'
import { keysFromSigningKey, type TransactionDraft } from '@ratatosk/ledger/builder'
import { pruneBlocks, readQuestions, registerOperator } from '@ratatosk/protocol'
import { accuse, removeFraudulentBlock } from '@ratatosk/protocol/fraud'
import type { VerdictStage } from '@ratatosk/store'
import { expect, test } from 'vitest'
import { operator, summonsContracts } from '../../../protocol/dist/test/protocol-scene.js'
import { honest, largeLie, ofLie } from './test/lies.js'
import { evaluator, openOperator, openWatched, openWatcher, until, type Watched } from './test/scene.js'

const timeout = 120_000

async function stageOf({ store }: Watched, { id }: { readonly id: Uint8Array }): Promise<string | undefined> {
  const { verdicts } = await store.verdicts.list({ limit: 10 })
  return verdicts.flatMap(({ transactions }) => transactions).find((each) => equalBytes(each.id, id))?.stage
}

test('builds a removal again that spends the change of a pruning that another was faster with', {
  timeout,
}, async () => {
  const watched = await openWatched()
  const { scene, story, store, referenceScripts, commit, commitNext } = watched
  const { contracts, layer1, wallet, validity } = scene
  // A wallet with one output: each transaction needs what the one before makes.
  const walletKeys = keysFromSigningKey('07'.repeat(32), { networkId: 0 })
  await scene.run({ outputs: [{ address: walletKeys.address.bytes, lovelace: 900_000_000n }] })
  const blocks = [await commit(ofLie('inputSpentElsewhere', story))]
  await commitNext()

  const refused: unknown[] = []
  const rivalled: Layer1 = {
    ...layer1,
    async submit(cbor, options) {
      const isPruning = async () => (await stageOf(watched, decodeTransaction(cbor))) === 'prune'
      if (refused.length > 0 || !(await isPruning())) return layer1.submit(cbor, options)
      await wallet.send(pruneBlocks(contracts, await scene.queue(), referenceScripts))
      await until('it is pruned', async () => (await watched.queued()).length === 0)
      const resume = await watched.stopMining()
      const registry = await scene.registry()
      await scene.run(registerOperator(contracts, registry, operator, validity(), referenceScripts))
      resume()
      await watched.pass(3n * contracts.parameters.turnLength)
      blocks.push(await commit(ofLie('inputSpentElsewhere', story)))
      // Until it is given to the watcher.
      await new Promise((resolve) => setTimeout(resolve, 300))
      return layer1.submit(cbor, options).catch((error: unknown) => {
        refused.push(error)
        throw error
      })
    },
  }
  const { errors } = openWatcher(watched, blocks, { layer1: rivalled, walletKeys, validityMs: 6_000_000 })
  await until('the pruning is refused', () => refused.length > 0)
  expect(refused[0]).toMatchObject({ code: 'LAYER1_REJECTED', mayHaveEffect: true })
  const removed = async () => (await store.verdicts.counts()).get('removed')
  await until('both blocks are removed', async () => (await removed()) === 2)
  expect(errors).toEqual([])
})

test('sends again what takes bonds back, where layer 1 loses it', { timeout }, async () => {
  const watched = await openWatched({ contracts: summonsContracts })
  const { scene, story, commit } = watched
  const { layer1 } = scene
  const committed = ofLie('wrongOutputsAfter', story)
  const block = { ...(await commit(committed)), afterTransactions: honest(story).after }
  await openOperator(watched, committed)
  const lost: Uint8Array[] = []
  const sentAgain: Uint8Array[] = []
  const losing: Layer1 = {
    ...layer1,
    async submit(cbor, options) {
      const { id } = decodeTransaction(cbor)
      // Transactions that return bonds are not recorded.
      if ((await stageOf(watched, { id })) !== undefined) return layer1.submit(cbor, options)
      if (lost.length > 0) return layer1.submit(cbor, options).finally(() => sentAgain.push(id))
      lost.push(id)
      return id
    },
  }
  const { errors } = openWatcher(watched, [block], { layer1: losing })
  const isRemoved = async () => (await watched.store.verdicts.counts()).get('removed') === 1
  await until('the block is removed', isRemoved)
  await until('it is included', async () => {
    const [id, again] = [lost[0], sentAgain[0]]
    if (id === undefined || again === undefined || !equalBytes(again, id)) return false
    return (await layer1.status(id)).kind === 'confirmed'
  })
  expect(errors).toEqual([])
})

test('keeps what an earlier process sent behind a transaction about another block', { timeout }, async () => {
  const watched = await openWatched()
  const { scene, story, store, referenceScripts } = watched
  const { contracts, layer1, devnet, slots } = scene
  const walletKeys = keysFromSigningKey('07'.repeat(32), { networkId: 0 })
  const address = walletKeys.address.bytes
  await scene.run({ outputs: [{ address, lovelace: 900_000_000n }] })
  const block = await watched.commit(largeLie(story))
  const resume = await watched.stopMining()

  // The earlier process.
  const wallet = openWallet({ layer1, keys: walletKeys, evaluator })
  const send = async (header: typeof block.header, stage: VerdictStage, draft: TransactionDraft) => {
    const hash = headerHash(header)
    const found = { headerHash: hash, height: 1n, header: encodeHeader(header), reason: 'It breaks a rule' }
    await store.verdicts.found(found)
    const { id, bytes, fee } = await wallet.send(draft)
    await store.verdicts.record(hash, { id, stage, cbor: bytes, fee, locked: 0n })
    return id
  }
  const another = { ...block.header, prevHeaderHash: new Uint8Array(28).fill(2) }
  await send(another, 'question', { outputs: [{ address, lovelace: 5_000_000n }] })
  const [queue, registry] = [await scene.queue(), await scene.registry()]
  const removal = await removeFraudulentBlock(
    contracts,
    { block: await accuse(block), queue, registry, referenceScripts, address },
    { parameters: await layer1.parameters(), slots, slot: devnet.currentSlot(), evaluator },
  )
  expect(removal?.stage).toBe('datum')
  const datum = await send(block.header, 'datum', removal!.draft)

  const withoutMempool: Layer1 = {
    ...layer1,
    async status(...args) {
      const status = await layer1.status(...args)
      return status.kind === 'pending' ? { kind: 'unknown' } : status
    },
  }
  const { errors } = openWatcher(watched, [block], { layer1: withoutMempool, walletKeys })
  await new Promise((resolve) => setTimeout(resolve, 1000))
  resume()
  const removed = async () => (await store.verdicts.list({ limit: 1, state: 'removed' })).verdicts[0]
  await until('the block is removed', async () => (await removed()) !== undefined)
  const { transactions } = (await removed())!
  expect(transactions.map(({ stage }) => stage)).toEqual(['datum', 'removal'])
  expect(transactions[0]!.id).toEqual(datum)
  expect(errors).toEqual([])
})

test('reads after a restart the answer to its own question that it has forgotten', { timeout }, async () => {
  const watched = await openWatched({ contracts: summonsContracts })
  const { scene, story, store } = watched
  const committed = honest(story)
  const block = await watched.commit(committed)
  const judged: number[] = []
  const withheld = {
    async judge(_: unknown, transactions: readonly Uint8Array[]) {
      judged.push(transactions.length)
      return true
    },
  }
  const options = { withheld, patienceMs: 20_000 }
  const first = openWatcher(watched, [block], options)
  const { policy } = summonsContracts.summons!
  const asked = async () => readQuestions(summonsContracts, await scene.layer1.utxosByPolicy(policy))
  await until('it is asked for', async () => (await asked()).length === 1)
  const journal = async () => (await store.verdicts.open())[0]!.journal
  // As if a provider had shown a state without it after its validity.
  await store.verdicts.drop((await journal())[0]!.id)
  const kept = () => store.verdicts.keptQuestions(block.headerHash)
  await until('it relies on it', async () => (await kept()).length === 1)
  await first.close()
  await openOperator(watched, committed)
  await until('it is answered', async () => (await asked()).length === 0)
  openWatcher(watched, [block], options)
  await until('it has the body', () => judged.length === 1)
  expect(judged).toEqual([committed.transactions.length])
  expect(await journal()).toEqual([])
})

test('asks once although the provider shows the question late', { timeout }, async () => {
  const watched = await openWatched({ contracts: summonsContracts })
  const { scene, story, store } = watched
  const { layer1 } = scene
  const block = await watched.commit(honest(story))
  let reads = 0
  const late: Layer1 = {
    ...layer1,
    async utxosAt(address, options) {
      if (options?.policy === undefined) return layer1.utxosAt(address, options)
      reads++
      return []
    },
  }
  const withheld = { judge: async () => Promise.reject(new Error('There is no body')) }
  openWatcher(watched, [block], { layer1: late, withheld, patienceMs: 20_000 })
  const journal = async () => (await store.verdicts.open())[0]?.journal ?? []
  await until('it is included', async () => {
    const [asked] = await journal()
    return asked !== undefined && (await layer1.status(asked.id)).kind === 'confirmed'
  })
  const before = reads
  await until('it polls', () => reads >= before + 10)
  expect(await journal()).toHaveLength(1)
})
