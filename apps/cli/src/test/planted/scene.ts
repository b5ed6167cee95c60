import { audit, type BlockSource, type NodeSource, type QueueReading } from '@ratatosk/audit'
import { bodyOf, encodeBlockBody, genesisHeaderHash, partsOf } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import {
  type Draft,
  encodeInput,
  encodeList,
  encodeOutput,
  encodeSet,
  encodeUint,
  type OutputDraft,
  signDraft,
  withFields,
} from '@ratatosk/fixtures'
import {
  decodeOutputReference,
  encodeOutputReference,
  type OutputReference,
  outputReferenceKey,
} from '@ratatosk/ledger'
import { freeOfCharge, SourceChain, slots } from '@ratatosk/test-kit'
import { judgeWith } from '../../commands/audit.js'

/** The lovelace of every coin of the chain, and of a transaction's payment. */
export const lovelace = 5_000_000n
export const fee = 200_000n

type Coin = SourceChain['coins'][number]
type Fields = Parameters<typeof withFields>[1]

const rules = { parameters: { ...freeOfCharge, minFeeB: 100_000n }, networkId: 0, slots }

/** A payment of a coin to its owner, with other fields if they are given, which are signed too. */
export function payment(
  coin: Coin,
  body: Fields = {},
  witnesses: Fields = {},
  change: (draft: Draft) => Draft = (draft) => draft,
) {
  const draft: Draft = {
    body: new Map([
      [0, inputs(coin.reference)],
      [1, outputs(coin, {})],
      [2, encodeUint(fee)],
    ]),
    witnesses: new Map(),
    signers: [coin.key],
    isValid: true,
  }
  return signDraft(change(withFields(draft, body, witnesses)))
}

export const inputs = (...references: readonly OutputReference[]): Uint8Array =>
  encodeSet(references.map(({ transactionId, index }) => encodeInput(transactionId, index)))

/** The outputs of a payment: one that holds all but the fee, changed, and further ones. */
export function outputs(coin: Coin, draft: Partial<OutputDraft>, ...more: readonly Uint8Array[]): Uint8Array {
  const { address } = coin.key
  return encodeList([encodeOutput({ address, lovelace: lovelace - fee, ...draft }), ...more])
}

/** The first output of a transaction, as a coin. */
export const madeBy = ({ id }: { readonly id: Uint8Array }, { key }: Coin): Coin => ({
  key,
  reference: { transactionId: id, index: 0 },
})

/** A rollup whose parts can be made to lie: layer 1, archive and node. */
export interface Scene {
  readonly chain: SourceChain
  /** A coin that nothing has spent. */
  coin(number: number): Coin
  /** Commits a block, with roots that follow from the transactions. */
  commit(...transactions: readonly { readonly cbor: Uint8Array }[]): Promise<unknown>
  layer1: (queue: QueueReading) => QueueReading
  archive: BlockSource
  node: NodeSource
  /** In the mempool of the node. */
  readonly mempool: { readonly id: Uint8Array; readonly cbor: Uint8Array }[]
}

/** Two blocks, one of them merged, and a transaction in the mempool. */
export async function openScene(): Promise<Scene> {
  const chain = new SourceChain()
  const mempool: Scene['mempool'] = []
  const scene: Scene = {
    chain,
    coin: (number) => chain.coins[number]!,
    commit: (...transactions) => chain.commitAny(transactions.map(({ cbor }) => cbor)),
    layer1: (queue) => queue,
    archive: {
      header: async (id) => (typeof id === 'number' ? chain.blocks[id - 1] : chain.byHash(id)),
      body: async (hash) => {
        const block = await chain.byHash(hash)
        return block && encodeBlockBody(bodyOf(block.cbors))
      },
    },
    node: nodeOf(chain, mempool),
    mempool,
  }
  await scene.commit(payment(scene.coin(0)), payment(scene.coin(1)))
  await scene.commit(payment(scene.coin(2)))
  chain.merge(1)
  mempool.push(payment(scene.coin(3)))
  return scene
}

/** Audits a scene, with the node if that is asked for. */
export function audited({ chain, layer1, archive, node }: Scene, withNode: boolean, accepted?: string[]) {
  return audit({
    layer1: { read: async () => layer1(queueOf(chain)) },
    archivist: archive,
    genesis: chain.genesis,
    judge: judgeWith(rules),
    ...(withNode && { node, accepted: accepted ?? [] }),
    readings: 3,
    settleMs: 1,
  })
}

function queueOf(chain: SourceChain): QueueReading {
  const merged = chain.blocks.filter(({ state }) => state === 'merged').at(-1)
  const { headerHash = genesisHeaderHash(), fields } = merged ?? {}
  const first = chain.blocks[0]?.fields
  return {
    confirmed: {
      headerHash,
      utxosRoot: fields?.utxosRoot ?? first?.prevUtxosRoot ?? new Uint8Array(32),
      endTime: fields?.endTime ?? 0n,
    },
    blocks: chain.blocks.filter(({ state }) => state === 'committed'),
  }
}

const idOf = (cbor: Uint8Array): string => toHex(partsOf(cbor).id)

/** A node that shows what it has. */
function nodeOf(chain: SourceChain, mempool: Scene['mempool']): NodeSource {
  const all = () => [...chain.blocks.flatMap(({ cbors }) => cbors), ...mempool.map(({ cbor }) => cbor)]
  return {
    queue: async () => queueOf(chain).blocks.map(({ headerHash }) => toHex(headerHash)),
    transactionsOf: async (hash) => ((await chain.byHash(fromHex(hash)))?.cbors ?? []).map(idOf),
    placesOf: async (ids) =>
      ids.map((id) => {
        const block = chain.blocks.find(({ cbors }) => cbors.some((cbor) => idOf(cbor) === id))
        if (block === undefined)
          return { status: mempool.some((each) => toHex(each.id) === id) ? 'mempool' : 'unknown' }
        const { height, headerHash, state } = block
        return { status: state, block: { height: Number(height), headerHash: toHex(headerHash) } }
      }),
    async *unspentOutputs() {
      for (const [key, output] of unspentOf(chain, mempool)) yield { key, output }
    },
    transaction: async (id) => all().find((cbor) => idOf(cbor) === id),
    spenderOf: async () => undefined,
  }
}

/** The unspent outputs after the blocks and the mempool. */
function unspentOf(chain: SourceChain, mempool: Scene['mempool']): ReadonlyMap<string, Uint8Array> {
  const unspent = new Map(
    chain.genesis.map(({ reference, output }) => [outputReferenceKey(reference), output]),
  )
  const bodies = [...chain.blocks.map(({ cbors }) => cbors), mempool.map(({ cbor }) => cbor)].map(
    (transactions) => bodyOf(transactions),
  )
  const keyOf = (outref: Uint8Array) => outputReferenceKey(decodeOutputReference(outref))
  for (const { spent, produced } of bodies) {
    for (const outref of spent) unspent.delete(keyOf(outref))
    for (const { outref, output } of produced) unspent.set(keyOf(outref), output)
  }
  return unspent
}

/** CBOR of a reference to an output that never was. */
export const neverMade: OutputReference = { transactionId: new Uint8Array(32).fill(7), index: 0 }
export const neverMadeKey = encodeOutputReference(neverMade)

/** The further requests to an audit. */
interface Asked {
  /** Ids of accepted transactions. */
  readonly accepted?: readonly string[]
}

/** A defect, its kind of finding or `unchecked` if it hides something, and its way into an honest rollup. */
export type Planted = readonly [
  name: string,
  code: string,
  plant: (scene: Scene) => Promise<Asked | undefined> | Promise<void>,
]
