import { equalBytes, toHex } from '@ratatosk/cbor'
import { decodeTransaction, type OutputReference, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import type { BuiltTransaction } from '@ratatosk/ledger/builder'
import { afterEach, describe, expect, it } from 'vitest'
import { Layer1Error } from './errors.js'
import { createOutbox, type OutboxOptions, type OutboxTransaction } from './outbox.js'
import { createDevnetLayer1 } from './providers/devnet/create-devnet-layer1.js'
import { emptyKeys, keys, limits, openDevnet } from './test/devnet-harness.js'
import type { Spending, TransactionStatus } from './types.js'
import { openWallet } from './wallet/open-wallet.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const pay = (ada: number, validUntil?: bigint) => ({
  outputs: [{ address: emptyKeys.addressText, lovelace: BigInt(ada) * 1_000_000n }],
  ...(validUntil !== undefined && { validUntil }),
})

async function openScene() {
  const devnet = await openDevnet()
  closing.push(() => devnet.close())
  const layer1 = createDevnetLayer1(devnet, limits)
  const open = () => openWallet({ layer1, keys, withholdMs: 0 })
  const slot = async () => (await layer1.tip()).slot
  return { devnet, layer1, open, slot }
}

/** A layer 1 that answers as a test sets it, and the transactions that it was sent. */
function fakeLayer1() {
  const states = new Map<string, TransactionStatus['kind']>()
  const spendings = new Map<string, Spending>()
  const gone = new Set<string>()
  const sent: string[] = []
  const answers: (Layer1Error | undefined)[] = []
  const layer1: OutboxOptions['layer1'] = {
    async submit(cbor) {
      const { id } = decodeTransaction(cbor)
      sent.push(toHex(id))
      const error = answers.shift()
      if (error) throw error
      return id
    },
    async status(id) {
      const kind = states.get(toHex(id)) ?? 'unknown'
      return kind === 'confirmed' ? { kind, slot: 1n, blockHash: '', confirmations: 0 } : { kind }
    },
    async spending(reference) {
      return spendings.get(outputReferenceKey(reference))
    },
    async utxosByReferences(references) {
      const there = references.filter((reference) => !gone.has(outputReferenceKey(reference)))
      return there.map((reference) => ({ reference }) as Utxo)
    },
  }
  return { layer1, states, spendings, gone, sent, answers }
}

/** Two transactions, the second a child of the first, valid until slot 1,000 of a fake layer 1. */
async function someTransactions(): Promise<readonly BuiltTransaction[]> {
  const { open, devnet } = await openScene()
  const wallet = open()
  const slot = await createDevnetLayer1(devnet, limits).currentSlot()
  const first = await wallet.build(pay(2900, slot + 1000n))
  return [first, await wallet.build(pay(50, slot + 1000n))]
}

const endOf = ({ transaction }: BuiltTransaction) => transaction.body.validityInterval.invalidHereafter!
const firstInput = ({ transaction }: BuiltTransaction): OutputReference => transaction.body.inputs[0]!
const rejected = (mayHaveEffect: boolean) =>
  new Layer1Error('LAYER1_REJECTED', 'refused', { reason: 'BadInputsUTxO', mayHaveEffect })

const storedIn = (stored: readonly OutboxTransaction[]) => async (ids: readonly Uint8Array[]) =>
  stored.filter((each) => ids.some((id) => equalBytes(id, each.id)))

