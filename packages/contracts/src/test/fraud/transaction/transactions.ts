import { concatBytes } from '@ratatosk/cbor'
import { blake2b256, encodeOutputReference, type OutputReference } from '@ratatosk/ledger'
import type { ProvableRules } from '../../../fraud/rules.js'
import { parameters } from '../../evaluate.js'
import {
  blockOf,
  coin0,
  coin1,
  coin2,
  type Drafted,
  hexOf,
  noteOutputs,
  outputsBefore,
  payment,
} from '../blocks.js'

/*
 * Transactions whose every part can be chosen, over the outputs of the story.
 */

/** The rules of the layer 2: the blocks of these tests lie in its slots 1005 to 1034. */
export const rules: ProvableRules = {
  parameters,
  networkId: 0,
  slots: { zeroTime: 1_699_999_000_000n, zeroSlot: 5n, slotLength: 1000 },
}
export const firstSlot = 1005n
export const lastSlot = 1034n

/** CBOR with the shortest heads. */
const head = (major: number, argument: number | bigint): Uint8Array => {
  const value = BigInt(argument)
  const width = value < 24n ? 0 : value < 256n ? 1 : value < 65_536n ? 2 : value < 2n ** 32n ? 4 : 8
  return longHead(major, value, width)
}
/** A head whose argument has so many bytes; with 0, it is in the first byte. */
export function longHead(major: number, argument: bigint, width: number): Uint8Array {
  if (width === 0) return Uint8Array.of((major << 5) | Number(argument))
  const bytes = new Uint8Array(1 + width)
  bytes[0] = (major << 5) | (24 + Math.log2(width))
  for (let i = width, rest = argument; i > 0; i--, rest >>= 8n) bytes[i] = Number(rest & 0xffn)
  return bytes
}
export const uint = (value: number | bigint): Uint8Array => head(0, value)
/** An integer of any sign. */
export const int = (value: bigint): Uint8Array => (value < 0n ? head(1, -1n - value) : uint(value))
export const string = (bytes: Uint8Array): Uint8Array => concatBytes(head(2, bytes.length), bytes)
export const list = (...items: readonly Uint8Array[]): Uint8Array =>
  concatBytes(head(4, items.length), ...items)
export const map = (...entries: readonly (readonly [Uint8Array, Uint8Array])[]): Uint8Array =>
  concatBytes(head(5, entries.length), ...entries.flat())
/** The same with indefinite length. */
export const openList = (...items: readonly Uint8Array[]): Uint8Array =>
  concatBytes(Uint8Array.of(0x9f), ...items, Uint8Array.of(0xff))
export const openMap = (...entries: readonly (readonly [Uint8Array, Uint8Array])[]): Uint8Array =>
  concatBytes(Uint8Array.of(0xbf), ...entries.flat(), Uint8Array.of(0xff))
export const tagged = (tag: number, item: Uint8Array): Uint8Array => concatBytes(head(6, tag), item)
export const encoded = (cbor: Uint8Array): Uint8Array => tagged(24, string(cbor))

export const keyAddress = (key: number, header = 0x60): Uint8Array =>
  Uint8Array.of(header, ...new Uint8Array(28).fill(key))
export const policy = (byte: number): Uint8Array => new Uint8Array(28).fill(byte)
export const text = (name: string): Uint8Array => new TextEncoder().encode(name)

export type Tokens = readonly (readonly [policy: Uint8Array, name: Uint8Array, quantity: bigint])[]

/** A map of policies to maps of names, in order; only a repeated last policy shares an entry. */
export function assets(tokens: Tokens, shape: typeof map = map): Uint8Array {
  const byPolicy = new Map<string, (readonly [Uint8Array, Uint8Array])[]>()
  for (const [id, name, quantity] of tokens) {
    const key = Buffer.from(id).toString('hex')
    byPolicy.set(key, [...(byPolicy.get(key) ?? []), [string(name), int(quantity)]])
  }
  return shape(
    ...Array.from(byPolicy, ([id, names]) => [string(Buffer.from(id, 'hex')), shape(...names)] as const),
  )
}

export interface OutputPlan {
  readonly address?: Uint8Array
  readonly lovelace: bigint
  readonly tokens?: Tokens
  /** CBOR of `[language, script]`. */
  readonly script?: Uint8Array
  readonly datumHash?: Uint8Array
  readonly form?: 'map' | 'array' | 'indefinite map' | 'indefinite array'
}

export function outputWith(plan: OutputPlan): Uint8Array {
  const { address = keyAddress(90), lovelace, tokens = [], script, datumHash, form = 'map' } = plan
  const open = form.startsWith('indefinite')
  const [lists, maps] = open ? [openList, openMap] : [list, map]
  const value = tokens.length === 0 ? uint(lovelace) : lists(uint(lovelace), assets(tokens, maps))
  if (form.endsWith('array')) return lists(string(address), value)
  const fields: (readonly [Uint8Array, Uint8Array])[] = [
    [uint(0), string(address)],
    [uint(1), value],
  ]
  if (datumHash) fields.push([uint(2), list(uint(0), string(datumHash))])
  if (script) fields.push([uint(3), encoded(script)])
  return maps(...fields)
}

