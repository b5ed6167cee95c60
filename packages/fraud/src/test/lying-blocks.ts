import {
  createChunker,
  createDerivation,
  decodeTransactionRecord,
  encodeOutputRecord,
  encodeTransactionRecord,
  type Header,
  partsOf,
  type ReadBody,
  transactionKey,
} from '@ratatosk/block'
import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  encodeOutputReference,
  type OutputReference,
  type ProtocolParameters,
  type SlotConfig,
  type Utxo,
} from '@ratatosk/ledger'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { buildTransaction, type DraftOutput, toOutput } from '@ratatosk/transaction'
import { createMemoryStore, createTrie, type Trie } from '@ratatosk/trie'
import { keys } from '../../../protocol/dist/test/protocol-scene.js'
import type { Accusation } from '../accused-block.js'

/** A map by hex key. */
export type Entries = Map<string, Uint8Array>

/** What a block commits to, without the rest of its header. */
export interface Committed extends Omit<Accusation, 'header'> {
  readonly after: Trie
  /** The outputs after it. */
  readonly left: Entries
  readonly roots: Pick<Header, 'prevUtxosRoot' | 'utxosRoot' | 'transactionsRoot'>
}

export const accusation = ({ roots: _, left: _left, ...block }: Committed, header: Header): Accusation => ({
  ...block,
  header,
})

const address = keys.address.bytes
const payment = (lovelace: bigint) =>
  toOutput({ address, value: { lovelace, assets: new Map() }, datum: { kind: 'none' } })
const utxoAt = (reference: OutputReference): Utxo => ({ reference, output: payment(5_000_000n) })
const keyOf = (reference: OutputReference): string => toHex(encodeOutputReference(reference))

const coins = Array.from({ length: 40 }, (_, index) =>
  utxoAt({ transactionId: new Uint8Array(32).fill(0xaa), index }),
)
/** An output that never was. */
const ghost = utxoAt({ transactionId: new Uint8Array(32).fill(0xee), index: 0 })
const secondGhost = utxoAt({ transactionId: new Uint8Array(32).fill(0xee), index: 1 })

/** Those before the first block, by reference. */
export const outputsBefore = (): Entries =>
  new Map(coins.map(({ reference, output }) => [keyOf(reference), output.bytes]))

function trieOf(entries: Entries): Trie {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  trie.update(Array.from(entries, ([key, value]) => ({ type: 'insert', key: fromHex(key), value })))
  return trie
}

/** How a block lies, and what it is based on. */
export interface Lie {
  /** Changes its map before the root is taken. */
  readonly entries?: (map: Entries) => unknown
  /** Changes the outputs after it. */
  readonly after?: (outputs: Entries) => unknown
  /** The outputs before it. */
  readonly outputs?: Entries
  /** What it takes of bodies that do not decode. */
  readonly read?: ReadBody
}

/** The block of transactions, but for what a lie changes before the roots are taken. */
export function blockOf(transactions: readonly Uint8Array[], lie: Lie = {}): Committed {
  const { outputs = outputsBefore(), read } = lie
  const before = trieOf(outputs)
  const derivation = createDerivation(read)
  for (const transaction of transactions) derivation.add(transaction)
  const { spent, produced } = derivation.diff()
  const map: Entries = new Map(
    Array.from(derivation.derive(before.valueHash).entries(), ([key, value]) => [toHex(key), value]),
  )
  const left = new Map(outputs)
  for (const key of spent) left.delete(toHex(key))
  for (const { outref, output } of produced) left.set(toHex(outref), output)
  lie.entries?.(map)
  lie.after?.(left)
  const after = trieOf(left)
  return {
    transactions,
    before,
    outputBefore: (key) => outputs.get(toHex(key)),
    after,
    left,
    ...(lie.entries && { entries: Array.from(map, ([key, value]) => [fromHex(key), value] as const) }),
    keys: [...outputs.keys(), ...left.keys()].map((key) => fromHex(key)),
    roots: { prevUtxosRoot: before.root, utxosRoot: after.root, transactionsRoot: trieOf(map).root },
  }
}

/**
 * A block without transactions that begins where another ends. Nothing is left after it but an output from
 * nowhere.
 */
