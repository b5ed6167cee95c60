import { fromHex } from '@ratatosk/cbor'
import { safeZone } from '@ratatosk/ledger'
import {
  alice,
  aliceGenesis,
  bob,
  draft,
  failing,
  failingHash,
  first,
  genesisOf,
  lock,
  payment,
  second,
  succeeding,
  succeedingHash,
  unlock,
} from '@ratatosk/test-kit/ledger-apis'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, test, vi } from 'vitest'
import type { ChainEvent } from './chain/types.js'
import { createDevnet, runOnSchedule } from './create-devnet.js'
import { createMemoryStore } from './store/store.js'
import { utxoSet } from './test/scenes.js'
import type { DevnetOptions } from './types.js'

/** A devnet without scheduled blocks at slot 5, with a clock that the test sets. */
async function open(options: DevnetOptions = {}) {
  const time = { now: Date.UTC(2025, 0, 1) + 5_000 }
  const devnet = await createDevnet({
    genesis: aliceGenesis,
    blockEveryMs: 0,
    clock: { now: () => time.now },
    ...options,
  })
  onTestFinished(() => devnet.close())
  return { devnet, time }
}

describe('blocks', () => {
  it('start from the genesis', async () => {
    const { devnet } = await open()
    expect(devnet.tip()).toEqual({ height: 0, slot: 0n, hash: devnet.genesisHash })
    expect(devnet.utxos({ address: alice.address }).map(({ key }) => key)).toEqual([first, second])
    expect(devnet.currentSlot()).toBe(5n)
  })

  it('confirm pending transactions, and count confirmations', async () => {
    const { devnet, time } = await open()
    const { cbor, hash } = payment()
    expect(devnet.status(hash)).toEqual({ status: 'unknown' })
    expect(await devnet.submit(cbor)).toEqual({ kind: 'accepted', hash })
    expect(devnet.status(hash)).toEqual({ status: 'pending' })
    expect(devnet.utxos({ address: bob.address })).toEqual([])

    const block = await devnet.produceBlock()
    expect(block).toMatchObject({ height: 1, slot: 5n, previous: devnet.genesisHash, size: cbor.length })
    time.now += 1_000
    await devnet.produceBlock()
    expect(devnet.status(hash)).toMatchObject({ status: 'confirmed', confirmations: 1 })
    expect(devnet.utxos({ address: bob.address })).toMatchObject([
      { key: `${hash}#0`, output: { value: { lovelace: 10_000_000n } } },
    ])
    expect(devnet.output(first)).toMatchObject({ spent: { transactionHash: hash, by: 'inputs' } })
  })

  it('drop transactions whose validity interval ended, and those that depend on them', async () => {
    const { devnet, time } = await open()
    const events: ChainEvent[] = []
    devnet.subscribe((event) => events.push(event))
    const expiring = draft({
      inputs: [first],
      outputs: [{ address: alice.addressBytes, lovelace: 99_800_000n }],
      fee: 200_000n,
      signers: [alice],
      invalidHereafter: 7n,
    })
    const dependent = payment(`${expiring.hash}#0`, 89_600_000n)
    await devnet.submit(expiring.cbor)
    await devnet.submit(dependent.cbor)
    time.now += 2_000
    expect((await devnet.produceBlock()).transactions).toEqual([])
    expect(devnet.mempool()).toEqual([])
    expect(events.at(-1)).toMatchObject({
      type: 'dropped',
      transactions: [{ hash: expiring.hash }, { hash: dependent.hash }],
    })
  })

  it('take transactions up to their size and leave the rest for the next block', async () => {
    const big = (input: string) =>
      draft({
        inputs: [input],
        outputs: Array.from({ length: 250 }, () => ({ address: alice.addressBytes, lovelace: 1_000_000n })),
        fee: 50_000_000n,
        signers: [alice],
      })
    const genesis = genesisOf([alice.addressBytes, alice.addressBytes], 300_000_000n)
    const { devnet } = await open({ genesis, maxBlockSize: 16_384 })
    const [one, two] = [big(first), big(second)]
    expect(one.cbor.length + two.cbor.length).toBeGreaterThan(16_384)
    await devnet.submit(one.cbor)
    await devnet.submit(two.cbor)
    expect((await devnet.produceBlock()).transactions.map(({ hash }) => hash)).toEqual([one.hash])
    expect((await devnet.produceBlock()).transactions.map(({ hash }) => hash)).toEqual([two.hash])
  })

  it('each have a slot of their own, even if the clock stands still', async () => {
    const { devnet } = await open()
    const slots = []
    for (let i = 0; i < 3; i++) slots.push((await devnet.produceBlock()).slot)
    expect(slots).toEqual([5n, 6n, 7n])
    expect(devnet.currentSlot()).toBe(7n)
  })

  it('are produced on schedule', async () => {
    const { devnet } = await open({ blockEveryMs: 1, clock: Date })
    const block = await new Promise((resolve) => {
      devnet.subscribe((event) => event.type === 'block' && resolve(event.block))
    })
    expect(block).toMatchObject({ height: 1 })
  })
})

