import { encodeHeader, genesisHeaderHash, type Header, headerHash } from '@ratatosk/contracts'
import {
  blake2b256,
  decodeTransaction,
  encodeOutputReference,
  type OutputReference,
  toHex,
} from '@ratatosk/ledger'
import { createMemoryStore, createTrie, type Entry, type Trie } from '@ratatosk/trie'
import type { NodeBlock, NodeBlocks } from '../archive-of-blocks.js'
import { bodyOf } from '../body/diff.js'
import { diffOperations } from '../body/verify.js'
import type { Chain, GenesisOutput } from '../follower/types.js'
import { keyOf, outputOf, type TestKey, transfer } from './transfers.js'

export interface SourceBlock extends NodeBlock {
  readonly fields: Header
  readonly cbors: readonly Uint8Array[]
  state: 'committed' | 'merged' | 'removed'
}

interface Coin {
  readonly key: TestKey
  readonly reference: OutputReference
}

const lovelace = 5_000_000n
const emptyRoot = new Uint8Array(32)

/** A sequencer's side of a chain, with real transactions and real roots: what layer 1 shows of it, and its blocks. */
export class SourceChain implements NodeBlocks, Chain {
  readonly genesis: readonly GenesisOutput[]
  /** Output by the hex of its reference. */
  readonly utxos = new Map<string, Uint8Array>()
  /** Every block that ever was. */
  readonly all: SourceBlock[] = []
  /** How often transactions were read. */
  reads = 0
  #coins: Coin[]
  readonly #states: (readonly Coin[])[] = []
  readonly #trie: Trie

  constructor(coins = 20) {
    const keys = Array.from({ length: coins }, (_, n) => keyOf(n + 1))
    this.#coins = keys.map((key) => ({
      key,
      reference: { transactionId: blake2b256(key.publicKey), index: 0 },
    }))
    this.genesis = this.#coins.map(({ key, reference }) => ({ reference, output: outputOf(key, lovelace) }))
    this.#trie = createTrie({ store: createMemoryStore(), history: 1000 })
    const operations = this.genesis.map(({ reference, output }) => {
      const outref = encodeOutputReference(reference)
      this.utxos.set(toHex(outref), output)
      return { type: 'insert', key: outref, value: output } as const
    })
    this.#trie.update(operations)
  }

  /** Those that are not removed, the oldest first. */
  get blocks(): SourceBlock[] {
    return this.all.filter(({ state }) => state !== 'removed')
  }

  get tip(): SourceBlock | undefined {
    return this.blocks.at(-1)
  }

  /** Transfers over all coins in turn: where there are more of them than coins, they spend what the block itself makes. */
  async commit(transactions: number, wrong: Partial<Header> = {}): Promise<SourceBlock> {
    const cbors: Uint8Array[] = []
    const coins = [...this.#coins]
    for (let n = 0; n < transactions; n++) {
      const place = (this.all.length + n) % coins.length
      const { key, reference } = coins[place]!
      const { id, cbor } = transfer(key, [reference], [lovelace])
      coins[place] = { key, reference: { transactionId: id, index: 0 } }
      cbors.push(cbor)
    }
    const body = bodyOf(cbors)
    const prevUtxosRoot = this.#trie.root
    this.#states.push(this.#coins)
    this.#coins = coins
    this.#trie.update(diffOperations(body))
    for (const outref of body.spent) this.utxos.delete(toHex(outref))
    for (const { outref, output } of body.produced) this.utxos.set(toHex(outref), output)

    const last = this.tip
    const startTime = last?.fields.endTime ?? 1_760_000_000_000n
    const fields: Header = {
      prevUtxosRoot,
      utxosRoot: this.#trie.root,
      transactionsRoot: await transactionsRoot(cbors),
      depositsRoot: emptyRoot,
      withdrawalsRoot: emptyRoot,
      startTime,
      // No two blocks have the same header, though one be removed and made again.
      endTime: startTime + 1000n + BigInt(this.all.length),
      prevHeaderHash: last?.headerHash ?? genesisHeaderHash(),
      operatorVkey: keyOf(99).address.slice(1),
      protocolVersion: 1n,
      ...wrong,
    }
    const block: SourceBlock = {
      fields,
      cbors,
      headerHash: headerHash(fields),
      header: encodeHeader(fields),
      height: (last?.height ?? 0n) + 1n,
      transactions,
      state: 'committed',
    }
    this.all.push(block)
    return block
  }

  /** Merges the oldest blocks up to this height. */
  merge(height: number): void {
    for (const block of this.blocks) if (block.height <= BigInt(height)) block.state = 'merged'
  }

  /** Removes the newest blocks, and goes back to the state before them. */
  remove(count: number): void {
    for (const block of this.blocks.slice(-count).reverse()) {
      block.state = 'removed'
      this.#coins = [...this.#states.pop()!]
      this.#trie.undo()
    }
  }

  // What layer 1 shows.
  async read() {
    const merged = this.blocks.filter(({ state }) => state === 'merged').at(-1)
    return {
      confirmed: { headerHash: merged?.headerHash ?? genesisHeaderHash() },
      blocks: this.blocks.filter(({ state }) => state === 'committed').map(({ fields }) => fields),
    }
  }

  // What the node has.
  async byHash(hash: Uint8Array): Promise<SourceBlock | undefined> {
    return this.all.find(({ headerHash }) => Buffer.compare(headerHash, hash) === 0)
  }

  async byHeight(height: bigint): Promise<SourceBlock | undefined> {
    return this.blocks.find((block) => block.height === height)
  }

  async range(from: bigint, to: bigint): Promise<SourceBlock[]> {
    return this.blocks.filter(({ height }) => height >= from && height <= to)
  }

  async transactionsOf(hash: Uint8Array, { after, limit }: { after: number; limit: number }) {
    this.reads++
    return (await this.byHash(hash))?.cbors.slice(after, after + limit) ?? []
  }
}

async function transactionsRoot(cbors: readonly Uint8Array[]): Promise<Uint8Array> {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  const id = (cbor: Uint8Array) => decodeTransaction(cbor).id
  return Uint8Array.from(await trie.rebuild(cbors.map((cbor): Entry => [id(cbor), cbor])))
}
