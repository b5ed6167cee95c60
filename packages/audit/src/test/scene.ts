import archivist, { archiveOfBlocks } from '@ratatosk/archivist'
import { type Archive, bodyOf, encodeBlockBody, partsOf } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import {
  blake2b,
  encodeAssets,
  encodeInput,
  encodeList,
  encodeOutput,
  encodeSet,
  encodeUint,
  signDraft,
} from '@ratatosk/fixtures'
import { decodeOutputReference, type OutputReference, outputReferenceKey } from '@ratatosk/ledger'
import { type SourceBlock, SourceChain } from '@ratatosk/test-kit'
import fastify from 'fastify'
import { expect, type TestContext } from 'vitest'
import { type AuditOptions, audit, type NodeSource, openArchivist, type QueueReading } from '../index.js'

/** The lovelace of every coin of a source chain. */
export const lovelace = 5_000_000n

type Coin = SourceChain['coins'][number]

/** The actions of an audited transaction besides spending coins. */
interface Draft {
  readonly outputs?: readonly bigint[]
  readonly fee?: bigint
  /** Asset name in hex and quantity; minted by a policy that anyone can use. */
  readonly mint?: readonly (readonly [string, bigint])[]
  /** Held by the first output. */
  readonly assets?: readonly (readonly [string, bigint])[]
  readonly reads?: readonly OutputReference[]
  readonly auxiliaryData?: Uint8Array
  readonly isValid?: boolean
}

/** `all` of no scripts, which everyone satisfies. */
const anyone = fromHex('820180')
const policy = blake2b(28, Uint8Array.of(0, ...anyone))

/** A signed transaction that spends coins of one key. */
export function spending(coins: readonly Coin[], draft: Draft = {}) {
  const { outputs = [lovelace], fee = 0n, mint, assets, reads, auxiliaryData, isValid = true } = draft
  const { key } = coins[0]!
  const encoded = (reference: OutputReference) => encodeInput(reference.transactionId, reference.index)
  const named = (list: readonly (readonly [string, bigint])[]) =>
    list.map(([name, quantity]) => [policy, name, quantity] as const)
  const body = new Map([
    [0, encodeSet(coins.map(({ reference }) => encoded(reference)))],
    [
      1,
      encodeList(
        outputs.map((amount, index) =>
          encodeOutput({
            address: key.address,
            lovelace: amount,
            ...(index === 0 && assets && { assets: named(assets) }),
          }),
        ),
      ),
    ],
    [2, encodeUint(fee)],
  ])
  if (auxiliaryData) body.set(7, Uint8Array.of(0x58, 32, ...blake2b(32, auxiliaryData)))
  if (mint) body.set(9, encodeAssets(named(mint)))
  if (reads) body.set(18, encodeSet(reads.map(encoded)))
  const witnesses = new Map(mint ? [[1, encodeList([anyone])]] : [])
  return signDraft({ body, witnesses, signers: [key], isValid, ...(auxiliaryData && { auxiliaryData }) })
}

/** A chain, its queue on layer 1, and its archive behind HTTP; each can be made to lie. */
export interface Scene {
  readonly chain: SourceChain
  hashOf(height: number): string
  readonly lies: Lies
  audit(more?: Partial<AuditOptions>): ReturnType<typeof audit>
}

interface Lies {
  archive: (blocks: readonly SourceBlock[]) => readonly SourceBlock[]
  body: (block: SourceBlock) => Uint8Array
  layer1: (queue: QueueReading) => QueueReading
}

export async function openScene(context: TestContext, coins?: number): Promise<Scene> {
  const chain = new SourceChain(coins)
  const lies: Lies = {
    archive: (blocks) => blocks,
    body: ({ cbors }) => encodeBlockBody(bodyOf(cbors)),
    layer1: (queue) => queue,
  }
  const served = () => lies.archive(chain.blocks)
  const archive: Archive = {
    ...archiveOfBlocks({
      byHash: async (hash) => served().find(({ headerHash }) => toHex(headerHash) === toHex(hash)),
      byHeight: async (height) => served().find((block) => block.height === height),
      range: async () => [],
      transactionsOf: async () => [],
    }),
    async *body(headerHash) {
      yield lies.body((await chain.byHash(headerHash))!)
    },
  }
  const server = fastify({ forceCloseConnections: true })
  context.onTestFinished(() => server.close())
  await server.register(archivist, { archive, prefix: '/archivist' })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    chain,
    lies,
    hashOf: (height) => toHex(chain.blocks[height - 1]!.headerHash),
    audit: (more = {}) =>
      audit({
        layer1: { read: async () => lies.layer1(queueOf(chain)) },
        archivist: openArchivist(`${url}/archivist`),
        genesis: chain.genesis,
        readings: 2,
        settleMs: 1,
        ...more,
      }),
  }
}

/** The state queue of a chain on layer 1. */
function queueOf(chain: SourceChain): QueueReading {
  const merged = chain.blocks.filter(({ state }) => state === 'merged').at(-1)
  const first = chain.blocks[0]?.fields
  return {
    confirmed: {
      headerHash: merged?.headerHash ?? new Uint8Array(28),
      utxosRoot: merged?.fields.utxosRoot ?? first?.prevUtxosRoot ?? new Uint8Array(32),
      endTime: merged?.fields.endTime ?? first?.startTime ?? 0n,
    },
    blocks: chain.blocks.filter(({ state }) => state === 'committed'),
  }
}

function unspentOf({ genesis, blocks }: SourceChain): ReadonlyMap<string, Uint8Array> {
  const unspent = new Map(genesis.map(({ reference, output }) => [outputReferenceKey(reference), output]))
  for (const { spent, produced } of blocks.map(({ cbors }) => bodyOf(cbors))) {
    for (const outref of spent) unspent.delete(outputReferenceKey(decodeOutputReference(outref)))
    for (const { outref, output } of produced)
      unspent.set(outputReferenceKey(decodeOutputReference(outref)), output)
  }
  return unspent
}

/** A node that shows just what a chain has, and transactions that wait in its mempool. */
export function nodeOf(chain: SourceChain, idsOf: (block: SourceBlock) => readonly string[]): NodeSource {
  return {
    queue: async () => queueOf(chain).blocks.map(({ headerHash }) => toHex(headerHash)),
    transactionsOf: async (hash) => idsOf((await chain.byHash(fromHex(hash)))!),
    placesOf: async (ids) =>
      ids.map((id) => {
        const block = chain.blocks.find((each) => idsOf(each).includes(id))
        if (block === undefined) return { status: 'mempool' }
        const { height, headerHash, state } = block
        return { status: state, block: { height: Number(height), headerHash: toHex(headerHash) } }
      }),
    async *unspentOutputs() {
      for (const [key, output] of unspentOf(chain)) yield { key, output }
    },
    transaction: async (id) =>
      chain.blocks.flatMap(({ cbors }) => cbors).find((cbor) => toHex(partsOf(cbor).id) === id),
    spenderOf: async () => undefined,
  }
}

/** Of the asset that is minted, in hex. */
export const name = '746f6b656e'

/** Five blocks: transfers, a mint, a burn, fees, references, a removal and two merges. */
export async function honest(context: TestContext): Promise<Scene> {
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

export const idsOf = ({ cbors }: SourceBlock) => cbors.map((cbor) => toHex(partsOf(cbor).id))
export const honestNode = ({ chain }: Scene) => nodeOf(chain, idsOf)
