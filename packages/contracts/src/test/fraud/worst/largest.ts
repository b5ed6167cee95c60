import { partsOf } from '@ratatosk/block'
import { concatBytes } from '@ratatosk/cbor'
import { blake2b256, type OutputReference, profileLimits } from '@ratatosk/ledger'
import { deepened, freeMap, leavesOf, nodeOf } from '../../../../../protocol/dist/fraud/test/free-map.js'
import { operator } from '../../world.js'
import {
  blockOf,
  type Entries,
  fillers,
  hexOf,
  measuredSizes,
  noteOutputs,
  outputRecord,
  payment,
  type TestBlock,
} from '../blocks.js'
import { list, map, openList, openMap, string, uint } from '../transaction/transactions.js'

/*
 * The largest transactions that layer 2 allows, in the encodings that cost layer 1 most.
 */

type Field = readonly [key: number, item: Uint8Array]

/** Counts CBOR items, as the profile does: breaks are items too. */
function itemsOf(cbor: Uint8Array): number {
  let items = 0
  for (let place = 0; place < cbor.length; ) {
    const first = cbor[place++] as number
    items++
    if (first === 0xff) continue
    const info = first & 31
    const width = info > 23 && info < 28 ? 1 << (info - 24) : 0
    let argument = width === 0 ? info : 0
    for (const byte of cbor.subarray(place, place + width)) argument = argument * 256 + byte
    place += width
    if (first >= 0x40 && first < 0x80 && info !== 31) place += argument
  }
  return items
}

/** A field of a map that has so many items of a kind. */
type Filler = readonly [key: number, item: (count: number) => Uint8Array]

/** A map whose first field is filled until the whole has as many items and bytes as are allowed. */
function filled(
  fields: readonly Field[],
  [key, itemOf]: Filler,
  maximum: { readonly items: number; readonly bytes: number },
): Uint8Array {
  const whole = (count: number) =>
    openMap(
      ...(count > 0 ? [[uint(key), itemOf(count)] as const] : []),
      ...fields.map(([own, item]) => [uint(own), item] as const),
    )
  let [low, high] = [0, maximum.items]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const cbor = whole(middle)
    if (itemsOf(cbor) <= maximum.items && cbor.length <= maximum.bytes) low = middle
    else high = middle - 1
  }
  return whole(low)
}

export const numbered = (length: number, number: number) => {
  const bytes = new Uint8Array(length)
  new DataView(bytes.buffer).setUint32(0, number + 1)
  return bytes
}

const signersFiller: Filler = [
  14,
  (count) => openList(...Array.from({ length: count }, (_, i) => string(numbered(28, i)))),
]

const mintKey = 9
const isMint = ([key]: Field): boolean => key === mintKey
/** Names whose length has a byte of its own cost most to pass. */
const mintFiller: Filler = [
  mintKey,
  (count) =>
    openMap([
      string(numbered(28, 0)),
      openMap(...Array.from({ length: count }, (_, i) => [string(numbered(24, i)), uint(1)] as const)),
    ]),
]

export interface Worst {
  readonly id: Uint8Array
  readonly body: Uint8Array
  readonly cbor: Uint8Array
}

/**
 * A transaction whose body begins with as many minted assets as fit, or required signers if it has a mint of
 * its own, and whose witness set, if it has fields (given in order), begins with as many items of a field as
 * fit.
 */
export function worst(
  fields: readonly Field[],
  witnesses: { readonly fields: readonly Field[]; readonly filler?: Filler } | Uint8Array = map(),
  fillBody: boolean | 'signers' = true,
  ownBody?: Uint8Array,
): Worst {
  const { bodyItems, bodyBytes, witnessSetItems, witnessSetBytes } = profileLimits
  const body =
    ownBody ??
    (fillBody
      ? filled(fields, fillBody === 'signers' || fields.some(isMint) ? signersFiller : mintFiller, {
          items: bodyItems,
          bytes: bodyBytes,
        })
      : openMap(...fields.map(([own, item]) => [uint(own), item] as const)))
  const id = blake2b256(body)
  const maximum = { items: witnessSetItems, bytes: witnessSetBytes }
  const witnessSet =
    witnesses instanceof Uint8Array
      ? witnesses
      : witnesses.filler
        ? filled(witnesses.fields, witnesses.filler, maximum)
        : openMap(...witnesses.fields.map(([own, item]) => [uint(own), item] as const))
  return { id, body, cbor: concatBytes(Uint8Array.of(0x84), body, witnessSet, Uint8Array.of(0xf5, 0xf6)) }
}

/** References to outputs that are there before the block. */
const coinAt = (place: number): OutputReference => ({ transactionId: numbered(32, place), index: 300 })

export const coins = (from: number, count: number): OutputReference[] =>
  Array.from({ length: count }, (_, i) => coinAt(from + i))

/** Items that no limit of its own counts, of the kind that costs most to pass: data has no dearer one. */
export const keyFiller: Filler = [2, (count) => openList(...Array.from({ length: count }, () => openList()))]

/** Key witnesses of as many keys as may sign. */
export function keyWitnesses(count: number = profileLimits.keyWitnesses): Uint8Array {
  return openList(
    ...Array.from({ length: count }, (_, i) => list(string(numbered(32, i)), string(new Uint8Array(64)))),
  )
}

/** As many redeemers as there may be; none points to an input. */
export const redeemers = (count: number): Uint8Array =>
  map(
    ...Array.from({ length: count }, (_, i) => {
      const units = list(uint(2 ** 32), uint(2 ** 33))
      return [list(uint(0), uint(1000 + i)), list(uint(i), units)] as const
    }),
  )

/** Outputs that are unspent before a block. */
export type Coins = readonly (readonly [reference: OutputReference, output: Uint8Array])[]

/** The ways to entries: as in a map of {@link measuredSizes}, or as deep as in a false map. */
export type Ways = 'many' | 'deep'

/** A block of transactions over many outputs. */
export function amongMany(
  ways: Ways,
  transactions: readonly Uint8Array[],
  coins: Coins,
  lie: (entries: Entries) => void = () => undefined,
  noted: readonly string[] = [],
): TestBlock {
  for (const transaction of transactions) {
    const { id, outputs } = partsOf(transaction)
    noteOutputs(id, outputs)
  }
  const outputs: Entries = new Map(coins.map(([reference, output]) => [hexOf(reference), output]))
  for (const key of fillers(measuredSizes.outputs, [...outputs.keys(), ...noted]))
    outputs.set(key, payment(1, 2_000_000n))
  const block = blockOf(transactions, outputs, {
    entries(entries) {
      const others = ways === 'many' ? measuredSizes.entries : 0
      for (const key of fillers(others, [...entries.keys(), ...noted], measuredSizes.outputs))
        entries.set(key, outputRecord(0n, 1n, payment(1, 2_000_000n)))
      lie(entries)
    },
    header: { operatorVkey: operator.hash },
  })
  return ways === 'many' ? block : withDeepWays(block)
}

/** A block with the same transactions map, but each entry behind as many branches as fit into a path. */
function withDeepWays(block: TestBlock): TestBlock {
  const deep = freeMap(deepened(nodeOf(leavesOf(block.entries))))
  const prove = (key: Uint8Array) => deep.openPath(blake2b256(key)).proof
  return {
    ...block,
    header: { ...block.header, transactionsRoot: deep.root },
    map: { prove, proveAbsence: prove, openPath: deep.openPath },
  }
}
