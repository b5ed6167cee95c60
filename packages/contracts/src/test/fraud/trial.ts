import { type Header, headerHash } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { constrOf, decodePlutusData, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'
import type { PlutusScript } from '../../scripts.js'
import type { Evaluate } from '../evaluate.js'
import {
  BytesData,
  ConstrData,
  type Data,
  dataOf,
  Failure,
  IntData,
  ListData,
  listOf,
  MapData,
  Pair,
  unit,
} from '../uplc/builtins.js'
import { translate } from '../uplc/translate.js'
import type { Draw } from './draw.js'
import { mintingOf } from './minting.js'

const sizes = new WeakMap<object, number>()

/** How many parts data has, itself included. */
function sizeOf(data: PlutusData): number {
  if (typeof data === 'bigint' || data instanceof Uint8Array) return 1
  const size = sizes.get(data) ?? 1 + itemsOf(data).reduce((sum, item) => sum + sizeOf(item), 0)
  sizes.set(data, size)
  return size
}

const itemsOf = (data: Exclude<PlutusData, bigint | Uint8Array>): readonly PlutusData[] =>
  'fields' in data ? data.fields : data

/** The part at a place, counted from the whole downwards. */
function partAt(data: PlutusData, place: number): PlutusData {
  let found = data
  replaced(data, place, (part) => {
    found = part
    return part
  })
  return found
}

function replaced(data: PlutusData, place: number, change: (part: PlutusData) => PlutusData): PlutusData {
  if (place === 0 || typeof data === 'bigint' || data instanceof Uint8Array) return change(data)
  let left = place - 1
  const items = [...itemsOf(data)]
  for (const [index, item] of items.entries()) {
    const size = sizeOf(item)
    if (left < size) {
      items[index] = replaced(item, left, change)
      break
    }
    left -= size
  }
  return 'fields' in data ? { index: data.index, fields: items } : items
}

/** The ways to mutate a part: put a part of another redeemer there, or change it. */
const mutationKinds = ['foreign part', 'integer', 'cut', 'bit', 'items', 'constructor'] as const
type MutationKind = (typeof mutationKinds)[number]

interface Mutated {
  readonly redeemer: PlutusData
  /** The last mutation. */
  readonly kind: MutationKind
}

/** The redeemer, the header and its fields: a changed header has another hash. */
const headerParts = 12

/** A redeemer with a few parts exchanged, changed or removed: foreign keys, swapped sides, short proofs. */
export function mutated(redeemer: PlutusData, pool: readonly PlutusData[], draw: Draw): Mutated {
  let result = redeemer
  let kind: MutationKind = 'items'
  for (let times = 1 + draw(2); times > 0; times--) {
    const count = sizeOf(result) - headerParts
    if (count <= 0) break
    result = replaced(result, headerParts + draw(count), (part) => {
      const [value, done] = changed(part, pool, draw)
      kind = done
      return value
    })
  }
  return { redeemer: result, kind }
}

/** How often a part of the same kind is looked for in other redeemers. */
const looks = 30

function foreignPart(data: PlutusData, pool: readonly PlutusData[], draw: Draw): PlutusData {
  const other = pool[draw(pool.length)]!
  for (let look = 0; look < looks; look++) {
    const part = partAt(other, draw(sizeOf(other)))
    if (kindOf(part) === kindOf(data)) return part
  }
  return data
}

function changed(data: PlutusData, pool: readonly PlutusData[], draw: Draw): [PlutusData, MutationKind] {
  if (draw(3) === 0) return [foreignPart(data, pool, draw), 'foreign part']
  if (typeof data === 'bigint') return [[data + 1n, data - 1n, -1n, 0n, 2n ** 63n][draw(5)]!, 'integer']
  if (data instanceof Uint8Array) {
    if (data.length === 0 || draw(4) === 0)
      return [data.subarray(draw(2), [data.length - draw(3), data.length >> 1, 0][draw(3)]), 'cut']
    const place = draw(data.length)
    return [data.with(place, data[place]! ^ (1 << draw(8))), 'bit']
  }
  const items = itemsOf(data)
  const left = draw(Math.max(1, items.length))
  const fewer = items.filter((_, place) => place !== left)
  const rest = [fewer, [...items].reverse(), [...items, ...items.slice(-1)]][draw(3)]!
  if (!('fields' in data)) return [rest, 'items']
  return draw(4) === 0
    ? [{ index: draw(12), fields: items }, 'constructor']
    : [{ index: data.index, fields: rest }, 'items']
}

const kindOf = (data: PlutusData): string =>
  typeof data === 'bigint'
    ? 'integer'
    : data instanceof Uint8Array
      ? 'bytes'
      : 'fields' in data
        ? 'constr'
        : 'list'

/** The redeemers in which one byte string, behind the header, is empty, half as long, or a byte shorter. */
export function* shortened(redeemer: PlutusData): Generator<PlutusData> {
  for (let place = headerParts; place < sizeOf(redeemer); place++) {
    const part = partAt(redeemer, place)
    if (!(part instanceof Uint8Array)) continue
    for (const length of new Set([0, part.length >> 1, part.length - 1]))
      if (length >= 0 && length < part.length) yield replaced(redeemer, place, () => part.subarray(0, length))
  }
}

/** The result of a script for a redeemer: `deep` if it exceeds the stack of JavaScript. */
export type Ruling = 'accepted' | 'refused' | 'deep'

/**
 * A minting policy as a function of JavaScript, without costs: whether it mints a token of this name.
 * `tokens` are names of its tokens that reference inputs hold.
 */
export type TranslatedPolicy = (
  redeemer: PlutusData,
  name: Uint8Array,
  tokens?: readonly Uint8Array[],
) => Ruling

export const translatePolicy = (script: PlutusScript): TranslatedPolicy => translatePolicies(script)([])

/** A policy that takes parameters, translated once: the policy for each list of parameters. */
export function translatePolicies(
  script: PlutusScript,
): (parameters: readonly PlutusData[]) => TranslatedPolicy {
  const unapplied = translate(script)
  const policy = new BytesData(script.hash)
  const nothing = new ListData(null)
  return (parameters) => {
    const run = parameters.reduce((applied, parameter) => applied(dataOf(parameter)) as Script, unapplied)
    const valueWith = (name: Uint8Array) =>
      new MapData(
        listOf([new Pair(policy, new MapData(listOf([new Pair(new BytesData(name), new IntData(1))])))]),
      )
    const holding = (name: Uint8Array) =>
      new ConstrData(0, listOf<Data>([nothing, new ConstrData(0, listOf<Data>([nothing, valueWith(name)]))]))
    return (redeemer, name, tokens = []) => {
      // The policies read of a transaction its reference inputs and its mint.
      const held = new ListData(listOf<Data>(tokens.map(holding)))
      const transaction = new ConstrData(
        0,
        listOf<Data>([nothing, held, nothing, new IntData(0), valueWith(name)]),
      )
      const purpose = new ConstrData(0, listOf<Data>([policy]))
      try {
        const value = run(new ConstrData(0, listOf<Data>([transaction, dataOf(redeemer), purpose])))
        return value === unit ? 'accepted' : 'refused'
      } catch (error) {
        if (error instanceof Failure) return 'refused'
        if (error instanceof RangeError && /call stack/.test(error.message)) return 'deep'
        throw error
      }
    }
  }
}

type Script = ReturnType<typeof translate>

/** How many redeemers were tried, and how many of them by the machine. */
interface Tally {
  tried: number
  byMachine: number
}

export interface TrialOptions {
  readonly script: PlutusScript
  readonly machine: Evaluate
  /** The machine tries the first redeemers of each kind, and after them one by so many. */
  readonly first: number
  readonly every: number
}

/** A redeemer, and the names of the policy's tokens that it may refer to. */
export type Stated = readonly [fraud: string, redeemer: Uint8Array, tokens?: readonly Uint8Array[]]

/** Tries redeemers of a policy against honest blocks. */
export interface Trial {
  /** Tries redeemers and changes of them. Rejects if the policy accepts one, or the engines disagree. */
  expectNoVerdict(header: Header, stated: readonly Stated[], mutations: number, draw: Draw): Promise<void>
  /** By fraud, and by fraud and kind of mutation. */
  readonly tallies: ReadonlyMap<string, Tally>
}

/** Of a block before, how many redeemers give parts to those of the next. */
const kept = 200

export function openTrial({ script, machine, first, every }: TrialOptions): Trial {
  const rule = translatePolicy(script)
  const tallies = new Map<string, Tally>()
  let earlier: PlutusData[] = []

  async function expectRefused(
    kind: string,
    name: Uint8Array,
    redeemer: PlutusData,
    tokens: readonly Uint8Array[] = [],
  ) {
    const tally = tallies.get(kind) ?? { tried: 0, byMachine: 0 }
    tallies.set(kind, tally)
    tally.tried++
    const ruling = rule(redeemer, name, tokens)
    let isAccepted = ruling === 'accepted'
    if (ruling === 'deep' || tally.tried <= first || tally.tried % every === 0) {
      tally.byMachine++
      const { ok } = machine(mintingOf({ script, redeemer: encodePlutusData(redeemer), name, tokens }))
      if (ruling !== 'deep' && ok !== isAccepted)
        throw new Error(`${kind}: the translated script and the machine disagree: ${hexOf(redeemer)}`)
      isAccepted = ok
    }
    if (isAccepted) throw new Error(`${kind} is accepted: ${hexOf(redeemer)}`)
  }

  return {
    async expectNoVerdict(header, stated, mutations, draw) {
      const name = headerHash(header)
      const own = withOneHeader(stated.map(([, redeemer]) => decodePlutusData(redeemer)))
      for (const [place, redeemer] of own.entries()) {
        const [fraud, , tokens] = stated[place]!
        await expectRefused(fraud, name, redeemer, tokens)
      }
      const pool = [...own, ...earlier]
      for (let i = 0; i < mutations && own.length > 0; i++) {
        const place = draw(own.length)
        const { redeemer, kind } = mutated(own[place]!, pool, draw)
        const [fraud, , tokens] = stated[place]!
        await expectRefused(`${fraud}, ${kind}`, name, redeemer, tokens)
      }
      earlier = own.slice(0, kept)
    },
    tallies,
  }
}

const hexOf = (redeemer: PlutusData): string => toHex(encodePlutusData(redeemer))

/** Lets redeemers share one header, the first field of each, which is then converted and serialised once. */
function withOneHeader(redeemers: readonly PlutusData[]): PlutusData[] {
  const [first] = redeemers.map(fieldsOfConstr)
  return redeemers.map((redeemer) => {
    const { index, fields } = constrOf(redeemer, 'a redeemer')
    return { index, fields: [first![0]!, ...fields.slice(1)] }
  })
}

const fieldsOfConstr = (data: PlutusData) => constrOf(data, 'a redeemer').fields
