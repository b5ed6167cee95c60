import { encodeOutputRecord, transactionKey } from '@ratatosk/block'
import { CborWriter, concatBytes, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256, encodeOutputReference } from '@ratatosk/ledger'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { nibbleAt, nibblesOf, type TrieView } from '@ratatosk/trie'
import {
  deepened,
  type FreeNode,
  freeMap,
  leafAt,
  leavesOf,
  nodeOf,
  pathFrom,
} from '../../../../../protocol/dist/fraud/test/free-map.js'
import { lies } from '../../../../../protocol/dist/fraud/test/lies/index.js'
import {
  blockOf,
  type Committed,
  ghost,
  keyOf,
  payment,
  type Story,
} from '../../../../../protocol/dist/fraud/test/lying-blocks.js'
import { addressOfThief, coin, signedTheft } from '../../../../../protocol/dist/fraud/test/theft.js'
import { raiseFees } from '../lies.js'

/** A block whose operator hides something, and answers what the header's maps allow. */
export interface HiddenBlock {
  readonly what: string
  readonly isWithheld: boolean
  readonly committed: Committed
  /** The maps that the header commits to, if they are not those of `committed`. */
  readonly records?: TrieView
  readonly outputs?: TrieView
  /** The outputs that follow from its transactions; undefined if these cannot be applied. */
  readonly truth: TrieView | undefined
}

type Entries = NonNullable<Committed['entries']>
const leavesOfEntries = (entries: Entries) => {
  const map = new Map<string, Uint8Array>()
  for (const [key, value] of entries) map.set(toHex(key), value)
  return leavesOf(map)
}

/** The outputs that follow from the transactions of a lie. */
const truthOf = ({ transactions, outputs, deposits = [], bridge }: Committed): TrieView =>
  blockOf(transactions, { outputs: outputs.before, deposits, ...(bridge && { bridge }) }).after

/** Those of the transactions map that a lie posts. */
const entriesOf = (committed: Committed): Entries =>
  committed.entries ??
  (blockOf(committed.transactions, { outputs: committed.outputs.before, entries: () => 0 })
    .entries as Entries)

/**
 * Every lie, withheld: a body without the root of its header counts as none. Where only the map of the
 * outputs lies, served by peers too.
 */
export const toldLies = (story: Story): HiddenBlock[] =>
  lies
    .filter(({ fraud }) => fraud !== 'inputIsReferenceInput')
    .flatMap(({ what, isHidden, tell }) => {
      const committed = tell(story)
      const truth = truthOf(committed)
      const told = { what, committed, truth }
      return [
        { ...told, isWithheld: true },
        ...(isHidden && committed.entries === undefined ? [{ ...told, isWithheld: false }] : []),
      ]
    })

/** Lies in maps in which each way has so many levels, with a branch beside each that no one can show. */
export const deepLies = (story: Story, levels: number): HiddenBlock[] =>
  toldLies(story)
    .filter(({ committed }) => committed.entries !== undefined)
    .map((hidden) => ({
      ...hidden,
      records: freeMap(deepened(nodeOf(leavesOfEntries(entriesOf(hidden.committed))), () => true, levels)),
    }))

/** An output of 99 ada with a datum that nearly fills a chunk. */
const largeOutput = (number: number): Uint8Array => {
  const datum = encodePlutusData(new Uint8Array(11_300).fill(number & 255))
  return new CborWriter(16_384)
    .map(3)
    .uint(0)
    .bytes(addressOfThief)
    .uint(1)
    .uint(99_000_000n)
    .uint(2)
    .array(2)
    .uint(1)
    .tag(24)
    .bytes(datum)
    .toBytes()
}

const coinsOf = (count: number) =>
  new Map(Array.from({ length: count }, (_, index) => [toHex(coin(index)), payment(100_000_000n).bytes]))

/** Valid transactions, each of which fills a chunk. */
const filling = new Map<number, readonly Uint8Array[]>()
function fillers(count: number): readonly Uint8Array[] {
  const known = filling.get(count)
  if (known !== undefined) return known
  const made = Array.from({ length: count }, (_, index) =>
    signedTheft({ inputs: [index], output: largeOutput(index), fee: 1_000_000n }),
  )
  filling.set(count, made)
  return made
}

/** An output that a transaction never made, in the maps of a block. */
function invent(
  map: Map<string, Uint8Array>,
  createdBy: number,
  id: Uint8Array = fromHex('77'.repeat(32)),
): void {
  const record = { createdBy, spentBy: undefined, outputHash: blake2b256(payment(9_000_000n).bytes) }
  map.set(keyOf({ transactionId: id, index: 9 }), encodeOutputRecord(record))
}

/**
 * Every way in which a block of so many chunks hides a theft; of the largest, only false records: they take
 * longest.
 */
