import { bodyOf, encodeBlockBody } from '@ratatosk/block'
import { fromHex } from '@ratatosk/cbor'
import { encodeOutputReference, type OutputReference } from '@ratatosk/ledger'
import { expect } from 'vitest'
import type { NodeSource } from '../index.js'
import { honestNode, idsOf, lovelace, name, nodeOf, type Scene, spending } from './scene.js'

/** A transaction of a coin that no one has, and the reference that it spends. */
const neverMade = ({ chain }: Scene) => {
  const [coin] = chain.coins
  const reference: OutputReference = { transactionId: new Uint8Array(32).fill(7), index: 0 }
  return { ...spending([{ key: coin!.key, reference }]), missing: encodeOutputReference(reference) }
}

/** Puts a defect into an honest history. Returns what the audit is asked besides. */
type Plant = (scene: Scene) => Promise<Parameters<Scene['audit']>[0] | undefined> | Promise<void>

const junk = new Uint8Array(32).fill(0xee)
const free = (scene: Scene, place = 7) => scene.chain.coins[place]!

/** The kinds of findings that an audit must report, and no others. */
export type Defect = readonly [name: string, kinds: readonly string[], plant: Plant]

export const defects: readonly Defect[] = [
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
      const placesOf: NodeSource['placesOf'] = async (ids) => ids.map(() => ({ status: 'unknown' }))
      return { node: { ...node, placesOf }, accepted: ['cd'.repeat(32)] }
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
      const placesOf: NodeSource['placesOf'] = async (ids, signal) =>
        (await node.placesOf(ids, signal)).map((place, position) =>
          ids[position] === id ? { status: 'rejected' } : place,
        )
      return { node: { ...node, placesOf }, accepted: scene.chain.blocks.flatMap(idsOf) }
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
    ['body'],
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
