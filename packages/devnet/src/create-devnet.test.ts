import { fromHex } from '@ratatosk/cbor'
import { afterEach, describe, expect, it } from 'vitest'
import type { ChainEvent } from './chain/types.js'
import { createDevnet } from './create-devnet.js'
import { draft } from './test/draft.js'
import { genesisOf } from './test/keys.js'
import {
  alice,
  aliceGenesis,
  bob,
  failing,
  failingHash,
  first,
  lock,
  payment,
  second,
  succeeding,
  succeedingHash,
  unlock,
  utxoSet,
} from './test/scenes.js'
import type { Devnet, DevnetOptions } from './types.js'

const start = Date.UTC(2025, 0, 1)

const opened: Devnet[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((devnet) => devnet.close()))
})

/** A devnet without scheduled blocks at slot 5, with a clock that the test sets. */
async function open(options: DevnetOptions = {}) {
  const time = { now: start + 5_000 }
  const devnet = await createDevnet({
    genesis: aliceGenesis,
    blockEveryMs: 0,
    clock: { now: () => time.now },
    ...options,
  })
  opened.push(devnet)
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

  it('are not evaluated if an input is unknown', async () => {
    const { devnet } = await open()
    const unknown = `${'22'.repeat(32)}#0`
    const evaluation = await devnet.evaluate(unlock(unknown, succeeding).cbor)
    expect(evaluation).toEqual({ kind: 'unknown-inputs', references: [unknown] })
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