describe('an outbox', () => {
  it('sends again only after a while, and only what layer 1 does not know', async () => {
    const [transaction] = await someTransactions()
    const { layer1, states, sent } = fakeLayer1()
    const outbox = createOutbox({ layer1, resendEverySlots: 10 })
    const follow = (slot: bigint) => outbox.follow(transaction!, slot)
    expect(await outbox.send(transaction!, 100n)).toBe('sent')
    expect(await follow(109n)).toBe('pending')
    expect(sent).toHaveLength(1)
    expect(await follow(110n)).toBe('pending')
    expect(sent).toHaveLength(2)
    states.set(toHex(transaction!.id), 'pending')
    expect(await follow(130n)).toBe('pending')
    expect(sent).toHaveLength(2)
    states.set(toHex(transaction!.id), 'confirmed')
    expect(await follow(131n)).toBe('included')
    // A roll-back: layer 1 knows it no longer.
    states.delete(toHex(transaction!.id))
    expect(await follow(120n)).toBe('pending')
    expect(sent).toHaveLength(3)
  })

  it('records before it sends, and sends nothing that it could not record', async () => {
    const [transaction] = await someTransactions()
    const { layer1, sent } = fakeLayer1()
    const order: string[] = []
    const record = async () => {
      order.push(`recorded, ${sent.length} sent`)
    }
    await createOutbox({ layer1, resendEverySlots: 1, record }).send(transaction!, 1n)
    expect(order).toEqual(['recorded, 0 sent'])
    const failing = createOutbox({
      layer1,
      resendEverySlots: 1,
      record: () => Promise.reject(new Error('no disk')),
    })
    await expect(failing.send(transaction!, 1n)).rejects.toThrow('no disk')
    expect(sent).toHaveLength(1)
  })

  it('gives up what has expired, after the lag of the provider, and its children', async () => {
    const [parent, child] = await someTransactions()
    const { layer1, sent } = fakeLayer1()
    const outbox = createOutbox({ layer1, resendEverySlots: 10, lagSlots: 5 })
    const end = endOf(parent!)
    expect(await outbox.follow(parent!, end)).toBe('pending')
    expect(await outbox.follow(parent!, end + 5n)).toBe('dead')
    expect(await outbox.follow(child!, end - 1n)).toBe('dead')
    expect(sent).toEqual([])
  })

  it('goes on with the children of what it gave up once layer 1 includes it after all', async () => {
    const [parent, child] = await someTransactions()
    const { layer1, states, sent } = fakeLayer1()
    const outbox = createOutbox({ layer1, resendEverySlots: 10 })
    expect(await outbox.follow(parent!, endOf(parent!))).toBe('dead')
    states.set(toHex(parent!.id), 'confirmed')
    expect(await outbox.follow(parent!, endOf(parent!) - 1n)).toBe('included')
    expect(await outbox.follow(child!, endOf(child!) - 1n)).toBe('pending')
    expect(sent).toEqual([toHex(child!.id)])
  })

  it('does not give up what a mempool or a block has, however late', async () => {
    const [transaction] = await someTransactions()
    const { layer1, states } = fakeLayer1()
    const outbox = createOutbox({ layer1, resendEverySlots: 10 })
    states.set(toHex(transaction!.id), 'pending')
    expect(await outbox.follow(transaction!, endOf(transaction!) + 9n)).toBe('pending')
    states.set(toHex(transaction!.id), 'confirmed')
    expect(await outbox.follow(transaction!, endOf(transaction!) + 9n)).toBe('included')
  })

  it('gives up what another transaction has overtaken, but not what only lacks an input', async () => {
    const [transaction] = await someTransactions()
    const { layer1, gone, spendings } = fakeLayer1()
    const outbox = createOutbox({ layer1, resendEverySlots: 10 })
    const key = outputReferenceKey(firstInput(transaction!))
    gone.add(key)
    expect(await outbox.follow(transaction!, 1n)).toBe('pending')
    spendings.set(key, { transactionId: transaction!.id })
    expect(await outbox.follow(transaction!, 20n)).toBe('pending')
    spendings.set(key, { transactionId: new Uint8Array(32) })
    expect(await outbox.follow(transaction!, 25n), 'it was sent a moment ago').toBe('pending')
    expect(await outbox.follow(transaction!, 30n)).toBe('dead')
  })

  it('sends sooner again what layer 1 refuses, and its parents, which it may lack', async () => {
    const [parent, child] = await someTransactions()
    const { layer1, answers, sent } = fakeLayer1()
    const outbox = createOutbox({ layer1, resendEverySlots: 100, refusedSlots: 5 })
    expect(await outbox.send(parent!, 1n)).toBe('sent')
    answers.push(rejected(true), undefined, rejected(true))
    expect(await outbox.send(child!, 2n)).toBe('open')
    const followAt = async (slot: bigint) => {
      for (const each of [parent!, child!]) expect(await outbox.follow(each, slot)).toBe('pending')
      return sent.length
    }
    expect(await followAt(6n)).toBe(2)
    // The child is refused again, although layer 1 has its parent.
    expect(await followAt(7n)).toBe(4)
    expect(await followAt(12n)).toBe(6)
    // Now it is accepted.
    expect(await followAt(17n)).toBe(6)
    expect(await followAt(112n)).toBe(8)
    expect(sent.map((id) => id === toHex(parent!.id))).toEqual([
      true,
      false,
      true,
      false,
      true,
      false,
      true,
      false,
    ])
  })

  it('follows stored parents before it sends their child again', async () => {
    const [parent, child] = await someTransactions()
    const { layer1, sent } = fakeLayer1()
    const outbox = createOutbox({ layer1, resendEverySlots: 10, parents: storedIn([parent!]) })
    expect(await outbox.follow(child!, 1n)).toBe('pending')
    expect(sent).toEqual([toHex(parent!.id), toHex(child!.id)])
    expect(await outbox.follow(child!, 2n)).toBe('pending')
    expect(sent).toHaveLength(2)
  })

  it('deletes what is refused or dead, also a parent that nothing else follows', async () => {
    const [parent, child] = await someTransactions()
    const { layer1, answers, gone, spendings } = fakeLayer1()
    const forgotten: string[] = []
    const forget = async ({ id }: OutboxTransaction, why: string) => {
      forgotten.push(`${id === parent!.id ? 'parent' : 'child'} ${why}`)
    }
    const outbox = createOutbox({ layer1, resendEverySlots: 10, parents: storedIn([parent!]), forget })
    answers.push(rejected(false))
    expect(await outbox.send(child!, 1n)).toBe('refused')
    gone.add(outputReferenceKey(firstInput(parent!)))
    spendings.set(outputReferenceKey(firstInput(parent!)), { transactionId: new Uint8Array(32) })
    expect(await outbox.follow(child!, 2n)).toBe('dead')
    expect(forgotten).toEqual(['child refused', 'parent dead', 'child dead'])
  })

  it('frees no inputs of what it could not delete', async () => {
    const { layer1, open } = await openScene()
    const wallet = open()
    let isAway = true
    const forget = async () => {
      if (isAway) throw new Error('no database')
    }
    const unknown = { ...layer1, status: async () => ({ kind: 'unknown' }) as const }
    const outbox = createOutbox({ layer1: unknown, wallet, resendEverySlots: 10, forget })
    const transaction = await wallet.build(pay(100))
    const end = endOf(transaction)
    await expect(outbox.follow(transaction, end)).rejects.toThrow('no database')
    expect(wallet.isInFlight(transaction.id)).toBe(true)
    isAway = false
    expect(await outbox.follow(transaction, end)).toBe('dead')
    expect(wallet.isInFlight(transaction.id)).toBe(false)
  })

  it('reports each sending that may have an effect', async () => {
    const [transaction, other] = await someTransactions()
    const { layer1, answers } = fakeLayer1()
    const reported: string[] = []
    const fields: object[] = []
    const outbox = createOutbox({
      layer1,
      resendEverySlots: 10,
      sent: ({ stage }: OutboxTransaction) => reported.push(stage ?? ''),
      log: { warn: (each) => fields.push(each) },
    })
    answers.push(rejected(false), undefined, rejected(true))
    expect(await outbox.send({ ...other!, stage: 'refused' }, 1n)).toBe('refused')
    expect(await outbox.send({ ...transaction!, stage: 'first' }, 1n)).toBe('sent')
    expect(await outbox.follow({ ...transaction!, stage: 'second' }, 11n)).toBe('pending')
    expect(reported).toEqual(['first', 'second'])
    expect(fields).toMatchObject([{ stage: 'refused' }, { stage: 'second', reason: 'BadInputsUTxO' }])
  })

  it('gives up no child that a mempool has', async () => {
    const [parent, child] = await someTransactions()
    const { layer1, states } = fakeLayer1()
    const outbox = createOutbox({ layer1, resendEverySlots: 10 })
    outbox.drop(parent!.id)
    states.set(toHex(child!.id), 'pending')
    expect(await outbox.follow(child!, 1n)).toBe('pending')
    states.delete(toHex(child!.id))
    expect(await outbox.follow(child!, 2n)).toBe('dead')
  })

  it('gives up what it is told to, and its children', async () => {
    const [parent, child] = await someTransactions()
    const { layer1 } = fakeLayer1()
    const outbox = createOutbox({ layer1, resendEverySlots: 10 })
    for (const each of [parent!, child!]) expect(await outbox.send(each, 1n)).toBe('sent')
    outbox.drop(parent!.id)
    expect(await outbox.follow(child!, 2n)).toBe('dead')
  })

  it('says when layer 1 refuses the first sending for good, and goes on if that is open', async () => {
    const [transaction] = await someTransactions()
    const { layer1, answers, sent } = fakeLayer1()
    const warnings: string[] = []
    const log = { warn: (_: object, message: string) => warnings.push(message) }
    const outbox = createOutbox({ layer1, resendEverySlots: 10, log })
    answers.push(rejected(false))
    expect(await outbox.send(transaction!, 1n)).toBe('refused')
    expect(warnings).toEqual(['Layer 1 refused a transaction: refused'])
    answers.push(rejected(true), new Layer1Error('LAYER1_TIMEOUT', 'no answer'))
    expect(await outbox.send(transaction!, 1n)).toBe('open')
    expect(await outbox.send(transaction!, 2n)).toBe('open')
    answers.push(new Layer1Error('LAYER1_WRONG_NETWORK', 'mainnet'))
    await expect(outbox.send(transaction!, 3n)).rejects.toMatchObject({ code: 'LAYER1_WRONG_NETWORK' })
    expect(sent).toHaveLength(4)
  })
})

