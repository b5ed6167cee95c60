import type { HeldOutput, NodeSource } from '@ratatosk/audit'
import { toHex } from '@ratatosk/cbor'
import { encodeUint } from '@ratatosk/fixtures'
import { outputReferenceKey } from '@ratatosk/ledger'
import { fee, lovelace, madeBy, outputs, type Planted, payment, type Scene } from './scene.js'

/** A node whose answers are changed. */
const node = (
  name: string,
  code: string,
  lie: (honest: NodeSource, scene: Scene) => Partial<NodeSource>,
): Planted => [
  name,
  code,
  async (scene) => {
    scene.node = { ...scene.node, ...lie(scene.node, scene) }
  },
]

type Outputs = (held: readonly HeldOutput[], scene: Scene) => Iterable<HeldOutput>

/** A node that holds other outputs. */
const holding = (name: string, code: string, change: Outputs): Planted =>
  node(name, code, (honest, scene) => ({
    async *unspentOutputs(derived, signal) {
      const held: HeldOutput[] = []
      for await (const each of honest.unspentOutputs(derived, signal)) held.push(each)
      yield* change(held, scene)
    },
  }))

const keyOf = ({ coin }: Scene, place: number): string => outputReferenceKey(coin(place).reference)

/** A transaction in the mempool, with outputs that the node holds. */
const waiting = (
  name: string,
  code: string,
  draft: (scene: Scene) => ReturnType<typeof payment>,
): Planted => [name, code, async (scene) => void scene.mempool.push(draft(scene))]

/** Defects of what a node shows and holds. */
export const inNode: readonly Planted[] = [
  node('a state queue that is not that of layer 1', 'node-queue', () => ({ queue: async () => [] })),
  node('a block that lacks a transaction', 'node-block', ({ transactionsOf }) => ({
    transactionsOf: async (hash, signal) => (await transactionsOf(hash, signal)).slice(1),
  })),
  node('a block in another order', 'node-block', ({ transactionsOf }) => ({
    transactionsOf: async (hash, signal) => [...(await transactionsOf(hash, signal))].reverse(),
  })),
  node('a block with a transaction too many', 'node-block', ({ transactionsOf }) => ({
    transactionsOf: async (hash, signal) => [...(await transactionsOf(hash, signal)), 'ab'.repeat(32)],
  })),
  node('a transaction that was deleted, with its outputs left', 'lost', ({ transaction }, { mempool }) => ({
    transaction: async (id, signal) => (id === toHex(mempool[0]!.id) ? undefined : transaction(id, signal)),
  })),
  node('other bytes in place of a transaction', 'lost', ({ transaction }, { mempool, coin }) => ({
    transaction: async (id, signal) =>
      id === toHex(mempool[0]!.id) ? payment(coin(9)).cbor : transaction(id, signal),
  })),
  ['an accepted transaction that is in no place', 'lost', async () => ({ accepted: ['cd'.repeat(32)] })],
  [
    'a transaction of a block that is also a dead letter',
    'two-places',
    async (scene) => {
      const id = toHex(payment(scene.coin(0)).id)
      const { placesOf } = scene.node
      scene.node = {
        ...scene.node,
        placesOf: async (ids, signal) =>
          (await placesOf(ids, signal)).map((place, position) =>
            ids[position] === id ? { status: 'rejected' } : place,
          ),
      }
      return { accepted: [id] }
    },
  ],
  holding('an unspent output that was deleted', 'node-outputs', (held, scene) =>
    held.filter(({ key }) => key !== keyOf(scene, 9)),
  ),
  holding('what a transaction of a block made, deleted', 'node-outputs', (held, { coin }) =>
    held.filter(({ key }) => !key.startsWith(toHex(payment(coin(0)).id))),
  ),
  holding('an output that was invented', 'lost', (held) => [
    ...held,
    { key: `${'ab'.repeat(32)}#0`, output: held[0]!.output! },
  ]),
  holding('a further output of a transaction of a block', 'node-outputs', (held, { coin }) => [
    ...held,
    { key: `${toHex(payment(coin(0)).id)}#1`, output: held[0]!.output! },
  ]),
  holding('a further output of a transaction of the mempool', 'node-outputs', (held, { mempool }) => [
    ...held,
    { key: `${toHex(mempool[0]!.id)}#1`, output: held[0]!.output! },
  ]),
  holding('an output of a block with another amount', 'node-outputs', (held, scene) =>
    held.map((each) =>
      each.key === keyOf(scene, 9) ? { ...each, output: outputs(scene.coin(9), {}).slice(1) } : each,
    ),
  ),
  holding('an output of the mempool with another amount', 'node-outputs', (held, { mempool, coin }) =>
    held.map((each) =>
      each.key.startsWith(toHex(mempool[0]!.id))
        ? { ...each, output: outputs(coin(3), { lovelace: 9n * lovelace }).slice(1) }
        : each,
    ),
  ),
  holding('an output that a block has spent', 'node-outputs', (held, scene) => [
    ...held,
    { key: keyOf(scene, 0), output: scene.chain.genesis[0]!.output },
  ]),
  holding('an output that the mempool has spent', 'node-outputs', (held, scene) => [
    ...held,
    { key: keyOf(scene, 3), output: scene.chain.genesis[3]!.output },
  ]),
  holding('no output at all', 'node-outputs', () => []),
  holding('a list of outputs that does not end', 'unchecked', function* (held) {
    for (;;) yield* held
  }),
  holding('outputs that are new without an end', 'unchecked', function* (held) {
    for (let n = 0; ; n++) yield { ...held[0]!, key: `${n.toString(16).padStart(64, '0')}#0` }
  }),
  waiting('value from nothing in the mempool', 'value', ({ coin }) =>
    payment(coin(9), { 1: outputs(coin(9), { lovelace: 9n * lovelace }) }),
  ),
  waiting('bytes in the mempool that the ledger does not decode', 'transaction', ({ coin }) =>
    payment(coin(9), { 22: encodeUint(1n) }),
  ),
  waiting('an output of the mempool that was spent before', 'double-spend', ({ coin }) =>
    payment(coin(3), { 1: outputs(coin(3), { lovelace: lovelace - fee - 1n }) }),
  ),
  waiting('a transaction of the mempool that spends what a block has spent', 'unknown-input', ({ coin }) =>
    payment(coin(0), { 1: outputs(coin(0), { lovelace: lovelace - fee - 1n }) }),
  ),
  waiting('a transaction of the mempool that spends what was never made', 'unknown-input', ({ coin }) =>
    payment(madeBy(payment(coin(0), { 3: encodeUint(1n) }), coin(0))),
  ),
  node('outputs that the node does not serve', 'unchecked', () => ({
    // biome-ignore lint/correctness/useYield: it fails before
    async *unspentOutputs() {
      throw new Error('status 404')
    },
  })),
]
