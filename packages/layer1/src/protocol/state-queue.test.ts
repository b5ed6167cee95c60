import { encodeBlockDatum, headerHash } from '@ratatosk/contracts'
import { fromHex, outputReferenceKey } from '@ratatosk/ledger'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { evaluator } from '../test/devnet-harness.js'
import { begin, commit, contracts, nextHeader, openScene } from '../test/protocol-scene.js'
import type { Utxo } from '../types.js'
import { inOrder, publishScripts } from './contracts.js'
import { burnElements, commitBlock, initQueue, MAX_BURNED_ELEMENTS, mergeBlock } from './queue-drafts.js'
import { allElements, readStateQueue, type StateQueue } from './state-queue.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
afterAll(() => evaluator.close())

async function openBegun() {
  const scene = await openScene()
  closing.push(() => scene.devnet.close())
  const { produced } = await scene.run(publishScripts(contracts, scene.wallet.address))
  const library = produced.slice(0, 2)
  await begin(scene, library)
  return { ...scene, scene, library }
}

const utxosOf = (elements: readonly { readonly utxo: Utxo }[]) => elements.map(({ utxo }) => utxo)
const keysOf = (utxos: readonly Utxo[]) => utxos.map(({ reference }) => outputReferenceKey(reference)).sort()

describe('a queue that is not sound', () => {
  it('the same block behind each of two roots: every output is read, and a reset burns it', async () => {
    const { scene, library, run, queue, registry, devnet, slots, layer1 } = await openBegun()
    const { state } = (await queue()).roots[0]!.datum
    await run(initQueue(contracts, state, library))
    scene.nextTurn()
    const { roots } = await queue()
    const header = await nextHeader(scene)
    for (const { utxo } of roots) {
      const one = readStateQueue(contracts, [utxo])
      const slot = devnet.currentSlot()
      const element = await registry()
      await run(commitBlock(contracts, { queue: one, registry: element, header, slot, slots, library }))
    }
    const utxos = await layer1.utxosAt(contracts.queue.addressText)
    expect(utxos).toHaveLength(4)
    const doubled = await queue()
    expect(doubled).toMatchObject({ blocks: [], fault: { code: 'broken-queue' } })
    expect(doubled.strays).toHaveLength(2)
    expect(keysOf(allElements(doubled))).toEqual(keysOf(utxos))

    const [one, other] = doubled.strays as [Utxo, Utxo]
    const halved = readStateQueue(contracts, [doubled.roots[0]!.utxo, one, other])
    expect([halved.blocks.length, halved.strays.length]).toEqual([1, 1])
    expect(halved.fault?.message).toContain('twice')

    await run(burnElements(contracts, allElements(doubled), library))
    expect(await layer1.utxosAt(contracts.queue.addressText)).toEqual([])
  })

  it('is read for diagnostics, and nothing is committed to it or merged from it', async () => {
    const { scene, library, queue, registry, devnet, slots } = await openBegun()
    for (let count = 0; count < 3; count++) await commit(scene, library)
    const sound = await queue()
    expect(sound.fault).toBeUndefined()
    const [root] = utxosOf(sound.roots) as [Utxo]
    const [first, second, third] = utxosOf(sound.blocks) as [Utxo, Utxo, Utxo]
    const { header } = sound.blocks[2]!.datum
    const withDatum = (utxo: Utxo, data: Uint8Array): Utxo => ({
      ...utxo,
      output: { ...utxo.output, datum: { kind: 'inline', data } },
    })
    const back = withDatum(
      third,
      encodeBlockDatum({ header, link: headerHash(sound.blocks[0]!.datum.header) }),
    )
    const end = withDatum(second, encodeBlockDatum({ header: sound.blocks[1]!.datum.header }))

    scene.nextTurn()
    const next = { header: await nextHeader(scene), slot: devnet.currentSlot(), slots }
    const element = await registry()
    const broken: readonly [name: string, outputs: readonly Utxo[], inOrder: number, code: string][] = [
      ['nothing at all', [], 0, 'broken-queue'],
      ['a root that links to a missing block', [root, second, third], 0, 'broken-queue'],
      ['a link to a missing block', [root, first, third], 1, 'broken-queue'],
      ['a cycle', [root, first, second, back], 3, 'broken-queue'],
      ['a block that no link leads to', [root, first, end, third], 2, 'broken-queue'],
      ['two roots', [root, root, first, second, third], 0, 'broken-queue'],
      ['an unreadable block', [root, first, withDatum(second, fromHex('00')), third], 1, 'malformed-data'],
    ]
    for (const [name, outputs, blocks, code] of broken) {
      const read: StateQueue = readStateQueue(contracts, outputs)
      expect(read.blocks, name).toHaveLength(blocks)
      expect(keysOf(allElements(read)), name).toEqual(keysOf(outputs))
      const refusal = expect.objectContaining({
        code: 'PROTOCOL_BROKEN_QUEUE',
        cause: expect.objectContaining({ code }),
      })
      expect(() => commitBlock(contracts, { ...next, queue: read, registry: element }), name).toThrow(refusal)
      expect(() => mergeBlock(contracts, { ...next, queue: read }), name).toThrow(refusal)
    }
  })
})

describe('burnElements', () => {
  it(`burns ${MAX_BURNED_ELEMENTS} elements in one transaction, with the script in its witnesses too, and takes no more`, async () => {
    const { scene, library, run, queue, wallet } = await openBegun()
    // Blocks, whose names all differ, take more room than roots.
    for (let count = 0; count < MAX_BURNED_ELEMENTS; count++) await commit(scene, library)
    const elements = allElements(await queue())
    expect(elements).toHaveLength(MAX_BURNED_ELEMENTS + 1)
    expect(() => burnElements(contracts, elements, library)).toThrow(
      expect.objectContaining({ code: 'PROTOCOL_TOO_MANY_ELEMENTS' }),
    )
    const most = elements.slice(1)
    const inWitness = await wallet.build(burnElements(contracts, most))
    wallet.release(inWitness.id)
    await run(burnElements(contracts, most, library))
    expect(allElements(await queue())).toEqual(elements.slice(0, 1))
  })

  it("spends in the ledger's order, index 2 before index 10", async () => {
    const { queue } = await openBegun()
    const { utxo } = (await queue()).roots[0]!
    const at = (index: number): Utxo => ({ ...utxo, reference: { ...utxo.reference, index } })
    expect(inOrder([at(10), at(2)]).map(({ reference }) => reference.index)).toEqual([2, 10])
    const { inputs = [] } = burnElements(contracts, [at(10), at(2)])
    expect(inputs.map((input) => input.utxo.reference.index)).toEqual([2, 10])
  })
})
