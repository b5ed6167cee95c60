import { fromHex } from '@ratatosk/cbor'
import { safeZone } from '@ratatosk/ledger'
import { describe, expect, it } from 'vitest'
import type { ChainEvent } from './chain/types.js'
import { draft } from './test/draft.js'
import { genesisOf } from './test/keys.js'
import { open } from './test/manual-devnet.js'
import {
  alice,
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
} from './test/scenes.js'

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
