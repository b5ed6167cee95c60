import {
  blockVersion,
  bodyOf,
  deriveBlock,
  encodedHeader,
  genesisHeaderHash,
  type Header,
  operationsOfDiff,
  transactionsRoot,
} from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { keyOf, outputOf, type TestKey, type TransferFields, transfer } from '@ratatosk/fixtures'
import {
  type AppliedTransaction,
  appliedTransaction,
  blake2b256,
  decodeTransaction,
  encodeOutputReference,
  type OutputReference,
} from '@ratatosk/ledger'
import { createMemoryStore, createTrie, emptyRoot, type Trie } from '@ratatosk/trie'

/** A signed transaction. */
export interface SignedTransaction {
  /** Transaction id in hex. */
  readonly id: string
  readonly cbor: Uint8Array
}

/** A transfer to build: each output is lovelace for the signing key, or the CBOR of any output. */
export interface Transfer extends TransferFields {
  readonly inputs: readonly OutputReference[]
  readonly outputs: readonly (bigint | Uint8Array)[]
}

/** Builds and signs a transfer from a key to the same key. */
export function signed(key: TestKey, { inputs, outputs, ...fields }: Transfer): SignedTransaction {
  const { id, cbor } = transfer(key, inputs, outputs, fields)
  return { id: toHex(id), cbor }
}

/** An output of a ledger. */
export interface LedgerEntry {
  readonly reference: OutputReference
  readonly output: Uint8Array
  readonly address: Uint8Array
}

/** Genesis outputs of a key, each of `lovelace`. */
export function fundsOf(key: TestKey, count: number, lovelace: bigint): LedgerEntry[] {
  return Array.from({ length: count }, (_, n) => ({
    reference: { transactionId: blake2b256(Buffer.from(`${toHex(key.publicKey)} ${n}`)), index: 0 },
    output: outputOf(key, lovelace),
    address: key.address,
  }))
}

/** A transaction with its effect on the ledger, as validation hands it to the store. Nothing is validated. */
export const acceptedOf = (cbor: Uint8Array): AppliedTransaction =>
  appliedTransaction(decodeTransaction(cbor))

/** The reference of an output of a transaction. */
export function outputsOf({ id }: SignedTransaction, index = 0): OutputReference {
  return { transactionId: Buffer.from(id, 'hex'), index }
}

/** `length` transfers, each of which spends the output of the previous one. */
export function chain(
  key: TestKey,
  first: OutputReference,
  lovelace: bigint,
  length: number,
): SignedTransaction[] {
  const transactions: SignedTransaction[] = []
  let input = first
  for (let n = 0; n < length; n++) {
    const transaction = signed(key, { inputs: [input], outputs: [lovelace] })
    transactions.push(transaction)
    input = outputsOf(transaction)
  }
  return transactions
}

/** A block of a {@link SourceChain}. */
export interface SourceBlock {
  readonly headerHash: Uint8Array
  readonly height: bigint
  /** Plutus data CBOR. */
  readonly header: Uint8Array
  /** The number of transactions. */
  readonly transactions: number
  readonly fields: Header
  readonly cbors: readonly Uint8Array[]
  state: 'committed' | 'merged' | 'removed'
}

/** An output of a source chain, and the key that owns it. */
interface Coin {
  readonly key: TestKey
  readonly reference: OutputReference
}

const lovelace = 5_000_000n

/**
 * A chain of blocks with signed transactions and correct roots. It implements the `Chain` of a follower and
 * the `NodeBlocks` of an archivist.
 */