describe('an outbox on the devnet', () => {
  it('goes on with what an earlier process has sent, or only recorded', async () => {
    const { devnet, layer1, open, slot } = await openScene()
    const [first, second] = [open(), open()]
    const recorded: BuiltTransaction[] = []
    const earlier = createOutbox({ layer1, wallet: first, resendEverySlots: 5 })
    const sent = await first.build(pay(100))
    expect(await earlier.send(sent, await slot())).toBe('sent')
    recorded.push(sent, await first.build(pay(100)))

    const outbox = createOutbox({ layer1, wallet: second, resendEverySlots: 5 })
    for (const transaction of recorded) expect(await outbox.follow(transaction, await slot())).toBe('pending')
    expect(second.inFlight()).toHaveLength(2)
    await devnet.produceBlock()
    for (const transaction of recorded)
      expect(await outbox.follow(transaction, await slot())).toBe('included')
  })

  it('frees the inputs of the loser of a race, and of its children', async () => {
    const { devnet, layer1, open, slot } = await openScene()
    const wallet = open()
    const outbox = createOutbox({ layer1, wallet, resendEverySlots: 100 })
    const loser = await wallet.build(pay(2900))
    const child = await wallet.build(pay(50))
    await open().send(pay(2950))
    expect(await outbox.send(loser, await slot()), 'the mempool has a rival').toBe('open')
    expect(await outbox.follow(loser, await slot()), 'which may fail').toBe('pending')
    await devnet.produceBlock()
    for (const each of [loser, child]) expect(await outbox.follow(each, await slot())).toBe('dead')
    expect(wallet.inFlight()).toEqual([])
  })
})
