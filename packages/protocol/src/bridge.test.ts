import { equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import { openWallet } from '@ratatosk/layer1'
import {
  type Assets,
  decodeTransactionOutput,
  encodeOutputReference,
  minimumLovelace,
  scriptAddress,
  slotToTime,
  type Utxo,
} from '@ratatosk/ledger'
import {
  type DraftOutput,
  keysFromSeedPhrase,
  type TransactionDraft,
  toOutput,
} from '@ratatosk/ledger/builder'
import { constr, decodePlutusData, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { describe, expect, it } from 'vitest'
import { readBridge, readWithdrawal, withdrawalFault } from './bridge.js'
import { buildDeposit, draftDeposit } from './deposit-drafts.js'
import { payWithdrawals, tidyDeposits } from './payout-drafts.js'
import { commitBlock, mergeBlock } from './queue-drafts.js'
import {
  bridgedContracts,
  bridgedPolicy,
  bridgedScript,
  commit,
  contracts,
  evaluator,
  keys,
  nextHeader,
  openJudge,
  root,
} from './test/protocol-scene.js'
import { openBridge, owing, withdrawalOutput } from './test/scenes.js'

const bridge = bridgedContracts.bridge!
const datum = encodePlutusData(constr(0, 1n, new Uint8Array(40).fill(3)))
const assetsOf = (quantities: Readonly<Record<string, bigint>>): Assets =>
  new Map([[bridgedPolicy, new Map(Object.entries(quantities))]])
const lovelaceOf = ({ output }: Utxo) => output.value.lovelace
const refusal = (message: string) =>
  expect.objectContaining({ code: 'WALLET_INVALID_DRAFT', message: expect.stringContaining(message) })

describe('a deposit', () => {
  it('has the output that it becomes, and is found once no other of its time can follow', async () => {
    const { deposit, events, request, slots, devnet, clock } = await openBridge()
    const assets = assetsOf({ '': 5n, bb: 6n, aabb: 7n })
    const inline = { kind: 'inline', data: datum } as const
    const validUntil = devnet.currentSlot() + 10n
    const made = await deposit({ assets, datum: inline, validUntil })
    const other = await deposit({ datum: { kind: 'hash', hash: root(9) }, validUntil: validUntil + 5n })

    const { deposits, reserves, settlements, strays, slot } = await events.state()
    expect([reserves, settlements, strays]).toEqual([[], [], []])
    expect(slot).toBe(devnet.tip().slot)
    const read = deposits.find(({ id }) => equalBytes(id, made.id))!
    expect(deposits).toHaveLength(2)
    expect(read.time).toBe(slotToTime(slots, validUntil) + bridge.terms.eventWait)
    expect(made.time).toBe(read.time)
    const { address, value, datum: stated } = decodeTransactionOutput(read.output)
    expect(address.bytes).toEqual(request().to)
    expect(value).toEqual({ lovelace: 20_000_000n, assets })
    expect(stated).toEqual(inline)

    const start = read.time - 1000n
    const until = () => slotToTime(slots, devnet.tip().slot) + bridge.terms.eventWait - 2000n
    expect(await events.between(start, until() + 1n)).toBe('not read yet')
    clock.time += 20_000
    await devnet.produceBlock()
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await events.between(start, until() + 1n)).toBe('not read yet')
    const ids = [made.id, other.id].sort((a, b) => (toHex(a) < toHex(b) ? -1 : 1))
    const both = await events.between(start, until())
    expect(both === 'not read yet' ? both : both.map(({ id }) => id)).toEqual(ids)
    expect(await events.between(read.time, read.time + 1n)).toEqual([{ id: read.id, output: read.output }])
    expect(await events.between(start, read.time)).toEqual([])
  })

  it('holds 99 assets, and is built of several inputs, or of one that just suffices', async () => {
    const { deposit, events, run, wallet, layer1, scene, request } = await openBridge()
    const names = Array.from(
      { length: 99 },
      (_, place) => 'ab'.repeat(place % 30) + place.toString(16).padStart(4, '0'),
    )
    const many = assetsOf(Object.fromEntries(names.map((name, place) => [name, BigInt(place + 1)])))
    const mint = [{ policy: bridgedPolicy, assets: many.get(bridgedPolicy)! }]
    await run({ mint, scripts: [bridgedScript], outputs: [{ address: wallet.address, assets: many }] })
    const made = await deposit({ lovelace: 25_000_000_000n, assets: many })
    expect(made.built.spent.length).toBeGreaterThan(2)
    const poorKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 9 })
    await run({ outputs: [{ address: poorKeys.addressText, lovelace: 11_500_000n }] })
    const poor = openWallet({ layer1, keys: poorKeys, evaluator })
    const other = await buildDeposit(poor, bridgedContracts, request({ lovelace: 10_000_000n }))
    await poor.submit(other.built)
    expect(poor.inFlight()).toEqual([other.built.id])
    await scene.devnet.produceBlock()
    const { deposits, strays } = await events.state()
    expect(strays).toEqual([])
    expect(deposits.map(({ id }) => toHex(id)).sort()).toEqual(
      [made, other].map(({ id }) => toHex(id)).sort(),
    )
    await expect(buildDeposit(poor, bridgedContracts, request())).rejects.toMatchObject({
      code: 'WALLET_INSUFFICIENT_FUNDS',
    })
  })

  it('is refused by the draft if it is malformed', async () => {
    const { request, wallet, layer1 } = await openBridge()
    const [firstInput] = await layer1.utxosAt(wallet.address)
    const draft = (change: Parameters<typeof request>[0]) =>
      draftDeposit(bridgedContracts, { ...request(change), firstInput: firstInput! })
    const strange = new Map([['ee'.repeat(28), new Map([['', 1n]])]])
    const many = assetsOf(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`${i + 100}0`, 1n])))
    const wrong: readonly [message: string, change: Parameters<typeof request>[0]][] = [
      ['Shelley address', { to: request().to.subarray(0, 28) }],
      ['Shelley address', { to: Uint8Array.of(0x61, ...root(1).subarray(0, 28)) }],
      ['Shelley address', { to: Uint8Array.of(0x40, ...root(1).subarray(0, 28), 1, 1, 1) }],
      ['own address', { to: bridge.place.address }],
      ['not bridged', { assets: strange }],
      ['over 100', { assets: many }],
    ]
    for (const [message, change] of wrong) expect(() => draft(change), message).toThrow(refusal(message))
    expect(() => draftDeposit(contracts, { ...request(), firstInput: firstInput! })).toThrow(
      refusal('no bridge'),
    )
  })

  it('is refused by the policy with another id, time, hash, address or place', async () => {
    const { scene, request, wallet, layer1 } = await openBridge()
    const refuses = openJudge(scene, keys)
    const utxos = await layer1.utxosAt(wallet.address)
    const [firstInput, ...others] = [...utxos].sort((a, b) =>
      toHex(a.reference.transactionId) < toHex(b.reference.transactionId) ? -1 : 1,
    )
    const draft = draftDeposit(bridgedContracts, { ...request(), firstInput: firstInput!, inputs: others })
    expect(await refuses(draft)).toBeUndefined()
    const [output] = draft.outputs as [DraftOutput]
    const change = (position: number, value: bigint | Uint8Array): TransactionDraft => {
      const { index, fields } = decodePlutusData((output.datum as { data: Uint8Array }).data) as never as {
        index: number
        fields: (bigint | Uint8Array)[]
      }
      const changed = fields.map((field, place) => (place === position ? value : field))
      const data = encodePlutusData(constr(index, ...changed))
      return { ...draft, outputs: [{ ...output, datum: { kind: 'inline', data } }] }
    }
    expect(await refuses(change(0, root(3)))).toBe('events')
    expect(await refuses(change(1, 5n))).toBe('events')
    expect(await refuses(change(2, keys.address.bytes))).toBe('events')
    expect(await refuses(change(4, root(3)))).toBe('events')
    expect(await refuses({ ...draft, outputs: [{ ...output, address: wallet.address }] })).toBe('events')
    expect(await refuses({ ...draft, validUntil: draft.validUntil! + 1n })).toBe('events')
  })
})

