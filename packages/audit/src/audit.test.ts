import { bodyOf, encodeBlockBody, partsOf } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { encodeOutputReference, type OutputReference } from '@ratatosk/ledger'
import type { SourceBlock } from '@ratatosk/test-kit'
import { expect, type TestContext, test } from 'vitest'
import type { Finding, NodeSource } from './index.js'
import { lovelace, nodeOf, openScene, type Scene, spending } from './test/scene.js'

const name = '746f6b656e'

/** Five blocks: transfers, a mint, a burn, fees, references, a removal and two merges. */
async function honest(context: TestContext): Promise<Scene> {
  const scene = await openScene(context)
  const { chain } = scene
  await chain.commit(3)
  const [a, b, c] = chain.coins
  const minting = spending([a!], {
    outputs: [lovelace - 200_000n],
    fee: 200_000n,
    mint: [[name, 7n]],
    assets: [[name, 7n]],
    auxiliaryData: fromHex('a10163616263'),
  })
  const holder = { key: a!.key, reference: { transactionId: minting.id, index: 0 } }
  const burning = spending([holder], {
    outputs: [1_000_000n, lovelace - 1_500_000n],
    fee: 300_000n,
    mint: [[name, -3n]],
    assets: [[name, 4n]],
    reads: [b!.reference, c!.reference],
  })
  await chain.commitAny([minting.cbor, burning.cbor])
  await chain.commit(0)
  const removed = await chain.commitAny([spending([c!], { outputs: [1_000_000n, 4_000_000n] }).cbor])
  chain.remove(1)
  expect(toHex((await chain.commitAny([spending([b!]).cbor])).headerHash)).not.toBe(toHex(removed.headerHash))
  await chain.commitAny([spending([c!], { outputs: [2_000_000n, 3_000_000n] }).cbor])
  chain.merge(2)
  return scene
}

const idsOf = ({ cbors }: SourceBlock) => cbors.map((cbor) => toHex(partsOf(cbor).id))
const honestNode = ({ chain }: Scene) => nodeOf(chain, idsOf)

const kindsOf = (findings: readonly Finding[]) => [...new Set(findings.map(({ kind }) => kind))].sort()

test('an honest history is clean', async (context) => {
  const scene = await honest(context)
  const { chain } = scene
  const waiting = 'ab'.repeat(32)
  const accepted = [...chain.blocks.flatMap(idsOf), waiting]
  const heights: number[] = []
  const report = await scene.audit({
    node: honestNode(scene),
    accepted,
    onProgress: ({ height }) => heights.push(height),
  })
  expect(report).toEqual({
    verdict: 'clean',
    findings: [],
    omittedFindings: 0,
    unchecked: [],
    counts: {
      blocks: 5,
      merged: 2,
      transactions: 7,
      waiting: 1,
      unspentOutputs: 22,
      bodyBytes: chain.blocks.reduce((sum, { cbors }) => sum + encodeBlockBody(bodyOf(cbors)).length, 0),
    },
    lovelace: { genesis: 20n * lovelace, fees: 500_000n, unspent: 20n * lovelace - 500_000n },
    mintedAssets: 1,
    utxosRoot: toHex(chain.tip!.fields.utxosRoot),
  })
  expect(heights).toEqual([1, 2, 3, 4, 5])
  // Without a node, what is in no block may wait or be lost.
  const alone = await scene.audit({ accepted })
  expect(alone).toMatchObject({ verdict: 'incomplete', findings: [], counts: { waiting: 1 } })
  expect(alone.unchecked).toEqual([{ what: '1 accepted transactions', why: expect.any(String) }])
})

test('a chain without a block is clean', async (context) => {
  const { audit, chain, lies } = await openScene(context, 3)
  await chain.commit(0)
  const [{ fields }] = chain.blocks as [SourceBlock]
  chain.remove(1)
  const confirmed = { headerHash: new Uint8Array(28), utxosRoot: fields.prevUtxosRoot, endTime: 0n }
  lies.layer1 = () => ({ confirmed, blocks: [] })
  expect(await audit()).toMatchObject({ verdict: 'clean', counts: { blocks: 0, unspentOutputs: 3 } })
})

/** A transaction of a coin that nobody has, and the reference that it spends. */
const neverMade = ({ chain }: Scene) => {
  const [coin] = chain.coins
  const reference: OutputReference = { transactionId: new Uint8Array(32).fill(7), index: 0 }
  return { ...spending([{ key: coin!.key, reference }]), missing: encodeOutputReference(reference) }
}

/** Puts a defect into an honest history. Returns what the audit is asked besides. */
type Plant = (scene: Scene) => Promise<Parameters<Scene['audit']>[0] | undefined> | Promise<void>

const junk = new Uint8Array(32).fill(0xee)
const free = (scene: Scene, place = 7) => scene.chain.coins[place]!

