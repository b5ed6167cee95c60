/*
 * The type that the ledger decodes for each item of a body and witness set, unless other claims have it: the
 * transaction policy and the search for frauds read items by the same types.
 */

/** How the parts of an item are read. */
export const FormKind = {
  /** A number or a string, without parts. */
  leaf: 0,
  /** All parts are of one type. */
  list: 1,
  /** Each part has a type of its own. */
  record: 2,
  /** Keys and values in turn have two. */
  map: 3,
  /** Values have a type each, by their keys below 24. */
  keyed: 4,
  /** A string that holds an item. */
  embedded: 5,
  /** An array whose first part, a number, says what type it is. */
  variant: 6,
  /** A string of Plutus data, which may be in chunks. */
  chunks: 7,
  /** A tag of Plutus data. */
  dataTag: 8,
  address: 9,
  /** A record of definite length. */
  pair: 10,
  /** One part, behind a tag. */
  tagged: 11,
} as const

/** Types by their numbers in the script, from 1. */
export const itemTypeNames = [
  'body',
  'witnessSet',
  'references',
  'members',
  'outputs',
  'withdrawals',
  'hash28',
  'hash32',
  'mint',
  'mintedNames',
  'minted',
  'signers',
  'output',
  'address',
  'value',
  'assets',
  'names',
  'quantity',
  'datum',
  'datumHash',
  'inlineDatum',
  'encodedData',
  'dataString',
  'script',
  'scriptString',
  'anyScript',
  'nativeScript',
  'plutusScript',
  'bytes',
  'native',
  'keySigns',
  'allOf',
  'someOf',
  'slot',
  'natives',
  'integer',
  'natural',
  'data',
  'chunk',
  'bignum',
  'dataPair',
  'dataList',
  'nativeScripts',
  'bootstrapWitnesses',
  'bootstrapWitness',
  'plutusScripts',
  'datums',
  'redeemers',
  'redeemer',
  'pointer',
  'redeemed',
  'purpose',
  'index',
  'units',
  'unit',
] as const

export type ItemType = (typeof itemTypeNames)[number]

/** The form that an item of one major type must have. */
export interface Form {
  readonly kind: keyof typeof FormKind
  /** Bounds of a number, of a length in bytes, of how many parts or entries there are, or of a tag. */
  readonly least: bigint
  readonly most: bigint
  /** By what the kind says; undefined for a part that other claims are about. */
  readonly parts: readonly (ItemType | undefined)[]
  /** Whether no two parts, of a map no two keys, may be equal. */
  readonly isDistinct: boolean
}

/** The forms of a type by major type. An item of any other is strange. */
export type Forms = Readonly<Partial<Record<0 | 1 | 2 | 4 | 5 | 6, Form>>>

const max64 = 2n ** 64n - 1n
const max63 = 2n ** 63n - 1n
const max32 = 2n ** 32n - 1n
const setTag = 258n
const encodedTag = 24n

const form = (kind: Form['kind'], least: bigint, most: bigint, parts: Form['parts'] = []): Form => ({
  kind,
  least,
  most,
  parts,
  isDistinct: false,
})
const distinct = (of: Form): Form => ({ ...of, isDistinct: true })
const number = (least: bigint, most: bigint): Form => form('leaf', least, most)
const string = (least: bigint, most: bigint): Forms => ({ 2: form('leaf', least, most) })
const list = (least: bigint, part?: ItemType): Form => form('list', least, max64, [part])
const map = (least: bigint, key?: ItemType, value?: ItemType): Form => form('map', least, max64, [key, value])
const record = (...parts: readonly (ItemType | undefined)[]): Forms => ({
  4: form('record', BigInt(parts.length), BigInt(parts.length), parts),
})
const variant = (...parts: readonly ItemType[]): Forms => ({
  4: form('variant', 0n, BigInt(parts.length - 1), parts),
})
const tagged = (tag: bigint, part: ItemType): Form => form('tagged', tag, tag, [part])
/** With or without a tag, behind which no other claim lets a tag be. */
const set = (self: ItemType, members: Form): Forms => ({ 4: members, 6: tagged(setTag, self) })
/** @param fields by key */
const keyed = (size: number, fields: Readonly<Record<number, ItemType>>): Form =>
  form(
    'keyed',
    0n,
    max64,
    Array.from({ length: size }, (_, key) => fields[key]),
  )

