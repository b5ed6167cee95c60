import {
  type BlockBody,
  blockVersion,
  bodyOf,
  type Deposit,
  deriveBlock,
  encodeBlockBody,
  encodedHeader,
  genesisHeaderHash,
  type Header,
  operationsOfDiff,
  transactionsRoot,
  withoutFeeOutput,
} from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import {
  encodeInput,
  encodeList,
  encodeOutput,
  encodeSet,
  encodeUint,
  keyOf,
  outputOf,
  signDraft,
} from '@ratatosk/fixtures'
import { encodeOutputReference, type OutputReference } from '@ratatosk/ledger'
import { createMemoryStore, createTrie, rootOf } from '@ratatosk/trie'

/** A block of a {@link BridgedChain}. */
export interface BridgedBlock {
  readonly headerHash: Uint8Array
  readonly height: bigint
  /** Plutus data CBOR. */
  readonly header: Uint8Array
  readonly fields: Header
  readonly body: BlockBody
  /** CBOR of the body. */
  readonly bytes: Uint8Array
  state: 'committed' | 'merged'
}

/** Hash of the bridge's script. */
export const bridge = new Uint8Array(28).fill(0xb1)
/** Where outputs leave layer 2. */
export const bridgeAddress = Uint8Array.of(0x70, ...bridge)

const key = keyOf(1)
const lovelace = 5_000_000n
const coin = (index: number): OutputReference => ({ transactionId: new Uint8Array(32).fill(0xaa), index })

/** A deposit of 7 ada to the owner of the coins. */
export const depositOf = (name: number): Deposit => ({
  id: new Uint8Array(32).fill(name),
  output: outputOf(key, 7_000_000n),
})

/** The output that a deposit becomes. */
export const credited = ({ id }: Deposit): OutputReference => ({ transactionId: id, index: 0 })

/** Signed by the owner of coins and deposits. @param paid lovelace to the owner, the bridge, as fee */
export function paying(
  inputs: readonly OutputReference[],
  [own, left, fee = 0n]: readonly [own: bigint, left: bigint, fee?: bigint],
) {
  const body = new Map([
    [0, encodeSet(inputs.map(({ transactionId, index }) => encodeInput(transactionId, index)))],
    [
      1,
      encodeList([
        encodeOutput({ address: key.address, lovelace: own }),
        ...(left > 0n ? [encodeOutput({ address: bridgeAddress, lovelace: left })] : []),
      ]),
    ],
    [2, encodeUint(fee)],
  ])
  return signDraft({ body, witnesses: new Map(), signers: [key], isValid: true })
}

/** The content of a block, and what its operator states otherwise. */
export interface BridgedDraft {
  readonly cbors?: readonly Uint8Array[]
  readonly deposits?: readonly Deposit[]
  readonly wrong?: Partial<Header>
  /** Whether the fees are paid to the operator. @defaultValue true */
  readonly paysFees?: boolean
}

/**
 * A chain of blocks with deposits and withdrawals, which begins with five coins of 5 ada. It is the queue and
 * the events of a follower, and the blocks of an archivist.
 */
export class BridgedChain {
  readonly coins = [0, 1, 2, 3, 4].map(coin)
  readonly genesis = this.coins.map((reference) => ({ reference, output: outputOf(key, lovelace) }))
  readonly blocks: BridgedBlock[] = []
  readonly #trie = createTrie({ store: createMemoryStore(), history: 0 })

  constructor() {
    this.#trie.update(
      this.genesis.map(({ reference, output }) => ({
        type: 'insert',
        key: encodeOutputReference(reference),
        value: output,
      })),
    )
  }

  async commit({
    cbors = [],
    deposits = [],
    wrong = {},
    paysFees = true,
  }: BridgedDraft): Promise<BridgedBlock> {
    const last = this.blocks.at(-1)
    const payment = {
      prevHeaderHash: last?.headerHash ?? genesisHeaderHash(),
      operatorVkey: keyOf(99).address.slice(1),
    }
    const feesTo = paysFees ? { ...payment, networkId: 0 } : undefined
    const body = bodyOf(cbors, { deposits, bridge, feesTo })
    const prevUtxosRoot = this.#trie.root
    const derived = deriveBlock(cbors, this.#trie.valueHash, { deposits, bridge, feesTo })
    this.#trie.update([...operationsOfDiff(body)])
    const startTime = last?.fields.endTime ?? 1_760_000_000_000n
    const fields: Header = {
      prevUtxosRoot,
      utxosRoot: this.#trie.root,
      transactionsRoot: await transactionsRoot(derived),
      depositsRoot: await rootOf(derived.deposits()),
      withdrawalsRoot: await rootOf(derived.withdrawals()),
      startTime,
      endTime: startTime + 1000n,
      ...payment,
      blockVersion,
      ...wrong,
    }
    const { bytes, hash } = encodedHeader(fields)
    const block: BridgedBlock = {
      fields,
      body,
      bytes: encodeBlockBody(body),
      headerHash: hash,
      header: bytes,
      height: (last?.height ?? 0n) + 1n,
      state: 'committed',
    }
    this.blocks.push(block)
    return block
  }

  /** Merges the oldest blocks up to this height. */
  merge(height: number): void {
    for (const block of this.blocks) if (block.height <= BigInt(height)) block.state = 'merged'
  }

  // The queue of a follower.
  async read() {
    const merged = this.blocks.filter(({ state }) => state === 'merged').at(-1)
    return {
      confirmed: { headerHash: merged?.headerHash ?? genesisHeaderHash() },
      blocks: this.blocks.filter(({ state }) => state === 'committed').map(({ fields }) => fields),
    }
  }

  // The events of a follower.
  async between(start: bigint, end: bigint): Promise<readonly Deposit[]> {
    const waiting = this.blocks.filter(({ state }) => state === 'committed')
    return waiting
      .filter(({ fields }) => fields.startTime >= start && fields.endTime <= end)
      .flatMap(({ body, fields }) => withoutFeeOutput(body.deposits ?? [], fields))
  }

  // The archive of a follower's own process, and of an archivist.
  async byHash(wanted: Uint8Array) {
    const block = this.blocks.find(({ headerHash }) => equalBytes(headerHash, wanted))
    return block && archived(block)
  }

  async byHeight(height: bigint) {
    const block = this.blocks[Number(height) - 1]
    return block && archived(block)
  }

  async range(from: bigint, to: bigint) {
    return this.blocks.filter(({ height }) => height >= from && height <= to).map(archived)
  }

  async *body(wanted: Uint8Array): AsyncGenerator<Uint8Array, void> {
    const block = this.blocks.find(({ headerHash }) => equalBytes(headerHash, wanted))
    if (block === undefined) throw new Error('There is no such block')
    yield block.bytes
  }
}

const archived = ({ headerHash, height, header, state }: BridgedBlock) => ({
  headerHash,
  height,
  header,
  merged: state === 'merged',
})