const defects: readonly (readonly [name: string, kinds: readonly string[], plant: Plant])[] = [
  [
    'an output that an earlier block has spent',
    ['double-spend', 'supply'],
    async ({ chain }) => {
      const coin = chain.coins[7]!
      await chain.commitAny([spending([coin]).cbor])
      await chain.commitAny(
        [spending([coin], { outputs: [3_000_000n, 2_000_000n] }).cbor],
        [encodeOutputReference(coin.reference)],
      )
    },
  ],
  [
    'an output that two transactions of a block spend',
    ['double-spend', 'supply'],
    async (scene) => {
      const other = spending([free(scene)], { outputs: [3_000_000n, 2_000_000n] })
      await scene.chain.commitAny([spending([free(scene)]).cbor, other.cbor])
    },
  ],
  [
    'an input that was never made',
    ['supply', 'unknown-input'],
    async (scene) => {
      const { cbor, missing } = neverMade(scene)
      await scene.chain.commitAny([cbor], [missing])
    },
  ],
  [
    'an output that is spent before it is made',
    ['unknown-input'],
    async (scene) => {
      const first = spending([free(scene)])
      const second = spending([{ ...free(scene), reference: { transactionId: first.id, index: 0 } }])
      await scene.chain.commitAny([second.cbor, first.cbor])
    },
  ],
  [
    'a reference input that is spent',
    ['double-spend'],
    async (scene) => {
      const spent = free(scene).reference
      const reading = spending([free(scene, 8)], { reads: [spent] })
      await scene.chain.commitAny([spending([free(scene)]).cbor, reading.cbor])
    },
  ],
  [
    'ada made from nothing',
    ['supply', 'value'],
    async (scene) => {
      await scene.chain.commitAny([spending([free(scene)], { outputs: [lovelace + 1n] }).cbor])
    },
  ],
  [
    'a token made from nothing',
    ['supply', 'value'],
    async (scene) => {
      await scene.chain.commitAny([spending([free(scene)], { assets: [[name, 1n]] }).cbor])
    },
  ],
  [
    'a fee that the inputs do not pay',
    ['supply', 'value'],
    async (scene) => {
      await scene.chain.commitAny([spending([free(scene)], { fee: 200_000n }).cbor])
    },
  ],
  [
    'ada that vanishes',
    ['supply', 'value'],
    async (scene) => {
      await scene.chain.commitAny([spending([free(scene)], { outputs: [lovelace - 1n] }).cbor])
    },
  ],
  [
    'a transaction marked as invalid',
    ['transaction'],
    async (scene) => {
      await scene.chain.commitAny([spending([free(scene)], { isValid: false }).cbor])
    },
  ],
  [
    'bytes that are no transaction',
    ['transaction'],
    async ({ chain }) => {
      await chain.commitAny([fromHex('84a0a0f5f6'), fromHex('8401'), fromHex('ff')])
    },
  ],
  [
    'a transaction that the body lacks',
    ['transactions-root', 'utxos-root'],
    async ({ chain, lies }) => {
      await chain.commitAny([spending([chain.coins[7]!]).cbor, spending([chain.coins[8]!]).cbor])
      lies.body = ({ height, cbors }) => encodeBlockBody(bodyOf(height === 6n ? cbors.slice(1) : cbors))
    },
  ],
  [
    'an accepted transaction that is in no place',
    ['lost'],
    async (scene) => {
      const node = honestNode(scene)
      const placeOf: NodeSource['placeOf'] = async () => ({ status: 'unknown' })
      return { node: { ...node, placeOf }, accepted: ['cd'.repeat(32)] }
    },
  ],
  [
    'a transaction in two blocks',
    ['double-spend', 'supply', 'two-places'],
    async ({ chain }) => {
      const coin = chain.coins[7]!
      const { cbor, id } = spending([coin])
      await chain.commitAny([cbor])
      const further = spending([{ key: coin.key, reference: { transactionId: id, index: 0 } }])
      await chain.commitAny([further.cbor])
      await chain.commitAny([cbor], [encodeOutputReference(coin.reference)])
    },
  ],
  [
    'a transaction in a block and among the dead letters',
    ['two-places'],
    async (scene) => {
      const [id] = idsOf(scene.chain.blocks[4]!)
      const node = honestNode(scene)
      const placeOf: NodeSource['placeOf'] = async (asked, signal) =>
        asked === id ? { status: 'rejected' } : node.placeOf(asked, signal)
      return { node: { ...node, placeOf }, accepted: scene.chain.blocks.flatMap(idsOf) }
    },
  ],
  [
    'a false utxos root',
    ['utxos-root'],
    async ({ chain }) => void (await chain.commit(2, { utxosRoot: junk })),
  ],
  [
    'a false transactions root',
    ['transactions-root'],
    async ({ chain }) => void (await chain.commit(2, { transactionsRoot: junk })),
  ],
  [
    'a block that begins with other outputs',
    ['prev-utxos-root'],
    async ({ chain }) => void (await chain.commit(2, { prevUtxosRoot: junk })),
  ],
  [
    'deposits and withdrawals',
    ['deposits-root', 'withdrawals-root'],
    async ({ chain }) => void (await chain.commit(2, { depositsRoot: junk, withdrawalsRoot: junk })),
  ],
  [
    'another block version',
    ['version'],
    async ({ chain }) => void (await chain.commit(2, { blockVersion: 1n })),
  ],
  [
    'a false link',
    ['link'],
    async ({ chain }) => void (await chain.commit(2, { prevHeaderHash: junk.slice(0, 28) })),
  ],
  [
    'a gap in time',
    ['times'],
    async ({ chain }) => {
      await chain.commit(2, { startTime: chain.tip!.fields.endTime + 1n })
    },
  ],
  [
    'a block that ends before it begins',
    ['times'],
    async ({ chain }) => {
      await chain.commit(2, { endTime: chain.tip!.fields.endTime })
    },
  ],
  [
    'a body with another byte in a signature',
    ['transactions-root'],
    async ({ lies }) => {
      lies.body = ({ height, cbors }) => {
        const bytes = encodeBlockBody(bodyOf(cbors))
        // Before the end of the only transaction, which is followed by true and null.
        if (height === 5n) bytes[cbors[0]!.length] = (bytes[cbors[0]!.length] ?? 0) ^ 1
        return bytes
      }
    },
  ],
  [
    'a body with another byte in its list of outputs',
    ['body'],
    async ({ lies }) => {
      lies.body = ({ height, cbors }) => {
        const bytes = encodeBlockBody(bodyOf(cbors))
        if (height === 5n) bytes[bytes.length - 3] = (bytes.at(-3) ?? 0) ^ 1
        return bytes
      }
    },
  ],
  [
    'a body that is no CBOR',
    ['body', 'transactions-root', 'utxos-root'],
    async ({ lies }) => {
      lies.body = ({ height, cbors }) => (height === 5n ? fromHex('85ff') : encodeBlockBody(bodyOf(cbors)))
    },
  ],
  [
    'a block of layer 1 that the archive lacks',
    ['block-missing'],
    async ({ lies }) => {
      lies.archive = (blocks) => blocks.slice(0, 4)
    },
  ],
  [
    'a merged block that the archive lacks',
    ['block-missing'],
    async ({ lies, chain }) => {
      lies.archive = (blocks) => blocks.slice(0, 1)
      chain.merge(3)
    },
  ],
  [
    'a block that layer 1 does not have',
    ['block-extra'],
    async ({ lies }) => {
      lies.layer1 = (queue) => ({ ...queue, blocks: queue.blocks.slice(0, 2) })
    },
  ],
  [
    'a block in the place of another',
    ['block-extra', 'block-missing'],
    async ({ chain, lies }) => {
      const own = await chain.commit(1)
      chain.remove(1)
      const other = await chain.commit(2)
      lies.archive = (blocks) => blocks.with(5, { ...own, state: 'committed' })
      expect(other.height).toBe(own.height)
    },
  ],
  [
    'a confirmed state that is not that of its block',
    ['confirmed-state'],
    async ({ lies }) => {
      lies.layer1 = ({ confirmed, blocks }) => ({ confirmed: { ...confirmed!, utxosRoot: junk }, blocks })
    },
  ],
  [
    'a broken state queue',
    ['queue-broken'],
    async ({ lies }) => {
      lies.layer1 = () => ({ fault: '2 roots', blocks: [] })
    },
  ],
  [
    'a header that does not have its hash',
    ['header'],
    async ({ lies }) => {
      lies.layer1 = ({ confirmed, blocks }) => ({
        ...(confirmed && { confirmed }),
        blocks: blocks.map(({ headerHash }) => ({ headerHash, header: blocks[0]!.header })),
      })
    },
  ],
  [
    'a node that lacks an element of the state queue',
    ['node-queue'],
    async (scene) => {
      const node = honestNode(scene)
      return { node: { ...node, queue: async (signal) => (await node.queue(signal)).slice(1) } }
    },
  ],
  [
    'a node that shows other transactions of a block',
    ['node-block'],
    async (scene) => ({ node: nodeOf(scene.chain, (block) => idsOf(block).slice(1)) }),
  ],
]

test.for(defects)('finds %s', async ([, kinds, plant], context) => {
  const scene = await honest(context)
  const more = await plant(scene)
  const report = await scene.audit(more ?? {})
  expect(kindsOf(report.findings), JSON.stringify(report.findings)).toEqual(kinds)
  expect(report.verdict).toBe('defective')
})