describe('withdrawals', () => {
  const target = keys.address.bytes
  const enterprise = scriptAddress(root(5).subarray(0, 28), 0).bytes
  const withHash = Uint8Array.of(...enterprise, ...root(6))
  const outputs = [
    withdrawalOutput({ lovelace: 5_000_000n, assets: assetsOf({ bb: 4n }) }, target),
    withdrawalOutput({ lovelace: 4_000_000n, assets: new Map() }, enterprise),
    withdrawalOutput({ lovelace: 3_000_000n, assets: new Map() }, withHash),
  ]

  it('are owed by a merge, paid from deposits and reserves, and the last payment ends it', async () => {
    const opened = await openBridge()
    const { deposit, merge, state, run, otherWallet, referenceScripts, scene, layer1 } = opened
    await deposit({ assets: assetsOf({ bb: 6n, aabb: 1n }) })
    const map = owing(outputs)
    const { header, headerHash } = await merge({ withdrawalsRoot: map.root })
    const merged = await state()
    const [settlement] = merged.settlements
    expect(settlement).toMatchObject({ headerHash, root: map.root, time: header.endTime })

    const payer = otherWallet.address
    const treasury = merged.deposits.map(({ utxo }) => utxo)
    const first = {
      settlement: settlement!,
      ...map.take(map.owed.slice(0, 2)),
      treasury,
      payer,
      referenceScripts,
    }
    expect(() => payWithdrawals(bridgedContracts, { ...first, treasury: [] })).toThrow(refusal('short of'))
    const paid = await run(payWithdrawals(bridgedContracts, first), otherWallet)
    const [, one, two] = paid.produced
    expect([one!.output.address.bytes, two!.output.address.bytes]).toEqual([target, enterprise])
    expect([one!, two!].map(lovelaceOf)).toEqual([4_700_000n, 3_700_000n])
    expect(one!.output.value.assets).toEqual(assetsOf({ bb: 4n }))

    const between = await state()
    expect(between.deposits).toEqual([])
    expect(between.strays).toEqual([])
    expect(between.reserves.map(lovelaceOf)).toEqual([11_000_000n])
    expect(between.reserves[0]!.output.value.assets).toEqual(assetsOf({ bb: 2n, aabb: 1n }))
    expect(between.settlements).toMatchObject([{ headerHash, root: first.rootAfter, time: header.endTime }])

    const refuses = openJudge(scene, keys)
    const again = { ...first, settlement: between.settlements[0]!, treasury: between.reserves }
    const twice = { ...again, entries: first.entries.slice(1) }
    expect(await refuses(payWithdrawals(bridgedContracts, twice))).toBe('bridge')

    const last = { ...again, ...map.take(map.owed) }
    const draft = payWithdrawals(bridgedContracts, last)
    const [closing, payment, reserve] = draft.outputs as [DraftOutput, DraftOutput, DraftOutput]
    const thefts: readonly (readonly DraftOutput[])[] = [
      [closing, { ...payment, lovelaceAtLeast: 2_600_000n }, reserve],
      [closing, { ...payment, address: payer }, reserve],
      [closing, { ...payment, datum: { kind: 'none' } }, reserve],
      [closing, payment, { ...reserve, lovelaceAtLeast: 7_900_000n }],
      [closing, payment, { ...reserve, address: payer }],
    ]
    for (const changed of thefts) expect(await refuses({ ...draft, outputs: changed })).toBe('bridge')
    const ended = await run(draft, otherWallet)
    expect(ended.produced[1]!.output.datum).toEqual({ kind: 'hash', hash: root(6) })
    const after = await state()
    expect([after.settlements, after.deposits, after.strays]).toEqual([[], [], []])
    expect(after.reserves.map(lovelaceOf)).toEqual([8_000_000n])
    expect(await layer1.utxosByPolicy(bridge.place.policy)).toEqual([])
    expect(await layer1.utxosByPolicy(bridge.events.policy)).toEqual([])
  })

  it('are paid in any number of transactions, whatever assets the treasury holds', async () => {
    const { deposit, merge, state, run, referenceScripts, wallet } = await openBridge()
    const names = Array.from({ length: 60 }, (_, place) => place.toString(16).padStart(4, '0'))
    const many = assetsOf(Object.fromEntries(names.map((name) => [name, 5n])))
    const mint = [{ policy: bridgedPolicy, assets: many.get(bridgedPolicy)! }]
    await run({ mint, scripts: [bridgedScript], outputs: [{ address: wallet.address, assets: many }] })
    await deposit({ lovelace: 100_000_000n, assets: many })
    const targets = Array.from({ length: 40 }, (_, place) =>
      Uint8Array.of(0x60, ...root(place).subarray(0, 28)),
    )
    const map = owing(
      targets.map((payee) => withdrawalOutput({ lovelace: 2_000_000n, assets: new Map() }, payee)),
    )
    await merge({ withdrawalsRoot: map.root })
    while (map.owed.length > 0) {
      const { settlements, deposits, reserves } = await state()
      const treasury = [...deposits.map(({ utxo }) => utxo), ...reserves]
      const taken = map.take(map.owed.slice(0, 15))
      const [settlement] = settlements
      const payer = wallet.address
      await run(
        payWithdrawals(bridgedContracts, {
          settlement: settlement!,
          ...taken,
          treasury,
          payer,
          referenceScripts,
        }),
      )
    }
    const { settlements, reserves } = await state()
    expect(settlements).toEqual([])
    expect(reserves.map(lovelaceOf)).toEqual([20_000_000n])
    expect(reserves[0]!.output.value.assets).toEqual(many)
  })

  it('are not paid from deposits that may not be confirmed, which tidying needs too', async () => {
    const { deposit, merge, state, queue, registry, run, referenceScripts, devnet } = await openBridge()
    const map = owing(outputs.slice(1, 2))
    await merge({ withdrawalsRoot: map.root })
    await deposit()
    await deposit({ lovelace: 2_000_000n, validUntil: devnet.currentSlot() + 9n })
    const { deposits, settlements } = await state()
    const treasury = deposits.map(({ utxo }) => utxo)
    const payout = { settlement: settlements[0]!, ...map.take(map.owed), treasury, payer: keys.addressText }
    expect(() => payWithdrawals(bridgedContracts, payout)).toThrow(refusal('younger'))
    const tidying = async () => ({
      deposits,
      root: (await queue()).roots[0]!,
      registry: await registry(),
      referenceScripts,
    })
    const early = await tidying()
    expect(() => tidyDeposits(bridgedContracts, early)).toThrow(refusal('not confirmed'))
    await merge()
    await run(tidyDeposits(bridgedContracts, await tidying()))
    const tidied = await state()
    expect(tidied.deposits).toEqual([])
    expect(tidied.reserves.map(lovelaceOf)).toEqual([22_000_000n])
    const few = { ...(await tidying()), deposits: [], reserves: tidied.reserves }
    expect(() => tidyDeposits(bridgedContracts, few)).toThrow(refusal('fewer than 10'))
    await run(payWithdrawals(bridgedContracts, { ...payout, treasury: tidied.reserves, referenceScripts }))
    expect((await state()).reserves.map(lovelaceOf)).toEqual([18_000_000n])
  })

  it('of a block need the registry and a bridge when it is merged', async () => {
    const { scene, queue, clock, devnet, slots, referenceScripts } = await openBridge()
    const { header } = await commit(scene, referenceScripts, { withdrawalsRoot: root(4) })
    clock.time = Number(header.endTime + bridgedContracts.parameters.maturityWindow)
    const merge = { queue: await queue(), slot: devnet.currentSlot(), slots, referenceScripts }
    expect(() => mergeBlock(bridgedContracts, merge)).toThrow(refusal('registry is needed'))
    const refuses = openJudge(scene, keys)
    const registry = await scene.registry()
    const draft = mergeBlock(bridgedContracts, { ...merge, registry })
    expect(
      await refuses({ ...draft, mint: draft.mint!.slice(0, 1), outputs: draft.outputs!.slice(0, 2) }),
    ).toBe('queue')
    expect(await refuses(draft)).toBeUndefined()
  })
})

