import { blockVersion, type Header, headerHash } from '@ratatosk/block'
import { fromHex } from '@ratatosk/cbor'
import { encodeBlockDatum } from '@ratatosk/contracts'
import { outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inOrder } from './contracts.js'
import { commitBlock, initQueue, mergeBlock } from './queue-drafts.js'
import { burnElements, maxBurnedElements } from './removal-drafts.js'
import { allElements, readStateQueue, type StateQueue } from './state-queue.js'
import {
  begin,
  commit,
  contracts,
  keys,
  nextHeader,
  openJudge,
  openScene,
  root,
} from './test/protocol-scene.js'
import { openClosedAfter } from './test/scenes.js'

async function openBegun() {
  const scene = await openClosedAfter()
  const referenceScripts = await begin(scene, true)
  return { ...scene, scene, referenceScripts }
}

const utxosOf = (elements: readonly { readonly utxo: Utxo }[]) => elements.map(({ utxo }) => utxo)
const keysOf = (utxos: readonly Utxo[]) => utxos.map(({ reference }) => outputReferenceKey(reference)).sort()

describe('a queue that is not sound', () => {
  it('cannot come about by a second init: the registry says that the queue runs', async () => {
    const { queue, registry, wallet } = await openBegun()
    const { state } = (await queue()).roots[0]!.datum
    const running = await registry()
    expect(() => initQueue(contracts, running, state)).toThrow(
      expect.objectContaining({ code: 'WALLET_INVALID_DRAFT' }),
    )
    const stopped = { ...running, datum: { ...running.datum, running: false } }
    const mistaken = initQueue(contracts, stopped, state)
    await expect(wallet.build(mistaken)).rejects.toMatchObject({ code: 'WALLET_TRANSACTION_REFUSED' })
  })

  it('reads a block twice as a stray', async () => {
    const { queue, scene } = await openBegun()
    await commit(scene)
    const { roots, blocks } = await queue()
    const [root, block] = [roots[0]!.utxo, blocks[0]!.utxo]
    const copy = { ...block, reference: { ...block.reference, index: 9 } }
    const doubled = readStateQueue(contracts, [root, block, copy])
    expect([doubled.blocks.length, doubled.strays]).toEqual([1, [copy]])
    expect(doubled.fault?.message).toContain('twice')
    expect(keysOf(allElements(doubled))).toEqual(keysOf([root, block, copy]))
  })

  it('is read for diagnostics, and nothing is committed to it or merged from it', async () => {
    const { scene, referenceScripts, queue, registry, devnet, slots } = await openBegun()
    for (let count = 0; count < 3; count++) await commit(scene, referenceScripts)
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
      ['nothing at all', [], 0, 'CONTRACTS_BROKEN_QUEUE'],
      ['a root that links to a missing block', [root, second, third], 0, 'CONTRACTS_BROKEN_QUEUE'],
      ['a link to a missing block', [root, first, third], 1, 'CONTRACTS_BROKEN_QUEUE'],
      ['a cycle', [root, first, second, back], 3, 'CONTRACTS_BROKEN_QUEUE'],
      ['a block that no link leads to', [root, first, end, third], 2, 'CONTRACTS_BROKEN_QUEUE'],
      ['two roots', [root, root, first, second, third], 0, 'CONTRACTS_BROKEN_QUEUE'],
      [
        'an unreadable block',
        [root, first, withDatum(second, fromHex('00')), third],
        1,
        'PLUTUS_DATA_MALFORMED',
      ],
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

describe('a block that its operator commits in turn', () => {
  let scene: Awaited<ReturnType<typeof openScene>>
  let refuserOf: (change: Partial<Header>) => Promise<string | undefined>
  beforeAll(async () => {
    scene = await openScene()
    const referenceScripts = await begin(scene, true)
    await commit(scene, referenceScripts)
    scene.nextTurn()
    const { devnet, slots } = scene
    const next = { queue: await scene.queue(), registry: await scene.registry(), slots, referenceScripts }
    const header = await nextHeader(scene)
    const refuses = openJudge(scene, keys)
    refuserOf = (change) => {
      const commit = { ...next, header: { ...header, ...change }, slot: devnet.currentSlot() }
      return refuses(commitBlock(contracts, commit))
    }
  })
  afterAll(() => scene.devnet.close())

  it('is accepted with an honest header', async () => {
    expect(await refuserOf({})).toBeUndefined()
  })

  it.each<[what: string, change: Partial<Header>]>([
    ['another root before it', { prevUtxosRoot: root(99) }],
    ['another block before it', { prevHeaderHash: new Uint8Array(28).fill(9) }],
    ['a start before the end of the block before it', { startTime: 1_700_000_000_000n }],
    ['deposits', { depositsRoot: root(9) }],
    ['withdrawals', { withdrawalsRoot: root(9) }],
    ['another version', { blockVersion: blockVersion - 1n }],
    ['a root of 31 bytes', { utxosRoot: new Uint8Array(31) }],
  ])('is refused by the queue with %s', async (_what, change) => {
    expect(await refuserOf(change)).toBe('queue')
  })
})

describe('burnElements', () => {
  it(`burns ${maxBurnedElements} elements in one transaction, also with the script as witness`, async () => {
    const { scene, referenceScripts, run, queue, wallet } = await openBegun()
    // Blocks, whose names all differ, take more room than roots.
    for (let count = 0; count < maxBurnedElements; count++) await commit(scene, referenceScripts)
    const elements = allElements(await queue())
    expect(elements).toHaveLength(maxBurnedElements + 1)
    expect(() => burnElements(contracts, elements, undefined, referenceScripts)).toThrow(
      expect.objectContaining({ code: 'PROTOCOL_TOO_MANY_ELEMENTS' }),
    )
    const most = elements.slice(1)
    const inWitness = await wallet.build(burnElements(contracts, most, undefined))
    wallet.release(inWitness.id)
    await run(burnElements(contracts, most, undefined, referenceScripts))
    expect(allElements(await queue())).toEqual(elements.slice(0, 1))
  })

  it("spends in the ledger's order, index 2 before index 10", async () => {
    const { queue, scene } = await openBegun()
    await commit(scene)
    const { utxo } = (await queue()).blocks[0]!
    const at = (index: number): Utxo => ({ ...utxo, reference: { ...utxo.reference, index } })
    expect(inOrder([at(10), at(2)]).map(({ reference }) => reference.index)).toEqual([2, 10])
    const { inputs = [] } = burnElements(contracts, [at(10), at(2)], undefined)
    expect(inputs.map((input) => input.utxo.reference.index)).toEqual([2, 10])
  })
})
