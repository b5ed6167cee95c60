import { fromHex } from '@ratatosk/ledger'
import { afterEach, describe, expect, it } from 'vitest'
import { createDevnet } from './create-devnet.js'
import { draft, unitDatum } from './test/draft.js'
import { genesisOf, testKey } from './test/keys.js'
import { failing, failingHash, scriptAddress, succeeding, succeedingHash } from './test/scripts.js'
import { utxoSet } from './test/utxo-digest.js'
import type { Devnet, DevnetEvent, DevnetOptions } from './types.js'

const alice = testKey(1)
const bob = testKey(2)
const first = `${'11'.repeat(32)}#0`
const second = `${'11'.repeat(32)}#1`
const start = Date.UTC(2025, 0, 1)

let open: Devnet[] = []
afterEach(async () => {
  await Promise.all(open.map((devnet) => devnet.close()))
  open = []
})

async function devnetWith(options: DevnetOptions = {}) {
  const time = { now: start + 5_000 }
  const devnet = await createDevnet({
    genesis: genesisOf([alice.addressBytes, alice.addressBytes]),
    blockEveryMs: 0,
    clock: { now: () => time.now },
    ...options,
  })
  open.push(devnet)
  return { devnet, time }
}

/** Alice pays 10 ada of an output of 100 to Bob. */
function payment(input = first, change = 89_800_000n) {
  return draft({
    inputs: [input],
    outputs: [
      { address: bob.addressBytes, lovelace: 10_000_000n },
      { address: alice.addressBytes, lovelace: change },
    ],
    fee: 200_000n,
    signers: [alice],
  })
}