export function longBlocks(chunks: number): HiddenBlock[] {
  const transactions = fillers(chunks)
  const outputs = coinsOf(chunks)
  const honest = blockOf(transactions, { outputs })
  const truth = honest.after
  const withheld = { isWithheld: true, truth }
  const last = signedTheft({ inputs: [chunks + 7], output: largeOutput(chunks), fee: 1_000_000n })
  const stray = blockOf([...transactions.slice(0, -1), last], { outputs })
  const invented = blockOf(transactions, { outputs, entries: (map) => invent(map, chunks - 1) })
  const shifted = blockOf(transactions, {
    outputs,
    entries(map) {
      invent(map, chunks - 1)
      const records = Array.from({ length: chunks }, (_, at) => map.get(toHex(transactionKey(at)))!)
      for (const at of records.keys())
        map.set(toHex(transactionKey(at)), records[Math.min(at + 1, chunks - 1)]!)
    },
  })
  const fees = blockOf(transactions, { outputs, entries: (map) => raiseFees(map, chunks) })
  const ghostly = blockOf(transactions, {
    outputs,
    after: (left) => left.set(keyOf(ghost.reference), ghost.output.bytes),
  })
  const records = [
    { what: 'all records shifted', ...withheld, committed: shifted },
    { what: 'all records with other fees', ...withheld, committed: fees },
  ]
  if (chunks > 169) return records
  return [
    ...records,
    { what: 'a valid block that no one gets', ...withheld, committed: honest },
    { what: 'the last transaction spends nothing', ...withheld, committed: stray },
    { what: 'an invented output', ...withheld, committed: invented },
    { what: 'a false root of the outputs', ...withheld, committed: ghostly },
    { what: 'a false root of the outputs, body shown', isWithheld: false, truth, committed: ghostly },
  ]
}

/**
 * The true map has a way of so many branches to an output, and more outputs at its end, as users who grind
 * keys can make it. The posted map has another output there; or a branch beside it that no one can show.
 */
export function groundOutputs(
  story: Story,
  levels: number,
  more: number,
  isWithheld: boolean,
): readonly HiddenBlock[] {
  const committed = blockOf(story.transactions)
  const made = [...committed.outputs.after].find(([key]) => !committed.outputs.before.has(key))!
  const path = blake2b256(fromHex(made[0]))
  const shared = nibblesOf(path, 0, levels)
  const rest = (number: number) => blake2b256(concatBytes(path, Uint8Array.of(number & 255, number >> 8)))
  const beside = (length: number) =>
    leafAt(pathFrom([...shared.subarray(0, length), nibbleAt(path, length) ^ 1], rest(length)))
  const bystanders = [
    ...Array.from({ length: levels }, (_, length) => beside(length)),
    ...Array.from({ length: more }, (_, number) => leafAt(pathFrom([...shared], rest(levels + number)))),
  ]
  const known = leavesOf(committed.outputs.after)
  const paths = new Set(known.map(({ path }) => toHex(path)))
  const leaves = [...known, ...bystanders.filter((each) => !paths.has(toHex(each.path)))]
  const stray = leafAt(pathFrom([...nibblesOf(path, 0, 40), nibbleAt(path, 40) ^ 1], rest(0)))
  const posted = {
    'another output': nodeOf(leaves.map((leaf) => (equalBytes(leaf.path, path) ? leafAt(path, 9) : leaf))),
    'a branch more': deepened(nodeOf([...leaves, stray]), (each) => equalBytes(each, stray.path)),
  }
  return Object.entries(posted).map(([what, top]) => ({
    what: `${what} on a way of ${levels} branches`,
    isWithheld,
    committed,
    outputs: freeMap(top),
    truth: freeMap(nodeOf(leaves)),
  }))
}

/** A whole false map of the outputs with ways of so many levels, with a false branch beside each. */
export function deepOutputs(story: Story, levels: number, isWithheld: boolean): HiddenBlock {
  const committed = blockOf(story.transactions, {
    after: (left) => left.set(keyOf(ghost.reference), ghost.output.bytes),
  })
  return {
    what: `a map of outputs of ${levels} levels`,
    isWithheld,
    committed,
    outputs: freeMap(deepened(nodeOf(leavesOf(committed.outputs.after)), () => true, levels)),
    truth: truthOf(committed),
  }
}

/** Keys whose paths begin with 0, 1, 2 … nibbles of another, each of an output that never was. */
function groundKeys(way: Uint8Array, levels: number): readonly Uint8Array[] {
  const found: (Uint8Array | undefined)[] = Array.from({ length: levels }, () => undefined)
  for (let count = 0, left = levels; left > 0; count++) {
    const transactionId = new Uint8Array(32)
    new DataView(transactionId.buffer).setUint32(0, count)
    const key = encodeOutputReference({ transactionId, index: 9 })
    const path = blake2b256(key)
    let shared = 0
    while (nibbleAt(path, shared) === nibbleAt(way, shared)) shared++
    if (shared >= levels || found[shared] !== undefined) continue
    found[shared] = key
    left--
  }
  return found as Uint8Array[]
}

/** Invented outputs whose keys are ground, so that the entry that convicts them is behind many branches. */
export function groundBlock(levels: number, chunks = 1): HiddenBlock {
  const transactions = fillers(chunks)
  const outputs = coinsOf(chunks)
  const way = blake2b256(transactionKey(0))
  const record = { createdBy: 0, spentBy: undefined, outputHash: blake2b256(payment(9_000_000n).bytes) }
  const committed = blockOf(transactions, {
    outputs,
    entries(map) {
      for (const key of groundKeys(way, levels)) map.set(toHex(key), encodeOutputRecord(record))
    },
  })
  const entries = entriesOf(committed)
  return {
    what: `outputs invented behind ${levels} ground nibbles`,
    isWithheld: true,
    committed,
    records: freeMap(nodeOf(leavesOfEntries(entries)) as FreeNode),
    truth: truthOf(committed),
  }
}
