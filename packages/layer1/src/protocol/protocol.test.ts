import { endOfTurn, operatorInTurn } from '@ratatosk/contracts'
import { slotToTime, toHex } from '@ratatosk/ledger'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { evaluator } from '../test/devnet-harness.js'
import {
  begin,
  commit,
  contracts,
  nextHeader,
  openScene,
  operator,
  otherKeys,
  stateAt,
  turnLength,
} from '../test/protocol-scene.js'
import { publishScripts } from './contracts.js'
import { burnElements, commitBlock, initQueue, mergeBlock } from './queue-drafts.js'
import { initRegistry, registerOperator, releaseBond, retireOperator } from './registry-drafts.js'
import { allElements } from './state-queue.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
afterAll(() => evaluator.close())

async function openClosedAfter() {
  const scene = await openScene()
  closing.push(() => scene.devnet.close())
  return scene
}

describe('the protocol on a devnet', () => {
  it.each([
    ['by reference', true],
    ['in witnesses', false],
  ])('lives: init, commits, merges in order, reset, with scripts %s', async (_, byReference) => {
    const scene = await openClosedAfter()
    const { devnet, run, queue, slots, wallet } = scene
    const published = byReference ? await run(publishScripts(contracts, wallet.address)) : undefined
    const library = published?.produced.slice(0, 2) ?? []
    await begin(scene, library)

    const committed = [
      await commit(scene, library),
      await commit(scene, library),
      await commit(scene, library),
    ]
    const hashes = committed.map(({ headerHash }) => headerHash)
    expect((await queue()).blocks.map((block) => block.headerHash)).toEqual(hashes)
    scene.nextTurn()
    for (const done of [1, 2]) {
      const before = await queue()
      const merging = await run(
        mergeBlock(contracts, { queue: before, slot: devnet.currentSlot(), slots, library }),
      )
      const after = await queue()
      expect(after.fault).toBeUndefined()
      expect(after.blocks.map((block) => block.headerHash)).toEqual(hashes.slice(done))
      const { state } = after.roots[0]!.datum
      expect(toHex(state.headerHash)).toBe(hashes[done - 1])
      expect(state.utxoRoot).toEqual(committed[done - 1]!.header.utxosRoot)
      expect(merging.produced[1]!.output.value.lovelace).toBe(before.blocks[0]!.utxo.output.value.lovelace)
    }
    await run(burnElements(contracts, allElements(await queue()), library))
    expect(await queue()).toMatchObject({
      roots: [],
      blocks: [],
      strays: [],
      fault: { code: 'broken-queue' },
    })
  })

  it('repairs: duplicate roots are burned, and one is minted', async () => {
    const scene = await openClosedAfter()
    const { run, queue, slots, devnet } = scene
    await begin(scene)
    const again = () => initQueue(contracts, stateAt(slotToTime(slots, devnet.currentSlot())))
    await run(again())
    const doubled = await queue()
    expect(doubled.roots).toHaveLength(2)
    const slot = devnet.currentSlot()
    expect(() => mergeBlock(contracts, { queue: doubled, slot, slots })).toThrow('2 roots')
    await run(
      burnElements(
        contracts,
        doubled.roots.map(({ utxo }) => utxo),
      ),
    )
    expect((await queue()).roots).toHaveLength(0)
    await run(again())
    expect((await queue()).roots).toHaveLength(1)
    expect((await queue()).fault).toBeUndefined()
  })

  it('operators come and go with their bond', async () => {
    const scene = await openClosedAfter()
    const { clock, run, registry, devnet, slots, wallet } = scene
    await run(initRegistry(contracts))
    await run(registerOperator(contracts, await registry(), operator))
    const active = await registry()
    expect(active.datum.active.map(({ vkey }) => toHex(vkey))).toEqual([toHex(operator)])
    await expect(wallet.build(registerOperator(contracts, active, operator))).rejects.toMatchObject({
      code: 'WALLET_TRANSACTION_REFUSED',
    })
    const validUntil = devnet.currentSlot() + 10n
    await run(retireOperator(contracts, active, operator, validUntil, slots))
    const retired = await registry()
    expect(retired.datum.retired[0]!.releaseTime).toBe(slotToTime(slots, validUntil) + 90_000n)
    const before = (await wallet.balance()).lovelace
    clock.time += 200_000
    const { fee } = await run(releaseBond(contracts, retired, operator, slots))
    expect((await wallet.balance()).lovelace).toBe(before + 500_000_000n - fee)
    expect((await registry()).datum).toEqual({ active: [], retired: [] })
    expect(() => releaseBond(contracts, active, operator, slots)).toThrow('not retired')
  })

  it('a block by who is not in turn is refused, by the draft and by the validator', async () => {
    const scene = await openClosedAfter()
    const { queue, registry, run, devnet, slots, clock, wallet, otherWallet } = scene
    await begin(scene)
    await run(registerOperator(contracts, await registry(), otherKeys.payment.hash), otherWallet)
    const element = await registry()
    const inTurn = () => toHex(operatorInTurn(element.datum, BigInt(clock.time), turnLength)!.vkey)
    do scene.nextTurn()
    while (inTurn() !== toHex(otherKeys.payment.hash))

    const header = await nextHeader(scene)
    const wanted = { queue: await queue(), registry: element, header, slot: devnet.currentSlot(), slots }
    expect(() => commitBlock(contracts, wanted)).toThrow(
      expect.objectContaining({ code: 'PROTOCOL_NOT_SCHEDULED' }),
    )
    const active = element.datum.active.toReversed()
    const mistaken = { ...wanted, registry: { ...element, datum: { ...element.datum, active } } }
    await expect(wallet.build(commitBlock(contracts, mistaken))).rejects.toMatchObject({
      code: 'WALLET_TRANSACTION_REFUSED',
    })
    expect(wallet.inFlight()).toEqual([])

    const theirs = { ...wanted, header: { ...header, operatorVkey: otherKeys.payment.hash } }
    const late = endOfTurn(BigInt(clock.time), turnLength) + 1000n
    for (const [endTime, failure] of [
      [late, { code: 'PROTOCOL_NOT_SCHEDULED' }],
      [header.endTime + 1n, { code: 'WALLET_INVALID_DRAFT' }],
    ] as const) {
      expect(() => commitBlock(contracts, { ...theirs, header: { ...theirs.header, endTime } })).toThrow(
        expect.objectContaining(failure),
      )
    }
    await run(commitBlock(contracts, theirs), otherWallet)
    expect((await queue()).blocks).toHaveLength(1)
  })

  it('a block is merged from its first mature slot on, and by the validator no earlier', async () => {
    const scene = await openClosedAfter()
    const { clock, devnet, queue, run, slots, wallet } = scene
    await begin(scene)
    const { header } = await commit(scene)
    const matureAt = Number(header.endTime + contracts.parameters.maturityWindow)
    const merge = async () =>
      mergeBlock(contracts, { queue: await queue(), slot: devnet.currentSlot(), slots })

    clock.time = matureAt - 1000
    await expect(merge()).rejects.toMatchObject({ code: 'PROTOCOL_NOT_MATURE' })
    clock.time = matureAt
    const draft = await merge()
    const early = { ...draft, validFrom: draft.validFrom! - 1n }
    await expect(wallet.build(early)).rejects.toMatchObject({ code: 'WALLET_TRANSACTION_REFUSED' })
    await run(draft)
    const merged = await queue()
    expect(merged.blocks).toEqual([])
    expect(() => mergeBlock(contracts, { queue: merged, slot: devnet.currentSlot(), slots })).toThrow(
      expect.objectContaining({ code: 'WALLET_INVALID_DRAFT' }),
    )
  })
})