describe('a commit that names deposits', () => {
  it('is valid only while they are there', async () => {
    const { scene, deposit, state, queue, registry, slots, devnet, referenceScripts, wallet } =
      await openBridge()
    await deposit()
    const { deposits } = await state()
    scene.nextTurn()
    const header = { ...(await nextHeader(scene)), depositsRoot: root(8) }
    const draft = commitBlock(bridgedContracts, {
      queue: await queue(),
      registry: await registry(),
      header,
      slot: devnet.currentSlot(),
      slots,
      events: deposits.map(({ utxo }) => utxo),
      referenceScripts,
    })
    const { transaction } = await wallet.build(draft)
    const { transactionId } = deposits[0]!.utxo.reference
    expect(
      transaction.body.referenceInputs.some((each) => equalBytes(each.transactionId, transactionId)),
    ).toBe(true)
  })
})

describe('readBridge', () => {
  const at = (content: Partial<Parameters<typeof toOutput>[0]>): Utxo => ({
    reference: { transactionId: root(1), index: 0 },
    output: toOutput({
      address: bridge.place.address,
      value: { lovelace: 9_000_000n, assets: new Map() },
      datum: { kind: 'none' },
      ...content,
    }),
  })
  const token = (policy: string, name: string) => new Map([[policy, new Map([[name, 1n]])]])
  const lovelace = 9_000_000n

  it('takes all without a datum as reserves: whoever pays may leave any assets there', () => {
    const reserves = [
      at({}),
      at({ value: { lovelace, assets: assetsOf({ bb: 1n }) } }),
      at({ value: { lovelace, assets: token(bridge.events.policy, 'ab'.repeat(32)) } }),
      at({ value: { lovelace, assets: token('ee'.repeat(28), '') } }),
    ]
    const strays = [
      at({ referenceScript: { language: 'PlutusV3', bytes: fromHex('450101002499') } }),
      at({ datum: { kind: 'hash', hash: root(1) } }),
      at({ datum: { kind: 'inline', data: datum } }),
      at({ datum: { kind: 'inline', data: fromHex('00') } }),
    ]
    const elsewhere = at({ address: keys.address.bytes })
    expect(readBridge(bridgedContracts, [...reserves, ...strays, elsewhere])).toEqual({
      deposits: [],
      reserves,
      settlements: [],
      strays,
    })
    expect(readBridge(contracts, reserves).reserves).toEqual([])
  })

  it('takes a deposit that holds something else than it states as a stray', async () => {
    const { deposit, state } = await openBridge()
    await deposit()
    const [found] = (await state()).deposits
    const { output, reference } = found!.utxo
    const change = (value: Partial<typeof output.value>): Utxo => ({
      reference,
      output: toOutput({
        address: output.address.bytes,
        datum: output.datum,
        value: { ...output.value, ...value },
      }),
    })
    const strays = [
      change({ lovelace: 21_000_000n }),
      change({ assets: new Map() }),
      change({ assets: token(bridge.events.policy, 'ab'.repeat(32)) }),
      change({ assets: new Map([...output.value.assets, ...assetsOf({ bb: 1n })]) }),
    ]
    expect(readBridge(bridgedContracts, strays)).toEqual({
      deposits: [],
      reserves: [],
      settlements: [],
      strays,
    })
  })
})