describe('submit', () => {
  it('accepts a chain of pending transactions', async () => {
    const { devnet } = await open()
    const one = payment()
    const two = payment(`${one.hash}#1`, 79_600_000n)
    await devnet.submit(one.cbor)
    expect(await devnet.submit(two.cbor)).toMatchObject({ kind: 'accepted' })
    const block = await devnet.produceBlock()
    expect(block.transactions.map(({ hash }) => hash)).toEqual([one.hash, two.hash])
  })

  it('rejects a transaction that spends an input of a pending one', async () => {
    const { devnet } = await open()
    await devnet.submit(payment().cbor)
    const again = draft({
      inputs: [first],
      outputs: [{ address: alice.addressBytes, lovelace: 99_800_000n }],
      fee: 200_000n,
      signers: [alice],
    })
    expect(await devnet.submit(again.cbor)).toMatchObject({
      kind: 'rejected',
      failures: expect.arrayContaining([expect.objectContaining({ predicate: 'BadInputsUTxO' })]),
    })
  })

  it('names every predicate that a transaction violates', async () => {
    const { devnet } = await open()
    const { cbor } = draft({
      inputs: [first],
      outputs: [{ address: bob.addressBytes, lovelace: 1n }],
      fee: 1n,
      signers: [bob],
    })
    const result = await devnet.submit(cbor)
    const predicates = result.kind === 'rejected' ? result.failures.map(({ predicate }) => predicate) : []
    expect(predicates.sort()).toEqual([
      'BabbageOutputTooSmallUTxO',
      'FeeTooSmallUTxO',
      'MissingVKeyWitnessesUTXOW',
      'ValueNotConservedUTxO',
    ])
  })

  it('says where malformed bytes fail to decode', async () => {
    const { devnet } = await open()
    const result = await devnet.submit(fromHex('84a100f6a0f5f6'))
    expect(result).toMatchObject({ kind: 'malformed', message: expect.stringContaining('body') })
  })

  it('keeps its own copy of the bytes', async () => {
    const { devnet } = await open()
    const { cbor, hash } = payment()
    const submitted = devnet.submit(cbor)
    cbor.fill(0)
    expect(await submitted).toEqual({ kind: 'accepted', hash })
    expect((await devnet.produceBlock()).transactions[0]?.transaction.bytes[0]).toBe(0x84)
  })

  it('waits for running changes on close, then rejects', async () => {
    const { devnet } = await open()
    const { cbor, hash } = payment()
    const submitted = devnet.submit(cbor)
    await devnet.close()
    expect(devnet.status(hash)).toEqual({ status: 'pending' })
    expect(await submitted).toEqual({ kind: 'accepted', hash })
    await expect(devnet.submit(cbor)).rejects.toMatchObject({ code: 'DEVNET_CLOSED' })
  })
})