export class SourceChain {
  readonly genesis: readonly { readonly reference: OutputReference; readonly output: Uint8Array }[]
  /** Output by the hex of its reference. */
  readonly utxos = new Map<string, Uint8Array>()
  /** Every block, including removed ones. */
  readonly all: SourceBlock[] = []
  /** Number of calls that read transactions. */
  reads = 0
  #coins: Coin[]
  readonly #states: (readonly Coin[])[] = []
  readonly #trie: Trie
  readonly #genesisHashes = new Map<string, Uint8Array>()

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
      this.#genesisHashes.set(toHex(outref), blake2b256(output))
      return { type: 'insert', key: outref, value: output } as const
    })
    this.#trie.update(operations)
  }

  /** The blocks that are not removed, the oldest first. */
  get blocks(): SourceBlock[] {
    return this.all.filter(({ state }) => state !== 'removed')
  }

  get tip(): SourceBlock | undefined {
    return this.blocks.at(-1)
  }

  /**
   * Appends a block of transfers that spend all coins in turn. If there are more transfers than coins, later
   * ones spend outputs of the same block.
   */
  async commit(transactions: number, wrong: Partial<Header> = {}): Promise<SourceBlock> {
    const cbors: Uint8Array[] = []
    const coins = [...this.#coins]
    for (let n = 0; n < transactions; n++) {
      const place = (this.all.length + n) % coins.length
      const { key, reference } = coins[place]!
      const transaction = signed(key, { inputs: [reference], outputs: [lovelace] })
      const { cbor } = transaction
      coins[place] = { key, reference: outputsOf(transaction) }
      cbors.push(cbor)
    }
    return this.#append(cbors, coins, wrong)
  }

  /** The hash of a genesis output, by the CBOR of its reference. */
  genesisHash(outref: Uint8Array): Uint8Array | undefined {
    return this.#genesisHashes.get(toHex(outref))
  }

  /** The coins that a transaction can spend now, each of 5 ada. */
  get coins(): readonly Coin[] {
    return this.#coins
  }

  /**
   * Appends a block of any transactions, valid or not, with the roots that follow from them. Later blocks
   * must not spend the same coins.
   *
   * @param missing references that the block spends and that do not exist; the update of the trie omits them
   */
  commitAny(
    cbors: readonly Uint8Array[],
    missing: readonly Uint8Array[] = [],
    wrong: Partial<Header> = {},
  ): Promise<SourceBlock> {
    return this.#append(cbors, this.#coins, wrong, missing)
  }

  async #append(
    cbors: readonly Uint8Array[],
    coins: readonly Coin[],
    wrong: Partial<Header>,
    missing: readonly Uint8Array[] = [],
  ): Promise<SourceBlock> {
    const body = bodyOf(cbors)
    const prevUtxosRoot = this.#trie.root
    const map = deriveBlock(cbors, this.#trie.valueHash)
    this.#states.push(this.#coins)
    this.#coins = [...coins]
    const isMissing = (key: Uint8Array) => missing.some((outref) => Buffer.compare(outref, key) === 0)
    this.#trie.update([...operationsOfDiff(body)].filter(({ key }) => !isMissing(key)))
    for (const outref of body.spent) this.utxos.delete(toHex(outref))
    for (const { outref, output } of body.produced) this.utxos.set(toHex(outref), output)

    const last = this.tip
    const startTime = last?.fields.endTime ?? 1_760_000_000_000n
    const fields: Header = {
      prevUtxosRoot,
      utxosRoot: this.#trie.root,
      transactionsRoot: await transactionsRoot(map),
      depositsRoot: emptyRoot(),
      withdrawalsRoot: emptyRoot(),
      startTime,
      // A block that replaces a removed one has another header.
      endTime: startTime + 1000n + BigInt(this.all.length),
      prevHeaderHash: last?.headerHash ?? genesisHeaderHash(),
      operatorVkey: keyOf(99).address.slice(1),
      blockVersion,
      ...wrong,
    }
    const { bytes, hash } = encodedHeader(fields)
    const block: SourceBlock = {
      fields,
      cbors,
      headerHash: hash,
      header: bytes,
      height: (last?.height ?? 0n) + 1n,
      transactions: cbors.length,
      state: 'committed',
    }
    this.all.push(block)
    return block
  }

  /** Merges the oldest blocks up to this height. */
  merge(height: number): void {
    for (const block of this.blocks) if (block.height <= BigInt(height)) block.state = 'merged'
  }

  /** Removes the newest blocks and reverts to the state before them. */
  remove(count: number): void {
    for (const block of this.blocks.slice(-count).reverse()) {
      block.state = 'removed'
      this.#coins = [...this.#states.pop()!]
      this.#trie.undo()
    }
  }

  // The `Chain` of a follower.
  async read() {
    const merged = this.blocks.filter(({ state }) => state === 'merged').at(-1)
    return {
      confirmed: { headerHash: merged?.headerHash ?? genesisHeaderHash() },
      blocks: this.blocks.filter(({ state }) => state === 'committed').map(({ fields }) => fields),
    }
  }

  // The `NodeBlocks` of an archivist.
  async byHash(hash: Uint8Array): Promise<SourceBlock | undefined> {
    return this.all.find(({ headerHash }) => Buffer.compare(headerHash, hash) === 0)
  }

  async byHeight(height: bigint): Promise<SourceBlock | undefined> {
    return this.blocks.find((block) => block.height === height)
  }

  async range(from: bigint, to: bigint): Promise<SourceBlock[]> {
    return this.blocks.filter(({ height }) => height >= from && height <= to)
  }

  async transactionsOf(hash: Uint8Array, { offset, limit }: { offset: number; limit: number }) {
    this.reads++
    const { cbors = [] } = (await this.byHash(hash)) ?? {}
    return cbors.slice(offset, offset + limit).map((cbor) => ({ cbor }))
  }
}