export interface Plan {
  readonly inputs?: readonly OutputReference[]
  readonly referenceInputs?: readonly OutputReference[]
  readonly outputs?: readonly Uint8Array[]
  readonly fee?: bigint
  /** Further fields of the body, by key, as encoded; one of the above replaces it. */
  readonly fields?: readonly (readonly [key: number, item: Uint8Array])[]
  readonly witnessSet?: Uint8Array
  /** The body as it is, in place of all above but the witness set. */
  readonly body?: Uint8Array
  readonly auxiliaryData?: Uint8Array
  readonly indefinite?: boolean
}

export const references = (set: readonly OutputReference[]): Uint8Array =>
  concatBytes(head(6, 258), list(...set.map(encodeOutputReference)))

/** The sum that `transfer` pays: the outputs and the fee are what the inputs hold. */
export const paid = 9_800_000n

/** A transaction that moves the lovelace of two outputs, but for what is planned. */
export function transfer(plan: Plan = {}): Drafted {
  const { inputs = [coin0, coin1], referenceInputs = [], fee = 200_000n } = plan
  const { outputs = [payment(60, 3_000_000n), payment(61, paid - 3_000_000n)] } = plan
  const { witnessSet = map(), auxiliaryData } = plan
  const fields = new Map<number, Uint8Array>([
    [0, references(inputs)],
    [1, list(...outputs)],
    [2, uint(fee)],
    ...(referenceInputs.length > 0 ? [[18, references(referenceInputs)] as const] : []),
    ...(auxiliaryData ? [[7, string(blake2b256(auxiliaryData))] as const] : []),
    ...(plan.fields ?? []),
  ])
  const entries = Array.from(fields, ([key, item]) => [uint(key), item] as const)
  const body = plan.body ?? (plan.indefinite ? openMap(...entries) : map(...entries))
  const id = blake2b256(body)
  noteOutputs(id, outputs)
  const rest = auxiliaryData ?? Uint8Array.of(0xf6)
  return { id, body, cbor: concatBytes(Uint8Array.of(0x84), body, witnessSet, Uint8Array.of(0xf5), rest) }
}

/** The outputs unspent before: those of the story, and more. */
export const special = (index: number): OutputReference => ({
  transactionId: new Uint8Array(32).fill(0xbb),
  index,
})
const plutus = (size: number): Uint8Array => list(uint(3), string(new Uint8Array(size).fill(1)))
const native = list(uint(0), list(uint(0), string(policy(7))))
/** Outputs with tokens in every form, and with reference scripts. */
export const specials = {
  gold: special(0),
  goldInArray: special(1),
  goldOpen: special(2),
  plutus: special(300),
  native: special(301),
  large: special(302),
  looselyGold: special(303),
} as const
export const gold: Tokens[number] = [policy(1), text('gold'), 7n]
const silver: Tokens[number] = [policy(1), text('a name of silver that is longer!'), 3n]
const other: Tokens[number] = [policy(2), text(''), 9n]
export const goldTokens: Tokens = [other, silver, gold]
/** Gold whose name has a head that is not the shortest: only a genesis may hold it. */
const loosely = map(
  [uint(0), string(keyAddress(9))],
  [
    uint(1),
    list(
      uint(5_000_000n),
      map([string(policy(1)), map([concatBytes(longHead(2, 4n, 1), text('gold')), uint(7)])]),
    ),
  ],
)
const specialOutputs: readonly (readonly [OutputReference, Uint8Array])[] = [
  [specials.gold, outputWith({ lovelace: 5_000_000n, tokens: goldTokens })],
  [specials.goldInArray, outputWith({ lovelace: 5_000_000n, tokens: goldTokens, form: 'array' })],
  [specials.goldOpen, outputWith({ lovelace: 5_000_000n, tokens: goldTokens, form: 'indefinite map' })],
  [specials.plutus, outputWith({ lovelace: 50_000_000n, script: plutus(2000) })],
  [specials.native, outputWith({ lovelace: 50_000_000n, script: native })],
  [specials.large, outputWith({ lovelace: 500_000_000n, script: plutus(60_000) })],
  [specials.looselyGold, loosely],
]

/** Outputs of 5 ada: 27 of nine items, two of four, and one of three. */
export const ofManyItems: readonly (readonly [OutputReference, Uint8Array])[] = Array.from(
  { length: 54 },
  (_, i) => {
    const [address, hash] = [string(keyAddress(i)), string(new Uint8Array(32))]
    const short = [address, uint(5_000_000), ...(i === 52 ? [hash] : [])]
    const script = list(uint(0), list(uint(0), string(policy(i))))
    const long = map(
      [uint(0), address],
      [uint(1), uint(5_000_000)],
      [uint(2), list(uint(0), hash)],
      [uint(3), encoded(script)],
    )
    return [special(400 + i), i < 49 ? long : list(...short)]
  },
)

export const unspentBefore = () =>
  new Map([
    ...outputsBefore(),
    ...[...specialOutputs, ...ofManyItems].map(([key, output]) => [hexOf(key), output] as const),
  ])

export const blockWith = (plan?: Plan) => blockOf([transfer(plan).cbor], unspentBefore())
export { coin0, coin1, coin2 }