describe('Plutus scripts', () => {
  it('unlock an output if they succeed', async () => {
    const { devnet } = await open()
    const output = await lock(devnet, succeedingHash)
    const { cbor, hash } = unlock(output, succeeding)
    expect(await devnet.submit(cbor)).toEqual({ kind: 'accepted', hash })
    await devnet.produceBlock()
    expect(devnet.output(output)?.spent).toMatchObject({ transactionHash: hash })
  })

  it('reject the transaction if they fail', async () => {
    const { devnet } = await open()
    const output = await lock(devnet, failingHash)
    expect(await devnet.submit(unlock(output, failing).cbor)).toMatchObject({
      kind: 'rejected',
      failures: [{ predicate: 'ValidationTagMismatch' }],
    })
  })

  it('cost only the collateral if the transaction declares that they fail', async () => {
    const { devnet } = await open()
    const output = await lock(devnet, failingHash)
    expect(await devnet.submit(unlock(output, failing, false).cbor)).toMatchObject({ kind: 'accepted' })
    await devnet.produceBlock()
    expect(devnet.output(second)?.spent).toMatchObject({ by: 'collateral' })
    expect(devnet.output(output)?.spent).toBeUndefined()
  })

  it('are evaluated whatever budget their redeemers declare', async () => {
    const { devnet } = await open()
    const output = await lock(devnet, succeedingHash)
    const withoutBudget = draft({
      inputs: [output],
      outputs: [{ address: alice.addressBytes, lovelace: 20_000_000n }],
      fee: 0n,
      signers: [],
      scripts: [succeeding],
      redeemers: [{ tag: 0, index: 0, memory: 0n, steps: 0n }],
    })
    const evaluation = await devnet.evaluate(withoutBudget.cbor)
    expect(evaluation).toMatchObject({
      kind: 'evaluated',
      result: { ok: true, redeemers: [{ outcome: { kind: 'Succeeded', used: { memory: 500n } } }] },
    })
  })

  it('are not run on bounds beyond the horizon', async () => {
    const { devnet } = await open()
    const output = await lock(devnet, succeedingHash)
    const ending = (invalidHereafter: bigint) =>
      draft({
        inputs: [output],
        outputs: [{ address: alice.addressBytes, lovelace: 19_700_000n }],
        fee: 300_000n,
        signers: [alice],
        collateral: [second],
        scripts: [succeeding],
        redeemers: [{ tag: 0, index: 0, memory: 10_000n, steps: 10_000_000n }],
        invalidHereafter,
      }).cbor
    const end = devnet.currentSlot() + safeZone
    for (const late of [end + 1n, 2n ** 63n]) {
      expect(await devnet.submit(ending(late))).toMatchObject({
        failures: [{ predicate: 'OutsideForecast' }],
      })
      expect(await devnet.evaluate(ending(late))).toMatchObject({
        kind: 'faulty-redeemers',
        faults: [{ fault: { kind: 'BadTranslation', reason: 'TimeTranslationPastHorizon' } }],
      })
    }
    expect(await devnet.evaluate(ending(end))).toMatchObject({ kind: 'evaluated', result: { ok: true } })
    expect(await devnet.submit(ending(end))).toMatchObject({ kind: 'accepted' })
  })

  it('are not evaluated if an input is unknown', async () => {
    const { devnet } = await open()
    const unknown = `${'22'.repeat(32)}#0`
    const evaluation = await devnet.evaluate(unlock(unknown, succeeding).cbor)
    const fault = { kind: 'UnknownInputs', references: [unknown] }
    expect(evaluation).toEqual({
      kind: 'faulty-redeemers',
      faults: [{ purpose: 'spend', index: 0, fault }],
    })
  })
})

describe('schedule', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 10_250 }))
  afterEach(() => void vi.useRealTimers())

  test.each([
    ['in the past', 600],
    ['in the future', 50_600],
  ])('keeps to times that are counted from one %s, however late a timer is', (_, from) => {
    const times: number[] = []
    const end = runOnSchedule({ everyMs: 1000, from, now: Date.now }, () => {
      times.push(Date.now())
      // The process is busy.
      if (times.length === 2) vi.setSystemTime(Date.now() + 150)
    })
    vi.advanceTimersByTime(4000)
    end()
    vi.advanceTimersByTime(4000)
    expect(times).toEqual([10_600, 11_600, 12_600, 13_600])
  })
})

