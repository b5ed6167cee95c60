import { outputReferenceKey } from '@ratatosk/ledger'
import { type BuiltTransaction, keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { afterEach, describe, expect, it } from 'vitest'
import { createDevnetLayer1 } from '../providers/devnet/create-devnet-layer1.js'
import { emptyKeys, keys, limits, openDevnet } from '../test/devnet-harness.js'
import { openWallet } from './open-wallet.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
/** Three outputs of 1,000 ada. */
async function openScene() {
  const devnet = await openDevnet()
  closing.push(() => devnet.close())
  const layer1 = createDevnetLayer1(devnet, limits)
  return { devnet, layer1, open: () => openWallet({ layer1, keys, withholdMs: 0 }) }
}

const pay = (ada: number) => ({
  outputs: [{ address: emptyKeys.addressText, lovelace: BigInt(ada) * 1_000_000n }],
})
const spentBy = ({ spent }: BuiltTransaction) => spent.map(({ reference }) => outputReferenceKey(reference))

describe('a wallet', () => {
  it('gives concurrent builds different outputs', async () => {
    const { open, devnet, layer1 } = await openScene()
    const wallet = open()
    const built = await Promise.all(Array.from({ length: 12 }, () => wallet.build(pay(100))))
    const spent = built.flatMap(spentBy)
    expect(new Set(spent).size).toBe(spent.length)
    for (const transaction of built) await wallet.submit(transaction)
    await devnet.produceBlock()
    for (const { id } of built) expect((await layer1.await(id)).confirmations).toBe(0)
  })

  it('refuses a draft with an input of a pending transaction until that is released', async () => {
    const { open } = await openScene()
    const wallet = open()
    const { id, spent } = await wallet.build(pay(100))
    const draft = { ...pay(200), inputs: spent.map((utxo) => ({ utxo })) }
    await expect(wallet.build(draft)).rejects.toMatchObject({ code: 'WALLET_INVALID_DRAFT' })
    wallet.release(id)
    await wallet.send(draft)
  })

  it('reserves no output for a build that fails', async () => {
    const { open } = await openScene()
    const wallet = open()
    const [poor, rich] = await Promise.allSettled([wallet.build(pay(5000)), wallet.build(pay(2900))])
    expect(poor).toMatchObject({ status: 'rejected', reason: { code: 'WALLET_INSUFFICIENT_FUNDS' } })
    expect(rich.status).toBe('fulfilled')
    expect(wallet.inFlight()).toHaveLength(1)
  })

  it('frees the inputs of a released or rejected transaction', async () => {
    const { open } = await openScene()
    const wallet = open()
    const released = await wallet.build(pay(2900))
    await expect(wallet.build(pay(200))).rejects.toMatchObject({ code: 'WALLET_INSUFFICIENT_FUNDS' })
    wallet.release(released.id)
    const second = await wallet.build(pay(2900))
    const broken = Uint8Array.from(second.bytes)
    const signature = second.transaction.witnesses.keyWitnesses[0]!.signature
    broken[Buffer.from(broken).indexOf(signature)]! ^= 1
    await expect(wallet.submit({ id: second.id, bytes: broken })).rejects.toMatchObject({
      code: 'LAYER1_REJECTED',
    })
    expect(wallet.inFlight()).toEqual([])
    expect((await wallet.send(pay(2900))).spent).toHaveLength(3)
  })

  it('adopts transactions of an earlier process, submitted or not', async () => {
    const { open, devnet, layer1 } = await openScene()
    const earlier = open()
    const sent = await earlier.send(pay(100))
    const unsent = await earlier.build(pay(100))

    const wallet = open()
    await wallet.adopt(sent.bytes)
    const adopted = await wallet.adopt(unsent.bytes)
    expect(wallet.inFlight()).toEqual([sent.id, unsent.id])
    await wallet.submit(adopted)
    const next = await wallet.send(pay(2500))
    const taken = new Set([...spentBy(sent), ...spentBy(unsent)])
    expect(spentBy(next).filter((key) => taken.has(key))).toEqual([])
    await devnet.produceBlock()
    for (const { id } of [sent, adopted, next]) expect((await layer1.status(id)).kind).toBe('confirmed')
  })

  it('does not adopt a confirmed transaction, or one whose inputs are spent', async () => {
    const { open, devnet } = await openScene()
    const included = await open().send(pay(100))
    // It spends an output that is still there, too.
    const draft = { ...pay(2900), inputs: included.spent.map((utxo) => ({ utxo })) }
    const rival = await open().build(draft)
    expect(rival.spent.length).toBeGreaterThan(included.spent.length)
    await devnet.produceBlock()
    const wallet = open()
    await wallet.adopt(included.bytes)
    await wallet.adopt(rival.bytes)
    expect(wallet.inFlight()).toEqual([])
    await wallet.send(pay(2800))
  })

  it('does not adopt two transactions that spend the same input', async () => {
    const { open } = await openScene()
    const [first, second] = [await open().build(pay(2900)), await open().build(pay(2950))]
    const wallet = open()
    await wallet.adopt(first.bytes)
    await wallet.adopt(second.bytes)
    expect(wallet.inFlight()).toEqual([first.id])
  })

  it('refuses keys of another network', async () => {
    const { layer1 } = await openScene()
    const foreign = keysFromSeedPhrase('test '.repeat(23).concat('sauce'), { networkId: 1 })
    expect(() => openWallet({ layer1, keys: foreign })).toThrow(TypeError)
  })
})