describe('a chain', () => {
  it('begins with its genesis', async () => {
    const { devnet } = await devnetWith()
    expect(devnet.tip()).toEqual({ height: 0, slot: 0n, hash: devnet.genesisHash })
    expect(devnet.utxos({ address: alice.address }).map(({ key }) => key)).toEqual([first, second])
    expect(devnet.currentSlot()).toBe(5n)
  })

  it('takes a transaction into the next block, and counts what comes upon it', async () => {
    const { devnet, time } = await devnetWith()
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

  it('takes a chain of transactions upon outputs that no block has made yet', async () => {
    const { devnet } = await devnetWith()
    const one = payment()
    const two = payment(`${one.hash}#1`, 79_600_000n)
    await devnet.submit(one.cbor)
    expect(await devnet.submit(two.cbor)).toMatchObject({ kind: 'accepted' })
    const block = await devnet.produceBlock()
    expect(block.transactions.map(({ hash }) => hash)).toEqual([one.hash, two.hash])
  })

  it('refuses a second spending of what a waiting transaction spends', async () => {
    const { devnet } = await devnetWith()
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

  it('names every rule that a transaction breaks', async () => {
    const { devnet } = await devnetWith()
    const { cbor } = draft({
      inputs: [first],
      outputs: [{ address: bob.addressBytes, lovelace: 1n }],
      fee: 1n,
      signers: [bob],
    })
    const submission = await devnet.submit(cbor)
    const predicates =
      submission.kind === 'rejected' ? submission.failures.map(({ predicate }) => predicate) : []
    expect(predicates.sort()).toEqual([
      'BabbageOutputTooSmallUTxO',
      'FeeTooSmallUTxO',
      'MissingVKeyWitnessesUTXOW',
      'ValueNotConservedUTxO',
    ])
  })

  it('says of bytes that are no transaction where they are none', async () => {
    const { devnet } = await devnetWith()
    const submission = await devnet.submit(fromHex('84a100f6a0f5f6'))
    expect(submission).toMatchObject({ kind: 'malformed', message: expect.stringContaining('body') })
  })

  it('drops what waits when its time has passed, and all that hangs on it', async () => {
    const { devnet, time } = await devnetWith()
    const events: DevnetEvent[] = []
    devnet.subscribe((event) => events.push(event))
    const one = draft({
      inputs: [first],
      outputs: [{ address: alice.addressBytes, lovelace: 99_800_000n }],
      fee: 200_000n,
      signers: [alice],
      invalidHereafter: 7n,
    })
    const two = payment(`${one.hash}#0`, 89_600_000n)
    await devnet.submit(one.cbor)
    await devnet.submit(two.cbor)
    time.now += 2_000
    expect((await devnet.produceBlock()).transactions).toEqual([])
    expect(devnet.mempool()).toEqual([])
    expect(events.at(-1)).toMatchObject({
      type: 'dropped',
      transactions: [{ hash: one.hash }, { hash: two.hash }],
    })
  })

  it('fills a block up to its size and leaves the rest for the next', async () => {
    const big = (input: string) =>
      draft({
        inputs: [input],
        outputs: Array.from({ length: 250 }, () => ({ address: alice.addressBytes, lovelace: 1_000_000n })),
        fee: 50_000_000n,
        signers: [alice],
      })
    const genesis = genesisOf([alice.addressBytes, alice.addressBytes], 300_000_000n)
    const { devnet } = await devnetWith({ genesis, maxBlockSize: 16_384 })
    const [one, two] = [big(first), big(second)]
    expect(one.cbor.length + two.cbor.length).toBeGreaterThan(16_384)
    await devnet.submit(one.cbor)
    await devnet.submit(two.cbor)
    expect((await devnet.produceBlock()).transactions.map(({ hash }) => hash)).toEqual([one.hash])
    expect((await devnet.produceBlock()).transactions.map(({ hash }) => hash)).toEqual([two.hash])
  })

  it('gives each block a slot of its own, however fast they are asked for', async () => {
    const { devnet } = await devnetWith()
    const slots = []
    for (let i = 0; i < 3; i++) slots.push((await devnet.produceBlock()).slot)
    expect(slots).toEqual([5n, 6n, 7n])
    expect(devnet.currentSlot()).toBe(7n)
  })

  it('makes blocks by itself', async () => {
    const { devnet } = await devnetWith({ blockEveryMs: 1, clock: Date })
    const block = await new Promise((resolve) => {
      devnet.subscribe((event) => event.type === 'block' && resolve(event.block))
    })
    expect(block).toMatchObject({ height: 1 })
  })
})

describe('Plutus', () => {
  const budget = { memory: 10_000n, steps: 10_000_000n }

  async function locked(hash: Uint8Array) {
    const { devnet } = await devnetWith()
    const lock = draft({
      inputs: [first],
      outputs: [
        { address: scriptAddress(hash), lovelace: 20_000_000n, inlineDatum: unitDatum },
        { address: alice.addressBytes, lovelace: 79_800_000n },
      ],
      fee: 200_000n,
      signers: [alice],
    })
    await devnet.submit(lock.cbor)
    await devnet.produceBlock()
    return { devnet, output: `${lock.hash}#0` }
  }

  function unlock(output: string, script: Uint8Array, isValid = true) {
    return draft({
      inputs: [output],
      outputs: [{ address: alice.addressBytes, lovelace: 19_700_000n }],
      fee: 300_000n,
      signers: [alice],
      collateral: [second],
      scripts: [script],
      redeemers: [{ tag: 0, index: 0, ...budget }],
      isValid,
    })
  }

  it('unlocks what its script lets go', async () => {
    const { devnet, output } = await locked(succeedingHash)
    const { cbor, hash } = unlock(output, succeeding)
    expect(await devnet.submit(cbor)).toEqual({ kind: 'accepted', hash })
    await devnet.produceBlock()
    expect(devnet.output(output)?.spent).toMatchObject({ transactionHash: hash })
  })

  it('refuses a transaction whose script fails', async () => {
    const { devnet, output } = await locked(failingHash)
    expect(await devnet.submit(unlock(output, failing).cbor)).toMatchObject({
      kind: 'rejected',
      failures: [{ predicate: 'ValidationTagMismatch' }],
    })
  })

  it('takes the collateral of one that says itself that its script fails, and nothing else', async () => {
    const { devnet, output } = await locked(failingHash)
    expect(await devnet.submit(unlock(output, failing, false).cbor)).toMatchObject({ kind: 'accepted' })
    await devnet.produceBlock()
    expect(devnet.output(second)?.spent).toMatchObject({ by: 'collateral' })
    expect(devnet.output(output)?.spent).toBeUndefined()
  })

  it('says what a script uses, whatever its redeemer declares', async () => {
    const { devnet, output } = await locked(succeedingHash)
    const modest = draft({
      inputs: [output],
      outputs: [{ address: alice.addressBytes, lovelace: 20_000_000n }],
      fee: 0n,
      signers: [],
      scripts: [succeeding],
      redeemers: [{ tag: 0, index: 0, memory: 0n, steps: 0n }],
    })
    const evaluation = await devnet.evaluate(modest.cbor)
    expect(evaluation).toMatchObject({
      kind: 'evaluated',
      result: { ok: true, redeemers: [{ outcome: { kind: 'Succeeded', used: { memory: 500n } } }] },
    })
  })

  it('names the inputs of an evaluation that nobody knows', async () => {
    const { devnet } = await devnetWith()
    const evaluation = await devnet.evaluate(unlock(`${'22'.repeat(32)}#0`, succeeding).cbor)
    expect(evaluation).toEqual({ kind: 'unknown-inputs', references: [`${'22'.repeat(32)}#0`] })
  })
})

describe('a roll-back', () => {
  it('gives exactly the unspent outputs of that many blocks ago', async () => {
    const { devnet } = await devnetWith()
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

  it('loses the transactions, or lets them wait again', async () => {
    const { devnet } = await devnetWith()
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

  it('drops what waits upon outputs that are gone', async () => {
    const { devnet } = await devnetWith()
    const one = payment()
    await devnet.submit(one.cbor)
    await devnet.produceBlock()
    await devnet.submit(payment(`${one.hash}#1`, 79_600_000n).cbor)
    await devnet.rollBack(1)
    expect(devnet.mempool()).toEqual([])
  })

  it('goes no deeper than the chain, nor than blocks can be undone', async () => {
    const { devnet } = await devnetWith({ securityParameter: 2 })
    await devnet.produceBlock()
    await expect(devnet.rollBack(2)).rejects.toMatchObject({ code: 'DEVNET_ROLLBACK_TOO_DEEP' })
    await devnet.produceBlock()
    await devnet.produceBlock()
    await expect(devnet.rollBack(3)).rejects.toMatchObject({ code: 'DEVNET_ROLLBACK_TOO_DEEP' })
    await devnet.rollBack(2)
    expect(devnet.tip().height).toBe(1)
  })
})