/** The forms of every type. */
export const itemTypes: { readonly [type in ItemType]: Forms } = {
  body: {
    5: keyed(24, {
      0: 'references',
      1: 'outputs',
      5: 'withdrawals',
      7: 'hash32',
      9: 'mint',
      11: 'hash32',
      13: 'members',
      14: 'signers',
      16: 'output',
      18: 'members',
    }),
  },
  witnessSet: {
    5: keyed(8, {
      0: 'members',
      1: 'nativeScripts',
      2: 'bootstrapWitnesses',
      3: 'plutusScripts',
      4: 'datums',
      5: 'redeemers',
      6: 'plutusScripts',
      7: 'plutusScripts',
    }),
  },
  references: set('references', list(0n)),
  members: set('members', list(1n)),
  outputs: { 4: list(0n, 'output') },
  withdrawals: { 5: distinct(map(1n)) },
  hash28: string(28n, 28n),
  hash32: string(32n, 32n),
  mint: { 5: distinct(map(1n, undefined, 'mintedNames')) },
  mintedNames: { 5: distinct(map(1n, undefined, 'minted')) },
  minted: { 0: number(1n, max63), 1: number(0n, max63) },
  signers: set('signers', distinct(list(1n, 'hash28'))),
  output: {
    4: form('record', 2n, 3n, ['address', 'value', 'hash32']),
    5: distinct(keyed(4, { 0: 'address', 1: 'value', 2: 'datum', 3: 'script' })),
  },
  address: { 2: form('address', 29n, max64) },
  value: { 0: number(0n, max64), ...record(undefined, 'assets') },
  assets: { 5: distinct(map(0n, undefined, 'names')) },
  names: { 5: distinct(map(1n, undefined, 'quantity')) },
  quantity: { 0: number(1n, max64) },
  datum: variant('datumHash', 'inlineDatum'),
  datumHash: record(undefined, 'hash32'),
  inlineDatum: record(undefined, 'encodedData'),
  encodedData: { 6: tagged(encodedTag, 'dataString') },
  dataString: { 2: form('embedded', 0n, max64, ['data']) },
  script: { 6: tagged(encodedTag, 'scriptString') },
  scriptString: { 2: form('embedded', 0n, max64, ['anyScript']) },
  anyScript: variant('nativeScript', 'plutusScript', 'plutusScript', 'plutusScript'),
  nativeScript: record(undefined, 'native'),
  plutusScript: record(undefined, 'bytes'),
  bytes: string(0n, max64),
  native: variant('keySigns', 'allOf', 'allOf', 'someOf', 'slot', 'slot'),
  keySigns: record(undefined, 'hash28'),
  allOf: record(undefined, 'natives'),
  someOf: record(undefined, 'integer', 'natives'),
  slot: record(undefined, 'natural'),
  natives: { 4: list(0n, 'native') },
  integer: { 0: number(0n, max63), 1: number(0n, max63) },
  natural: { 0: number(0n, max64) },
  data: {
    0: number(0n, max64),
    1: number(0n, max64),
    2: form('chunks', 0n, 64n, ['chunk']),
    4: list(0n, 'data'),
    5: map(0n, 'data', 'data'),
    6: form('dataTag', 0n, max64, ['bignum', 'dataPair', 'dataList']),
  },
  chunk: string(0n, 64n),
  bignum: { 2: form('chunks', 0n, 64n, ['chunk']) },
  dataPair: record('natural', 'dataList'),
  dataList: { 4: list(0n, 'data') },
  nativeScripts: set('nativeScripts', list(1n, 'native')),
  bootstrapWitnesses: set('bootstrapWitnesses', list(1n, 'bootstrapWitness')),
  bootstrapWitness: record(undefined, undefined, 'bytes', 'bytes'),
  plutusScripts: set('plutusScripts', distinct(list(1n, 'bytes'))),
  datums: set('datums', list(1n, 'data')),
  redeemers: { 4: list(1n, 'redeemer'), 5: map(1n, 'pointer', 'redeemed') },
  redeemer: record('purpose', 'index', 'data', 'units'),
  pointer: record('purpose', 'index'),
  redeemed: { 4: form('pair', 2n, 2n, ['data', 'units']) },
  purpose: { 0: number(0n, 5n) },
  index: { 0: number(0n, max32) },
  units: record('unit', 'unit'),
  unit: { 0: number(0n, max63) },
}
