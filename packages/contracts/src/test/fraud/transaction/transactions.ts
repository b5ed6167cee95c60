import { judgeBlock, partsOf } from '@ratatosk/block'
import { concatBytes, fromHex } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeOutputReference,
  decodeTransaction,
  decodeTransactionOutput,
  encodeOutputReference,
  type OutputReference,
  outputReferenceKey,
  type PredicateFailure,
  validateProfile,
} from '@ratatosk/ledger'
import type { Asset } from '@ratatosk/protocol/fraud'
import type { ProvableRules } from '../../../fraud-scripts.js'
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
  type TestBlock,
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
export const silver: Tokens[number] = [policy(1), text('a name of silver that is longer!'), 3n]
export const other: Tokens[number] = [policy(2), text(''), 9n]
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

/** The witnesses and needed scripts that the transactions of these tests lack: other policies prove that. */
const ofWitnesses = new Set([
  'InvalidWitnessesUTXOW',
  'MissingVKeyWitnessesUTXOW',
  'MissingScriptWitnessesUTXOW',
  'MissingRedeemers',
  'ExtraRedeemers',
  'ExtraneousScriptWitnessesUTXOW',
  'NotAllowedSupplementalDatums',
  'PPViewHashesDontMatch',
  'ScriptIntegrityHashMismatch',
  'BadInputsUTxO',
  'NoCollateralInputs',
  'InsufficientCollateral',
  // Scripts are bytes of a size here, no programs.
  'MalformedReferenceScripts',
  'MalformedScriptWitnesses',
])

/** The predicates, besides those ignored, for which `judgeBlock` refuses the transactions of a block. */
export async function transactionRulesBrokenBy(
  block: TestBlock,
  { parameters, networkId, slots }: ProvableRules = rules,
  ignored: ReadonlySet<string> = ofWitnesses,
): Promise<string[]> {
  const before = new Map(
    Array.from(block.outputsBefore, ([key, output]) => [
      outputReferenceKey(decodeOutputReference(fromHex(key))),
      decodeTransactionOutput(output),
    ]),
  )
  const broken: string[] = []
  // One at a time, because judging ends at the first transaction that lacks a witness.
  for (const transaction of block.transactions) {
    try {
      await judgeBlock([transaction], block.header, withOutputsOf(block, before), {
        parameters,
        networkId,
        slots,
      })
    } catch (error) {
      const { failures } = error as { failures?: readonly PredicateFailure[] }
      broken.push(...(failures?.map(ruleOf) ?? ['malformed']))
    }
  }
  return broken.filter((predicate) => !ignored.has(predicate))
}

const ruleOf = ({ predicate, details }: PredicateFailure): string =>
  details.part === 'transaction' ? `${predicate}, of a whole transaction` : predicate

function withOutputsOf(block: TestBlock, before: Map<string, ReturnType<typeof decodeTransactionOutput>>) {
  const all = new Map(before)
  for (const transaction of block.transactions) {
    const { id, outputs } = partsOf(transaction)
    for (const [index, output] of outputs.entries())
      all.set(outputReferenceKey({ transactionId: id, index }), decodeTransactionOutput(output))
  }
  return all
}

/** Pays everything that the inputs hold, but for the fee, to one output. */
export const pays = (lovelace: bigint, tokens = goldTokens) => outputWith({ lovelace, tokens })

export const withGold = (
  input = specials.gold,
  tokens = goldTokens,
  minted?: readonly (typeof gold)[],
): Plan => ({
  inputs: [input],
  outputs: [pays(4_800_000n, tokens)],
  ...(minted && { fields: [[9, assetsOf(minted)]] }),
})

const assetsOf = (tokens: readonly (typeof gold)[]) =>
  map(...tokens.map(([id, name, quantity]) => [string(id), map([string(name), int(quantity)])] as const))

export const goldAsset: Asset = { policy: gold[0], name: gold[1] }

export const moreGold: typeof gold = [gold[0], gold[1], gold[2] + 1n]

export const script = (byte: number) => Uint8Array.of(0xf0, ...policy(byte))

export const withdrawing = (...entries: readonly (readonly [Uint8Array, bigint])[]): Plan => ({
  fields: [[5, map(...entries.map(([account, amount]) => [string(account), uint(amount)] as const))]],
})

export const zeroWithdrawals = withdrawing([script(1), 0n], [script(2), 0n])

export const interval = (from?: bigint, until?: bigint): Plan => ({
  fields: [
    ...(until === undefined ? [] : [[3, uint(until)] as const]),
    ...(from === undefined ? [] : [[8, uint(from)] as const]),
  ],
})

export const data = map([uint(1), list(...Array.from({ length: 5 }, () => string(new Uint8Array(60))))])

/** A redeemer that declares as many units as cost 0.1 ada. */
const units = list(uint(1_000_000), uint(587_000_000))

export const redeemerList = (...pointers: readonly (readonly [number, number])[]) =>
  map([
    uint(5),
    list(
      ...pointers.map(([purpose, index]) => list(uint(purpose), uint(index), list(uint(1), uint(2)), units)),
    ),
  ])

export const redeemerMap = (...pointers: readonly (readonly [number, number])[]) =>
  map([
    uint(5),
    openMap(
      ...pointers.map(
        ([purpose, index]) => [list(uint(purpose), uint(index)), list(string(text('x')), units)] as const,
      ),
    ),
  ])

/** A transfer with as little fee as its bytes cost, and what is missing added by `more`. */
export const leastFee = (plan: Plan, more = 0n): Plan => {
  let least = 0n
  for (let tries = 0; tries < 3; tries++) {
    const size = BigInt(blockWith({ ...plan, ...paying(least) }).transactions[0]!.length - 1)
    least = 44n * size + 155_381n + more
  }
  return { ...plan, ...paying(least) }
}

const paying = (amount: bigint): Plan => ({
  fee: amount,
  outputs: [payment(60, 3_000_000n), payment(61, 7_000_000n - amount)],
})

/** Of two redeemers, rounded up. */
export const unitsFee = 200_046n

/** Names that are minted and paid, and keys that must sign: each key is an item. */
export function withSigners(count: number): Plan {
  const names = Array.from({ length: 100 }, (_, i) => [string(Uint8Array.of(i, i)), uint(1)] as const)
  const tokens = map([string(policy(5)), map(...names)])
  const value = list(uint(9_000_000), tokens)
  return {
    fee: 1_000_000n,
    outputs: [map([uint(0), string(keyAddress(60))], [uint(1), value])],
    fields: [
      [9, tokens],
      [14, list(...Array.from({ length: count }, (_, i) => string(new Uint8Array(28).fill(i))))],
    ],
  }
}

/** The fewest keys with which the body has too many items. */
export const tooMany =
  Array.from({ length: 250 }, (_, count) => count).find((count) =>
    validateProfile(decodeTransaction(transfer(withSigners(count + 1)).cbor)).some(
      ({ predicate }) => predicate === 'TooManyItems',
    ),
  )! + 1

export const many = (count: number) => list(...Array.from({ length: count }, () => uint(1)))