describe('withdrawalFault', () => {
  const coins = 4310n
  const data = (content: Uint8Array) => Uint8Array.of(0x58, content.length, ...content)
  type Content = Parameters<typeof toOutput>[0]
  const content: Content = {
    address: bridge.place.address,
    value: { lovelace: 5_000_000n, assets: new Map() },
    datum: { kind: 'inline', data: data(keys.address.bytes) },
  }
  const outref = encodeOutputReference({ transactionId: root(1), index: 0 })
  const inline = (bytes: Uint8Array): Partial<Content> => ({ datum: { kind: 'inline', data: bytes } })
  const enterprise = keys.address.bytes.subarray(0, 29).map((byte, place) => (place === 0 ? 0x60 : byte))

  it.each<[fault: string, change: Partial<Content>]>([
    ['not paid to the bridge', { address: keys.address.bytes }],
    ['no inline datum', { datum: { kind: 'none' } }],
    ['no inline datum', { datum: { kind: 'hash', hash: root(1) } }],
    ['not one byte string', inline(datum)],
    ['not one byte string', inline(Uint8Array.of(0x5f, ...data(enterprise), 0xff))],
    ['28 bytes', inline(data(enterprise.subarray(0, 28)))],
    ['not a payment address', inline(data(enterprise.map((byte, place) => (place === 0 ? 0x61 : byte))))],
    ['not a payment address', inline(data(enterprise.map((byte, place) => (place === 0 ? 0xe0 : byte))))],
    ['not a payment address', inline(data(enterprise.map((byte, place) => (place === 0 ? 0x00 : byte))))],
    ['reference script', { referenceScript: { language: 'PlutusV3', bytes: fromHex('450101002499') } }],
    [
      'not bridged',
      { value: { lovelace: 5_000_000n, assets: new Map([['ee'.repeat(28), new Map([['', 1n]])]]) } },
    ],
  ])('says: %s', (fault, change) => {
    const output = toOutput({ ...content, ...change })
    expect(withdrawalFault(bridgedContracts, output, coins)).toContain(fault)
    expect(readWithdrawal(bridgedContracts, outref, output.bytes)).toBeUndefined()
  })

  it('accepts the least that layer 1 can pay, and nothing less', () => {
    for (const target of [enterprise, keys.address.bytes, Uint8Array.of(...enterprise, ...root(3))]) {
      const assets = assetsOf({ bb: 3n })
      const holding = (lovelace: bigint) =>
        toOutput({ ...content, value: { lovelace, assets }, ...inline(data(target)) })
      const least = (() => {
        const hash =
          target.length === 61 ? ({ kind: 'hash', hash: root(3) } as const) : ({ kind: 'none' } as const)
        const address = target.length === 61 ? enterprise : target
        const paid = toOutput({ address, value: { lovelace: 1_000_000n, assets }, datum: hash })
        return bridge.terms.payoutFee + minimumLovelace(paid, { coinsPerUtxoByte: coins })
      })()
      expect(withdrawalFault(bridgedContracts, holding(least), coins)).toBeUndefined()
      expect(withdrawalFault(bridgedContracts, holding(least - 1n), coins)).toContain(`${least}`)
      expect(withdrawalFault(bridgedContracts, holding(1n), coins)).toBeDefined()
      expect(readWithdrawal(bridgedContracts, outref, holding(least).bytes)).toMatchObject({
        lovelace: least,
        assets,
      })
    }
    expect(readWithdrawal(bridgedContracts, outref, fromHex('80'))).toBeUndefined()
  })
})
