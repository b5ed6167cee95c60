import { toHex } from '@ratatosk/cbor'
import { endOfTurn, operatorInTurn } from '@ratatosk/contracts'
import { slotToTime } from '@ratatosk/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { takeOverAfterOf } from './contracts.js'
import { commitBlock, initQueue, mergeBlock } from './queue-drafts.js'
import { registerOperator, releaseBond, retireOperator } from './registry-drafts.js'
import { burnElements, removeBlock } from './removal-drafts.js'
import { allElements } from './state-queue.js'
import {
  begin,
  beginRegistry,
  commit,
  contracts,
  keys,
  nextHeader,
  openScene,
  operator,
  otherKeys,
  root,
  stateAt,
  turnLength,
} from './test/protocol-scene.js'
import { openClosedAfter } from './test/scenes.js'

describe('the protocol on a devnet', () => {
  it.each([
    ['by reference', true],
    ['in witnesses', false],
  ])('lives: init, commits, merges in order, reset, with scripts %s', async (_, byReference) => {
    const scene = await openClosedAfter()
    const { devnet, run, queue, registry, slots } = scene
    const referenceScripts = await begin(scene, byReference)

    const committed = [
      await commit(scene, referenceScripts),
      await commit(scene, referenceScripts),
      await commit(scene, referenceScripts),
    ]
    const hashes = committed.map(({ headerHash }) => headerHash)
    expect((await queue()).blocks.map((block) => block.headerHash)).toEqual(hashes)
    scene.nextTurn()
    for (const done of [1, 2]) {
      const before = await queue()
      const merging = await run(
        mergeBlock(contracts, { queue: before, slot: devnet.currentSlot(), slots, referenceScripts }),
      )
      const after = await queue()
      expect(after.fault).toBeUndefined()
      expect(after.blocks.map((block) => block.headerHash)).toEqual(hashes.slice(done))
      const { state } = after.roots[0]!.datum
      expect(state.headerHash).toEqual(hashes[done - 1])
      expect(state.utxoRoot).toEqual(committed[done - 1]!.header.utxosRoot)
      expect(merging.produced[1]!.output.value.lovelace).toBe(before.blocks[0]!.utxo.output.value.lovelace)
    }
    await run(burnElements(contracts, allElements(await queue()), await registry(), referenceScripts))
    expect((await registry()).datum.running).toBe(false)
    expect(await queue()).toMatchObject({
      roots: [],
      blocks: [],
      strays: [],
      fault: { code: 'CONTRACTS_BROKEN_QUEUE' },
    })
  })

  it('starts again after a reset, from any confirmed state', async () => {
    const scene = await openClosedAfter()
    const { run, queue, registry } = scene
    await begin(scene)
    await commit(scene)
    const before = await queue()
    expect(() => burnElements(contracts, allElements(before), undefined)).toThrow(
      expect.objectContaining({ code: 'WALLET_INVALID_DRAFT' }),
    )
    await run(burnElements(contracts, allElements(before), await registry()))
    const state = { ...stateAt(1n), headerHash: new Uint8Array(28).fill(7), utxoRoot: root(9) }
    await run(initQueue(contracts, await registry(), state))
    const after = await queue()
    expect(after.fault).toBeUndefined()
    expect(after.roots[0]!.datum.state).toEqual(state)
    await commit(scene)
    expect((await queue()).blocks).toHaveLength(1)
  })

  it('removes a block and relinks its predecessor; the blocks behind it cannot be merged', async () => {
    const scene = await openClosedAfter()
    const { run, queue, devnet, slots, wallet } = scene
    await begin(scene)
    const [first, second, third] = [await commit(scene), await commit(scene), await commit(scene)]
    const remove = async (hash: Uint8Array) => run(removeBlock(contracts, await queue(), hash))
    await remove(third.headerHash)
    await remove(first.headerHash)
    const removed = await queue()
    expect(removed.fault).toBeUndefined()
    expect(removed.blocks.map(({ headerHash }) => headerHash)).toEqual([second.headerHash])
    scene.nextTurn()
    const merge = mergeBlock(contracts, { queue: removed, slot: devnet.currentSlot(), slots })
    await expect(wallet.build(merge)).rejects.toMatchObject({ code: 'WALLET_TRANSACTION_REFUSED' })

    await remove(second.headerHash)
    expect((await queue()).blocks).toEqual([])
    expect(() => removeBlock(contracts, removed, third.headerHash)).toThrow('not in the state queue')
    await commit(scene)
    expect((await queue()).blocks).toHaveLength(1)
  })

  it('registers operators, retires them and returns their bonds', async () => {
    const scene = await openClosedAfter()
    const { clock, run, registry, slots, wallet, validity } = scene
    await beginRegistry(scene)
    const early = validity()
    await run(registerOperator(contracts, await registry(), operator, early))
    const active = await registry()
    const turnOf = (time: bigint) => (time / turnLength) * turnLength
    expect(active.datum.operators).toEqual([
      {
        vkey: operator,
        bond: 500_000_000n,
        activeFrom: turnOf(slotToTime(slots, early.validFrom)),
      },
    ])
    await expect(
      wallet.build(registerOperator(contracts, active, operator, validity())),
    ).rejects.toMatchObject({ code: 'WALLET_TRANSACTION_REFUSED' })
    expect(() =>
      retireOperator(contracts, active, operator, { ...early, validUntil: early.validFrom + 61n }),
    ).toThrow(expect.objectContaining({ code: 'WALLET_INVALID_DRAFT' }))
    expect(() => releaseBond(contracts, active, operator, slots)).toThrow('has not retired')

    await run(retireOperator(contracts, active, operator, validity()))
    const retired = await registry()
    expect(() => retireOperator(contracts, retired, operator, validity())).toThrow('has retired')
    const before = (await wallet.balance()).lovelace
    clock.time += 200_000
    const { fee } = await run(releaseBond(contracts, retired, operator, slots))
    expect((await wallet.balance()).lovelace).toBe(before + 500_000_000n - fee)
    expect((await registry()).datum).toEqual({ ...active.datum, operators: [] })
  })

  it('a stranger cannot register alone, and the administrator retires an operator', async () => {
    const scene = await openClosedAfter()
    const { run, registry, otherWallet, validity } = scene
    await begin(scene)
    const stranger = otherKeys.payment.hash
    const draft = registerOperator(contracts, await registry(), stranger, validity())
    await expect(otherWallet.build({ ...draft, requiredSigners: [stranger] })).rejects.toMatchObject({
      code: 'WALLET_TRANSACTION_REFUSED',
    })
    await run(draft, otherWallet, [keys.payment])
    await run(retireOperator(contracts, await registry(), stranger, validity(), 'administrator'))
    const [entry] = (await registry()).datum.operators
    expect(entry!.activeUntil).toBeGreaterThanOrEqual(entry!.activeFrom)
  })

  it('keeps the turn in progress and the next when an operator registers', async () => {
    const scene = await openClosedAfter()
    const { run, registry, otherWallet, validity, clock } = scene
    await begin(scene)
    scene.nextTurn()
    const now = BigInt(clock.time)
    await run(
      registerOperator(contracts, await registry(), otherKeys.payment.hash, validity()),
      otherWallet,
      [keys.payment],
    )
    const { datum } = await registry()
    const operators = [0n, 1n, 2n, 3n].map((turns) =>
      toHex(operatorInTurn(datum, now + turns * turnLength, turnLength)!.vkey),
    )
    const [own, other] = [toHex(operator), toHex(otherKeys.payment.hash)]
    expect(operators.slice(0, 2)).toEqual([own, own])
    expect(operators.slice(2).sort()).toEqual([own, other].sort())
  })

  it('a block by who is not in turn is refused, by the draft and by the validator', async () => {
    const scene = await openClosedAfter()
    const { queue, registry, run, devnet, slots, clock, wallet, otherWallet } = scene
    await begin(scene)
    const { validity } = scene
    const joining = registerOperator(contracts, await registry(), otherKeys.payment.hash, validity())
    await run(joining, otherWallet, [keys.payment])
    clock.time += 2 * Number(turnLength)
    const element = await registry()
    const inTurn = () => toHex(operatorInTurn(element.datum, BigInt(clock.time), turnLength)!.vkey)
    do scene.nextTurn()
    while (inTurn() !== toHex(otherKeys.payment.hash))

    const header = await nextHeader(scene)
    const wanted = { queue: await queue(), registry: element, header, slot: devnet.currentSlot(), slots }
    expect(() => commitBlock(contracts, wanted)).toThrow(
      expect.objectContaining({ code: 'PROTOCOL_NOT_SCHEDULED' }),
    )
    const operators = element.datum.operators.toReversed()
    const mistaken = { ...wanted, registry: { ...element, datum: { ...element.datum, operators } } }
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

  it('an operator takes over from one who is silent, and then waits as long again', async () => {
    const scene = await openClosedAfter()
    const { queue, registry, run, devnet, slots, clock, otherWallet, validity } = scene
    await begin(scene)
    const joining = registerOperator(contracts, await registry(), otherKeys.payment.hash, validity())
    await run(joining, otherWallet, [keys.payment])
    clock.time += 2 * Number(turnLength)
    const element = await registry()
    const inTurn = () => toHex(operatorInTurn(element.datum, BigInt(clock.time), turnLength)!.vkey)
    do scene.nextTurn()
    while (inTurn() !== toHex(otherKeys.payment.hash))

    const after = takeOverAfterOf(contracts.parameters)
    const draft = async () => {
      const slot = devnet.currentSlot()
      const header = { ...(await nextHeader(scene)), endTime: slotToTime(slots, slot) + after }
      return commitBlock(contracts, { queue: await queue(), registry: element, header, slot, slots })
    }
    await run(await draft())
    const [block] = (await queue()).blocks
    clock.time = Number(block!.datum.header.endTime + after) - 1000
    await expect(draft()).rejects.toMatchObject({ code: 'PROTOCOL_NOT_SCHEDULED' })
    clock.time += 1000
    await run(await draft())
    expect((await queue()).blocks).toHaveLength(2)
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

it('any sequence of commits and merges keeps the list equal to a model', async () => {
  const step = fc.constantFrom('commit' as const, 'merge' as const)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8, size: 'max' }), async (steps) => {
      const scene = await openScene()
      try {
        const { devnet, run, queue, slots } = scene
        const referenceScripts = await begin(scene, true)
        let confirmed = (await queue()).roots[0]!.datum.state.headerHash
        const waiting: Uint8Array[] = []
        for (const kind of steps) {
          if (kind === 'commit') waiting.push((await commit(scene, referenceScripts)).headerHash)
          else {
            scene.nextTurn()
            const merge = { queue: await queue(), slot: devnet.currentSlot(), slots, referenceScripts }
            const oldest = waiting.shift()
            if (oldest === undefined) expect(() => mergeBlock(contracts, merge)).toThrow('no block')
            else {
              await run(mergeBlock(contracts, merge))
              confirmed = oldest
            }
          }
          const { roots, blocks, strays, fault } = await queue()
          expect(blocks.map(({ headerHash }) => headerHash)).toEqual(waiting)
          expect(roots.map(({ datum }) => datum.state.headerHash)).toEqual([confirmed])
          expect({ strays, fault }).toEqual({ strays: [], fault: undefined })
        }
      } finally {
        await scene.devnet.close()
      }
    }),
    { numRuns: Number(process.env.LAYER1_PROPERTY_RUNS ?? 8) },
  )
})
