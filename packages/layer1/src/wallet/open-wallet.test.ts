import { toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeTransaction,
  encodeBech32Address,
  outputReferenceKey,
  scriptAddress,
  type Utxo,
} from '@ratatosk/ledger'
import {
  type BuiltTransaction,
  encodeBody,
  encodeTransaction,
  encodeWitnesses,
  keysFromSeedPhrase,
  nativeScript,
  toOutput,
} from '@ratatosk/ledger/builder'
import { afterEach, describe, expect, it } from 'vitest'
import { createDevnetLayer1 } from '../providers/devnet/create-devnet-layer1.js'
import { emptyKeys, keys, limits, openDevnet } from '../test/devnet-harness.js'
import { keyAuthority, scriptAuthority } from './authority.js'
import { createUtxoPool, type InFlightTransaction, openWallet } from './open-wallet.js'

const output = toOutput({
  address: keys.address.bytes,
  value: { lovelace: 5_000_000n, assets: new Map() },
  datum: { kind: 'none' },
})

const utxo = (name: string, index = 0): Utxo => ({
  reference: { transactionId: blake2b256(Buffer.from(name)), index },
  output,
})

/** A transaction that spends and makes outputs of the wallet. */
function transaction(
  spent: readonly Utxo[],
  validUntil?: bigint,
  collateral: readonly Utxo[] = [],
): InFlightTransaction {
  const body = encodeBody({
    inputs: spent.map(({ reference }) => reference),
    outputs: [output.bytes],
    fee: 1n,
    ...(validUntil !== undefined && { validUntil }),
    collateral: [],
    requiredSigners: [],
    referenceInputs: [],
  })
  const witnesses = encodeWitnesses({ keyWitnesses: [], scripts: [], datums: [], redeemers: [] })
  const decoded = decodeTransaction(encodeTransaction(body, witnesses))
  const produced = [{ reference: { transactionId: decoded.id, index: 0 }, output }]
  return { id: decoded.id, transaction: decoded, spent, collateral, produced }
}

function openPool() {
  const clock = { time: 0 }
  const pool = createUtxoPool({ owns: () => true, withholdMs: 1000, now: () => clock.time })
  const free = () => pool.free().map(({ reference }) => outputReferenceKey(reference))
  const key = ({ reference }: Utxo) => outputReferenceKey(reference)
  return { pool, clock, free, key }
}

const [a, b] = [utxo('a'), utxo('b')]

describe('output pool of a wallet', () => {
  it('reserves the inputs and collateral of a pending transaction and frees its outputs', () => {
    const { pool, free, key } = openPool()
    pool.refresh([a, b], 0n)
    const held = transaction([a], undefined, [b])
    pool.hold(held)
    expect(free()).toEqual([key(held.produced[0]!)])
    pool.release(held.id)
    expect(free()).toEqual([key(a), key(b)])
  })

  it('releases a transaction together with those that spend its outputs', () => {
    const { pool, free, key } = openPool()
    pool.refresh([a], 0n)
    const first = transaction([a])
    const second = transaction(first.produced.slice(0, 1))
    const third = transaction(second.produced.slice(0, 1))
    for (const held of [first, second, third]) pool.hold(held)
    expect(free()).toEqual([key(third.produced[0]!)])
    pool.release(second.id)
    expect(pool.inFlight()).toEqual([first.id])
    expect(free()).toEqual([key(first.produced[0]!)])
  })

  it('offers neither spent nor intermediate outputs of a confirmed chain', () => {
    const { pool, free, key, clock } = openPool()
    pool.refresh([a], 0n)
    const first = transaction([a])
    const second = transaction(first.produced.slice(0, 1))
    pool.hold(first)
    pool.hold(second)
    pool.refresh(second.produced, 1n)
    expect(pool.inFlight()).toEqual([])
    expect(free()).toEqual([key(second.produced[0]!)])
    // An answer from an older block.
    pool.refresh([a], 0n)
    expect(free()).toEqual([])
    clock.time = 1000
    pool.refresh([a], 2n)
    expect(free()).toEqual([key(a)])
  })

  it('drops a transaction and its outputs if another one spends its input', () => {
    const { pool, free, key } = openPool()
    pool.refresh([a, b], 0n)
    const loser = transaction([a])
    pool.hold(loser)
    pool.hold(transaction(loser.produced.slice(0, 1)))
    pool.refresh([b], 1n)
    expect(pool.inFlight()).toEqual([])
    expect(free()).toEqual([key(b)])
  })

  it('frees the inputs of a transaction whose validity interval has ended', () => {
    const { pool, free, key } = openPool()
    pool.refresh([a], 0n)
    const held = transaction([a], 10n)
    pool.hold(held)
    pool.refresh([a], 9n)
    expect(pool.inFlight()).toEqual([held.id])
    pool.refresh([a], 10n)
    expect(pool.inFlight()).toEqual([])
    expect(free()).toEqual([key(a)])
  })
})

const script = nativeScript(
  JSON.stringify({
    type: 'all',
    scripts: [keys, emptyKeys].map(({ payment }) => ({ type: 'sig', keyHash: toHex(payment.hash) })),
  }),
)
const address = encodeBech32Address(scriptAddress(script.hash, 0))
const pay = { outputs: [{ address: emptyKeys.addressText, lovelace: 5_000_000n }] }

it('shows the authority of a script by an output that each transaction hands to the next', async () => {
  const devnet = await openDevnet(2)
  const layer1 = createDevnetLayer1(devnet, limits)
  try {
    const authority = scriptAuthority({ layer1, script, keys: [keys.payment, emptyKeys.payment] })
    const payer = openWallet({ layer1, keys, withholdMs: 0 })
    const wallet = authority.over(payer)
    // The first needs an output at the script, which must not be paid for with what the draft names.
    const [named] = await layer1.utxosAt(keys.addressText)
    const began = wallet.build({ ...pay, inputs: [{ utxo: named! }] })
    while (devnet.mempool().length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await devnet.produceBlock()
    const first = await began
    const second = await wallet.build(pay)
    for (const built of [first, second]) await wallet.submit(built)
    await devnet.produceBlock()
    for (const { id, spent } of [first, second]) {
      expect((await layer1.status(id)).kind).toBe('confirmed')
      expect(spent.some(({ output }) => encodeBech32Address(output.address as never) === address)).toBe(true)
    }
    expect(first.spent.map(({ reference }) => outputReferenceKey(reference))).toContain(
      outputReferenceKey(named!.reference),
    )

    // A stranger leaves an output there with a datum: it is not used.
    await payer.send({
      outputs: [{ address, lovelace: 3_000_000n, datum: { kind: 'inline', data: Uint8Array.of(0x40) } }],
    })
    await devnet.produceBlock()
    const third = await wallet.send(pay)
    await devnet.produceBlock()
    expect((await layer1.status(third.id)).kind).toBe('confirmed')
    expect(await layer1.utxosAt(address)).toHaveLength(2)
  } finally {
    await devnet.close()
  }
})

it('shows the authority of a key by its signature', async () => {
  const devnet = await openDevnet()
  const layer1 = createDevnetLayer1(devnet, limits)
  try {
    const payer = openWallet({ layer1, keys, withholdMs: 0 })
    const draft = { ...pay, requiredSigners: [emptyKeys.payment.hash] }
    await expect(payer.build(draft)).rejects.toMatchObject({ code: 'WALLET_INVALID_DRAFT' })
    await keyAuthority(emptyKeys.payment).over(payer).send(draft)
    expect(devnet.mempool()).toHaveLength(1)
  } finally {
    await devnet.close()
  }
})

describe('a wallet', () => {
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
