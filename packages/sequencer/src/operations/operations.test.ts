import { BytesMap, BytesSet, fromHex, toHex } from '@ratatosk/cbor'
import type { Layer1, TransactionStatus } from '@ratatosk/layer1'
import { outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import type { TransactionDraft } from '@ratatosk/ledger/builder'
import { administratorAddress, type RootElement, scriptsToPublish } from '@ratatosk/protocol'
import { keyOf, signed } from '@ratatosk/test-kit'
import { describe, expect, test } from 'vitest'
import { Cache, type SequencerContext } from '../context.js'
import { isRemoved } from '../queue/compare-queue.js'
import { until } from '../test/agreement.js'
import { accept, contracts, openChain, openers, openRollup, queueOf, transfers } from '../test/rollup.js'
import { contractsOf } from '../test/rollup-contracts.js'
import { burnQueue } from './repair.js'

describe('is removed', () => {
  const idOf = (byte: string) => byte.repeat(32)
  /** Which commit spent the element at `aa…#0`. */
  const commit = signed(keyOf(1), {
    inputs: [{ transactionId: fromHex(idOf('aa')), index: 0 }],
    outputs: [5_000_000n],
  })
  const transaction = { id: fromHex(commit.id), cbor: commit.cbor }
  const confirmed = (slot: bigint): TransactionStatus => ({
    kind: 'confirmed',
    slot,
    blockHash: idOf('00'),
    confirmations: 1,
  })

  /** @param element the transaction that the element before the block is an output of */
  const wasRemoved = (element: string, statuses: { readonly [id: string]: TransactionStatus }) =>
    isRemoved(
      {
        layer1: { status: async (id) => statuses[toHex(id)] ?? { kind: 'unknown' } } as Layer1,
        signal: new AbortController().signal,
      },
      transaction,
      { utxo: { reference: { transactionId: fromHex(element), index: 0 } } } as RootElement,
    )

  const another = idOf('bb')

  test('a block was removed if another transaction replaced the element before it', async () => {
    expect(await wasRemoved(another, { [commit.id]: confirmed(10n), [another]: confirmed(11n) })).toBe(true)
    expect(await wasRemoved(another, { [commit.id]: confirmed(10n), [another]: confirmed(10n) })).toBe(true)
  })

  test.each([
    ['its commit is in no block: it was rolled back', another, { [another]: confirmed(11n) }],
    ['its commit waits again', another, { [commit.id]: { kind: 'pending' }, [another]: confirmed(11n) }],
    [
      'the element is what its commit spends: the queue is of an earlier moment than the status',
      idOf('aa'),
      { [commit.id]: confirmed(10n), [idOf('aa')]: confirmed(12n) },
    ],
    [
      'the element was replaced before its commit',
      another,
      { [commit.id]: confirmed(10n), [another]: confirmed(9n) },
    ],
    ['the element is from its commit', commit.id, { [commit.id]: confirmed(10n) }],
    ['the replacement is in no block', another, { [commit.id]: confirmed(10n) }],
  ] satisfies [string, string, Record<string, TransactionStatus>][])(
    'a block was not removed if %s',
    async (_why, element, statuses) => {
      expect(await wasRemoved(element, statuses)).toBe(false)
    },
  )
})

describe('late inclusion', () => {
  test('an operation succeeds although layer 1 includes its transactions a minute late', async (context) => {
    const { store } = await openers['PostgreSQL and Redis'](context)
    const chain = await openChain(context)
    const { sequencer } = await openRollup(context, store, chain.layer1, { blockValidityMs: 1000 })

    /** Runs an operation whose transactions each wait for a minute; returns its result and their number. */
    async function runLate(operation: 'init' | 'reset') {
      let transactions = 0
      let result: unknown
      const run = sequencer.run(operation).then((value) => {
        result = value
      })
      while (result === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        const waiting = chain.devnet.mempool().length
        if (waiting === 0) continue
        transactions += waiting
        chain.clock.time += 60_000
        await chain.mine()
      }
      await run
      return { result, transactions }
    }

    const init = await runLate('init')
    expect(init).toMatchObject({ result: { kind: 'initiated' } })
    expect(init.transactions, 'registry, scripts, registration, root').toBeGreaterThanOrEqual(4)
    expect(await runLate('reset')).toMatchObject({ result: { kind: 'reset' }, transactions: 1 })
    expect((await queueOf(chain.layer1)).roots).toEqual([])
  })
})

describe('reference scripts', () => {
  test('one block of layer 1 can publish all scripts, in however many transactions', async (context) => {
    const groups = scriptsToPublish(contracts)
    expect(groups.length).toBeGreaterThan(1)
    const { store } = await openers['PostgreSQL and Redis'](context)
    const chain = await openChain(context)
    const { sequencer } = await openRollup(context, store, chain.layer1)
    const init = sequencer.run('init')
    await until(async () => chain.devnet.mempool().length === 1)
    // The registry, and then the scripts.
    await chain.mine()
    await until(async () => chain.devnet.mempool().length === groups.length)
    await chain.mine()
    expect(await chain.layer1.utxosAt(administratorAddress(contracts))).toHaveLength(groups.flat().length)
    context.onTestFinished(chain.keepMining())
    expect(await init).toMatchObject({ kind: 'initiated' })
  })
})

describe('bond', () => {
  test('a retired operator is told at once, and a release may be repeated', async (context) => {
    const { store } = await openers['PostgreSQL and Redis'](context)
    const chain = await openChain(context)
    context.onTestFinished(chain.keepMining())
    const { sequencer } = await openRollup(context, store, chain.layer1)
    expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
    const retired = await sequencer.run('retire')
    if (retired.kind !== 'retired') throw new Error(retired.kind)
    await accept(store, transfers(1))
    chain.clock.time = retired.activeUntil + 1000
    await chain.mine()
    const locked = { kind: 'refused', code: 'SEQUENCER_BOND_LOCKED' }
    expect(await sequencer.run('commit')).toMatchObject(locked)
    expect(await sequencer.run('register')).toMatchObject(locked)
    chain.clock.time = retired.releaseAt + 1000
    await chain.mine()
    expect(await sequencer.run('release')).toMatchObject({
      kind: 'released',
      transactionId: expect.any(String),
    })
    expect(await sequencer.run('release')).toMatchObject({ kind: 'released', bond: '0' })
    expect(await sequencer.run('commit')).toMatchObject({ code: 'SEQUENCER_NOT_REGISTERED' })
    expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated', isRegistration: true })
  })

  test('a retirement between two reads of layer 1 is told with its transaction', async (context) => {
    const { store } = await openers['PostgreSQL and Redis'](context)
    const chain = await openChain(context)
    let isRetiring = false
    const layer1: Layer1 = {
      ...chain.layer1,
      async status(...call) {
        const status = await chain.layer1.status(...call)
        if (isRetiring && status.kind === 'pending') await chain.mine()
        return status
      },
    }
    const { sequencer } = await openRollup(context, store, layer1)
    const stopMining = chain.keepMining()
    expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
    await stopMining()
    isRetiring = true
    expect(await sequencer.run('retire')).toMatchObject({
      kind: 'retired',
      transactionId: expect.any(String),
    })
  })
})

describe('burn queue', () => {
  const contracts = contractsOf(20_000n)
  const { policy, address } = contracts.scripts.queue

  function element(n: number): Utxo {
    const transactionId = new Uint8Array(32)
    new DataView(transactionId.buffer).setUint32(0, n)
    return {
      reference: { transactionId, index: 0 },
      output: {
        address: { bytes: address },
        value: { lovelace: 2_000_000n, assets: new Map([[policy, new Map([[toHex(transactionId), 1n]])]]) },
        datum: { kind: 'none' },
      },
    } as unknown as Utxo
  }

  /** Layer 1 as far as burning needs it; the transaction of number `failing` is refused once. */
  function scene(elements: number, failing = 0) {
    const unspent = new Map(
      Array.from({ length: elements }, (_, n) => element(n)).map((utxo) => [
        outputReferenceKey(utxo.reference),
        utxo,
      ]),
    )
    const counts = { reads: 0, transactions: 0 }
    const inputsOf = new BytesMap<readonly string[]>()
    const confirmed = new BytesSet()
    const administrator = {
      address: 'administrator',
      async build({ inputs = [] }: TransactionDraft) {
        counts.transactions++
        const id = Uint8Array.of(counts.transactions)
        inputsOf.set(
          id,
          inputs.map(({ utxo }) => outputReferenceKey(utxo.reference)),
        )
        return { id, bytes: fromHex('00') }
      },
      async submit({ id }: { id: Uint8Array }) {
        if (id[0] === failing) throw new Error('the process was killed')
        for (const key of inputsOf.get(id) ?? []) unspent.delete(key)
        confirmed.add(id)
      },
      release: () => undefined,
    }
    const layer1 = {
      async utxosByPolicy() {
        counts.reads++
        return [...unspent.values()]
      },
      utxosAt: async () => [],
      utxosByUnit: async () => [],
      currentSlot: async () => 0n,
      tip: async () => ({ slot: 0n }),
      status: async (id: Uint8Array) => ({ kind: confirmed.has(id) ? 'confirmed' : 'unknown' }),
      utxosByReferences: async (references: readonly Utxo['reference'][]) =>
        references.flatMap((reference) => unspent.get(outputReferenceKey(reference)) ?? []),
    }
    const context = {
      contracts,
      administrator: { wallet: administrator },
      layer1,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      cache: new Cache(),
      slots: { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 },
      options: { maxUnconfirmed: 8, pollMs: 1 },
      pause: async () => undefined,
      step: () => undefined,
    } as unknown as SequencerContext
    return { context, counts, unspent }
  }

  test('burns a week-long queue with two reads and a hundred elements a transaction', async () => {
    const { context, counts, unspent } = scene(10_080)
    expect(await burnQueue(context)).toBe(true)
    expect(unspent.size).toBe(0)
    expect(counts).toEqual({ reads: 2, transactions: 101 })
    expect(await burnQueue(context)).toBe(false)
  })

  test('burns the rest when it is called again after an interruption', async () => {
    const { context, unspent } = scene(120, 2)
    await expect(burnQueue(context)).rejects.toThrow('the process was killed')
    expect(unspent.size).toBe(20)
    expect(await burnQueue(context)).toBe(true)
    expect(unspent.size).toBe(0)
  })
})