export function lyingSuccessor({ after }: Committed): Committed {
  const before = after
  const own = encodeOutputReference(secondGhost.reference)
  const left = createTrie({ store: createMemoryStore(), history: 0 })
  left.update([{ type: 'insert', key: own, value: secondGhost.output.bytes }])
  return {
    transactions: [],
    before,
    after: left,
    left: new Map([[toHex(own), secondGhost.output.bytes]]),
    keys: [own],
    roots: { prevUtxosRoot: before.root, utxosRoot: left.root, transactionsRoot: new Uint8Array(32) },
  }
}

/** The frames of transactions, of whatever length. */
export const framesOf = (...transactions: readonly Uint8Array[]): Uint8Array =>
  concatBytes(
    ...transactions.map((cbor) => {
      const frames: Uint8Array[] = []
      const chunker = createChunker((_, bytes) => frames.push(Uint8Array.from(bytes)))
      chunker.add(partsOf(cbor))
      chunker.end()
      return concatBytes(...frames)
    }),
  )

/** Signed transactions over the same outputs. */
export interface Story {
  /** Of the honest block. */
  readonly transactions: readonly Uint8Array[]
  readonly firstId: Uint8Array
  /** Spends what the first of them spends. */
  readonly again: Uint8Array
  /** The same, with an output that nearly fills it. */
  readonly large: Uint8Array
  /** Spends what never was. */
  readonly conjured: Uint8Array
}

export async function tellStory(parameters: ProtocolParameters, slots: SlotConfig): Promise<Story> {
  const changeAddress = address
  const signers = [keys.payment]
  const context = { funds: [], changeAddress, signers, parameters, slots, slot: 0n, networkId: 0 } as const
  const build = (utxos: readonly Utxo[], outputs: readonly DraftOutput[]) =>
    buildTransaction({ inputs: utxos.map((utxo) => ({ utxo })), outputs }, context)
  const spend = (utxos: readonly Utxo[], ...amounts: readonly bigint[]) =>
    build(
      utxos,
      amounts.map((lovelace) => ({ address, lovelace })),
    )
  const data = encodePlutusData(new Uint8Array(12_900))
  const [coin0, coin1, coin2] = coins as [Utxo, Utxo, Utxo]
  const first = await spend([coin0, coin1], 2_000_000n, 3_000_000n)
  const second = await spend([first.produced[0]!, coin2], 1_500_000n)
  return {
    transactions: [first.bytes, second.bytes],
    firstId: fromHex(first.id),
    large: (await build([coin0, ...coins.slice(10, 30)], [{ address, datum: { kind: 'inline', data } }]))
      .bytes,
    again: (await spend([coin0], 1_200_000n)).bytes,
    conjured: (await spend([ghost], 1_200_000n)).bytes,
  }
}

/** What the smallest proof shows is `fraud`. */
export const lies: readonly {
  readonly what: string
  readonly fraud: string
  readonly tell: (story: Story) => Committed
}[] = [
  {
    what: 'that there is an output from nowhere after the block',
    fraud: 'wrongOutputsAfter',
    tell: ({ transactions }) =>
      blockOf(transactions, {
        after: (outputs) => outputs.set(keyOf(ghost.reference), ghost.output.bytes),
      }),
  },
  {
    what: 'that an output can be spent twice',
    fraud: 'inputSpentElsewhere',
    tell: ({ transactions, again }) => blockOf([...transactions, again]),
  },
  {
    what: 'that a transaction makes an output that it does not make',
    fraud: 'inventedOutput',
    tell({ transactions, firstId }) {
      const { bytes } = payment(9_000_000n)
      const record = { createdBy: 0, spentBy: undefined, outputHash: blake2b256(bytes) }
      const key = keyOf({ transactionId: firstId, index: 9 })
      return blockOf(transactions, {
        entries: (map) => map.set(key, encodeOutputRecord(record)),
        after: (outputs) => outputs.set(key, bytes),
      })
    },
  },
  {
    what: 'that a transaction spends what never was',
    fraud: 'spentThatNeverWas',
    tell: ({ transactions, conjured }) => blockOf([...transactions, conjured]),
  },
  {
    what: 'that the fees are higher',
    fraud: 'wrongFees',
    tell: ({ transactions }) =>
      blockOf(transactions, {
        entries(map) {
          const key = toHex(transactionKey(1))
          const record = decodeTransactionRecord(map.get(key)!)
          map.set(key, encodeTransactionRecord({ ...record, feesSoFar: record.feesSoFar + 1n }))
        },
      }),
  },
]
