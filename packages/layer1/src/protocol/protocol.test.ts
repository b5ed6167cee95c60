import { genesisHeaderHash, type Header, headerHash, operatorInTurn } from '@ratatosk/contracts'
import { createDevnet } from '@ratatosk/devnet'
import { CborWriter, slotToTime, toHex } from '@ratatosk/ledger'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createDevnetLayer1 } from '../providers/devnet/create-devnet-layer1.js'
import { evaluator, keys, limits } from '../test/devnet-harness.js'
import type { TransactionDraft } from '../transaction/types.js'
import type { Utxo } from '../types.js'
import { openWallet } from '../wallet/open-wallet.js'
import { openContracts, publishScripts } from './contracts.js'
import { allElements, burnElements, commitBlock, initQueue, mergeBlock } from './queue-drafts.js'
import {
  initRegistry,
  readRegistry,
  registerOperator,
  releaseBond,
  retireOperator,
} from './registry-drafts.js'
import { readStateQueue } from './state-queue.js'

const START = 1_700_000_000_000
const operator = keys.payment.hash
const contracts = openContracts(
  {
    protocol: 'RATATOSK',
    administrator: operator,
    maturityWindow: 30_000n,
    turnLength: 60_000n,
    bond: 500_000_000n,
    releaseDelay: 90_000n,
    maxOperators: 10n,
  },
  0,
)
const root = (byte: number) => new Uint8Array(32).fill(byte)

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
afterAll(() => evaluator.close())

async function openScene() {
  const clock = { time: START + 1_000_000, now: () => clock.time }
  const output = toHex(
    new CborWriter().map(2).uint(0).bytes(keys.address.bytes).uint(1).uint(10_000_000_000n).toBytes(),
  )
  const utxos = [0, 1, 2].map((index) => ({ outref: `${'11'.repeat(32)}#${index}`, output }))
  const genesis = { startTime: START, networkMagic: 42, utxos }
  const devnet = await createDevnet({ blockEveryMs: 0, clock, evaluator, genesis })
  closing.push(() => devnet.close())
  const layer1 = createDevnetLayer1(devnet, limits)
  const wallet = openWallet({ layer1, keys, evaluator })
  return {
    clock,
    devnet,
    layer1,
    wallet,
    slots: devnet.slots,
    /** Sends, and makes a block. */
    async run(draft: TransactionDraft) {
      const built = await wallet.send(draft)
      clock.time += 1000
      await devnet.produceBlock()
      await layer1.await(built.id)
      return built
    },
    queue: async () => readStateQueue(contracts, await layer1.utxosAt(contracts.queue.addressText)),
    async registry() {
      const found = readRegistry(contracts, await layer1.utxosByUnit(contracts.registry.unit))
      if (found === undefined) throw new Error('there is no registry')
      return found
    },
  }
}

const genesisState = (endTime: bigint) => ({
  headerHash: genesisHeaderHash(),
  prevHeaderHash: genesisHeaderHash(),
  utxoRoot: root(1),
  startTime: endTime,
  endTime,
  protocolVersion: 1n,
})

type Scene = Awaited<ReturnType<typeof openScene>>

/** A registry with one operator, and a queue. */
async function begin({ run, registry, devnet, slots }: Scene, library: readonly Utxo[] = []) {
  await run(initRegistry(contracts, library))
  await run(registerOperator(contracts, await registry(), operator, library))
  await run(initQueue(contracts, genesisState(slotToTime(slots, devnet.currentSlot())), library))
}

/** A block after the last one, ending twenty seconds from now. */
async function nextHeader({ queue, devnet, slots }: Scene): Promise<Header> {
  const { roots, blocks } = await queue()
  const last = blocks.at(-1)
  const state = roots[0]!.datum.state
  return {
    prevUtxosRoot: last?.datum.header.utxosRoot ?? state.utxoRoot,
    utxosRoot: root(10 + blocks.length),
    transactionsRoot: root(0),
    depositsRoot: root(0),
    withdrawalsRoot: root(0),
    startTime: last?.datum.header.endTime ?? state.endTime,
    endTime: slotToTime(slots, devnet.currentSlot() + 20n),
    prevHeaderHash: last ? headerHash(last.datum.header) : state.headerHash,
    operatorVkey: operator,
    protocolVersion: 1n,
  }
}