describe('rollBack', () => {
  it('restores exactly the unspent outputs of the older block', async () => {
    const { devnet } = await open()
    const sets = [utxoSet(devnet)]
    let input = first
    let change = 89_800_000n
    for (let block = 0; block < 4; block++) {
      const next = payment(input, change)
      await devnet.submit(next.cbor)
      await devnet.produceBlock()
      sets.push(utxoSet(devnet))
      input = `${next.hash}#1`
      change -= 10_200_000n
    }
    expect(await devnet.rollBack(1)).toMatchObject({ height: 3 })
    expect(utxoSet(devnet)).toEqual(sets[3])
    expect(await devnet.rollBack(3)).toMatchObject({ height: 0 })
    expect(utxoSet(devnet)).toEqual(sets[0])
  })

  it('loses the transactions, or returns them to the mempool', async () => {
    const { devnet } = await open()
    const one = payment()
    await devnet.submit(one.cbor)
    await devnet.produceBlock()
    await devnet.rollBack(1, { resubmit: true })
    expect(devnet.status(one.hash)).toEqual({ status: 'pending' })
    await devnet.produceBlock()
    await devnet.rollBack(1)
    expect(devnet.status(one.hash)).toEqual({ status: 'unknown' })
    expect(await devnet.submit(one.cbor)).toMatchObject({ kind: 'accepted' })
  })

  it('drops pending transactions that spend outputs of the undone blocks', async () => {
    const { devnet } = await open()
    const one = payment()
    await devnet.submit(one.cbor)
    await devnet.produceBlock()
    await devnet.submit(payment(`${one.hash}#1`, 79_600_000n).cbor)
    await devnet.rollBack(1)
    expect(devnet.mempool()).toEqual([])
  })

  it('rejects more blocks than the chain has or the security parameter allows', async () => {
    const { devnet } = await open({ securityParameter: 2 })
    await devnet.produceBlock()
    await expect(devnet.rollBack(2)).rejects.toMatchObject({ code: 'DEVNET_ROLLBACK_TOO_DEEP' })
    await devnet.produceBlock()
    await devnet.produceBlock()
    await expect(devnet.rollBack(3)).rejects.toMatchObject({ code: 'DEVNET_ROLLBACK_TOO_DEEP' })
    await devnet.rollBack(2)
    expect(devnet.tip().height).toBe(1)
  })

  it.each([-1, 1.5, Number.NaN])('rejects %s blocks', async (blocks) => {
    const { devnet } = await open()
    await expect(devnet.rollBack(blocks)).rejects.toMatchObject({ code: 'DEVNET_CONFIGURATION' })
  })
})

describe('rollBackTo', () => {
  it('undoes the block of a transaction, also when another block is made meanwhile', async () => {
    const memory = createMemoryStore()
    let held: Promise<void> | undefined
    const store = {
      ...memory,
      async addBlock(...block: Parameters<typeof memory.addBlock>) {
        await held
        return memory.addBlock(...block)
      },
    }
    const { devnet } = await open({ store })
    const one = payment()
    await devnet.submit(one.cbor)
    await devnet.produceBlock()
    let release = () => {}
    held = new Promise((resolve) => {
      release = resolve
    })
    const block = devnet.produceBlock()
    const rolledBack = devnet.rollBackTo(one.hash, { resubmit: true })
    release()
    expect(await block).toMatchObject({ height: 2 })
    expect(await rolledBack).toMatchObject({ height: 0 })
    expect(devnet.status(one.hash)).toEqual({ status: 'pending' })
  })

  it('rejects a transaction that no block contains', async () => {
    const { devnet } = await open()
    const one = payment()
    const failure = { code: 'DEVNET_NOT_IN_A_BLOCK' }
    await expect(devnet.rollBackTo(one.hash)).rejects.toMatchObject(failure)
    await devnet.submit(one.cbor)
    await expect(devnet.rollBackTo(one.hash)).rejects.toMatchObject(failure)
  })
})