async function commit(scene: Scene, library: readonly Utxo[] = []): Promise<string> {
  // The whole validity lies in one turn: 60 seconds of POSIX time.
  scene.clock.time = Math.ceil(scene.clock.time / 60_000) * 60_000
  const header = await nextHeader(scene)
  const slot = scene.devnet.currentSlot()
  const registry = await scene.registry()
  expect(operatorInTurn(registry.datum, slotToTime(scene.slots, slot), 60_000n)?.vkey).toEqual(operator)
  const { slots } = scene
  await scene.run(
    commitBlock(contracts, {
      queue: await scene.queue(),
      registry: registry.utxo,
      header,
      slot,
      slots,
      library,
    }),
  )
  return toHex(headerHash(header))
}

describe('the protocol on a devnet', () => {
  it.each([
    ['by reference', true],
    ['in witnesses', false],
  ])('lives: init, commit, merge, reset, with scripts %s', async (_, byReference) => {
    const scene = await openScene()
    const { clock, run, queue, slots, wallet } = scene
    const published = byReference ? await run(publishScripts(contracts, wallet.address)) : undefined
    const library = published?.produced.slice(0, 2) ?? []
    await begin(scene, library)

    const first = await commit(scene, library)
    const merge = mergeBlock(contracts, await queue(), slots, library)
    clock.time = Number(slotToTime(slots, merge.validFrom!)) - 1000
    await expect(run(merge)).rejects.toMatchObject({ code: 'WALLET_TRANSACTION_REFUSED' })

    const { blocks, roots } = await queue()
    const halved = readStateQueue(contracts, [roots[0]!.utxo])
    const header = blocks[0]!.datum.header
    const registry = (await scene.registry()).utxo
    expect(() => commitBlock(contracts, { queue: halved, registry, header, slot: 0n, slots })).toThrow(
      'not there',
    )
    const doubled = readStateQueue(
      contracts,
      [...blocks, ...blocks, ...roots].map(({ utxo }) => utxo),
    )
    expect(allElements(doubled)).toHaveLength(3)

    const hashes = [first, await commit(scene, library), await commit(scene, library)]
    const before = await queue()
    expect(before.blocks.map((block) => block.headerHash)).toEqual(hashes)
    const merging = await run(mergeBlock(contracts, before, slots, library))
    const merged = await queue()
    expect(merged.blocks.map((block) => block.headerHash)).toEqual(hashes.slice(1))
    expect(toHex(merged.roots[0]!.datum.state.headerHash)).toBe(hashes[0])
    expect(merging.produced[1]!.output.value.lovelace).toBe(before.blocks[0]!.utxo.output.value.lovelace)

    await run(burnElements(contracts, allElements(merged), library))
    expect(await queue()).toEqual({ roots: [], blocks: [], strays: [] })
  })

  it('repairs: duplicate roots are burned, and one is minted', async () => {
    const scene = await openScene()
    const { run, queue, slots, devnet } = scene
    await begin(scene)
    const again = () => initQueue(contracts, genesisState(slotToTime(slots, devnet.currentSlot())))
    await run(again())
    const doubled = await queue()
    expect(doubled.roots).toHaveLength(2)
    const slot = devnet.currentSlot()
    expect(() => mergeBlock(contracts, doubled, slots)).toThrow('2 roots')
    await run(
      burnElements(
        contracts,
        doubled.roots.map(({ utxo }) => utxo),
      ),
    )
    expect((await queue()).roots).toHaveLength(0)
    await run(again())
    expect((await queue()).roots).toHaveLength(1)
    expect(devnet.currentSlot()).toBeGreaterThan(slot)
  })

  it('operators come and go with their bond', async () => {
    const scene = await openScene()
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

  it('a block by who is not in turn is refused before it is sent', async () => {
    const scene = await openScene()
    await begin(scene)
    scene.clock.time = Math.ceil(scene.clock.time / 60_000) * 60_000
    const header = { ...(await nextHeader(scene)), operatorVkey: operator, utxosRoot: new Uint8Array(31) }
    const { queue, registry, devnet, slots, wallet } = scene
    const wrong = {
      queue: await queue(),
      registry: (await registry()).utxo,
      slot: devnet.currentSlot(),
      slots,
    }
    const draft = commitBlock(contracts, { ...wrong, header })
    await expect(wallet.build(draft)).rejects.toMatchObject({ code: 'WALLET_TRANSACTION_REFUSED' })
    expect(wallet.inFlight()).toEqual([])
    expect(() =>
      commitBlock(contracts, { ...wrong, header: { ...header, endTime: header.endTime + 1n } }),
    ).toThrow('ends within a slot')
  })
})
