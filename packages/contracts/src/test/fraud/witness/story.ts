import { CborWriter, concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeTransaction,
  encodeOutputReference,
  type OutputReference,
  type PlutusLanguage,
  scriptHash,
  scriptIntegrityHash,
} from '@ratatosk/ledger'
import { parameters } from '../../evaluate.js'
import { type TestKey, testKey } from '../../transaction.js'
import {
  blockOf,
  type Entries,
  hexOf,
  type Lie,
  noteOutputs,
  outputOf,
  payment,
  type TestBlock,
} from '../blocks.js'
import type { Draw } from '../draw.js'
import { looseEncoder } from '../loose-bodies.js'

/*
 * Transactions with signatures, scripts, redeemers and datums, in any encoding that layer 2 accepts.
 */

/** A Plutus script in a witness set or an output. */
export interface Plutus {
  readonly language: PlutusLanguage
  readonly bytes: Uint8Array
}

export const hashOf = ({ language, bytes }: Plutus): Uint8Array => scriptHash(language, bytes)
export const hashOfNative = (script: Uint8Array): Uint8Array => scriptHash('native', script)

export interface WitnessedDraft {
  readonly inputs: readonly OutputReference[]
  readonly referenceInputs?: readonly OutputReference[]
  readonly outputs: readonly Uint8Array[]
  /** Policies, each of which mints one token without a name. */
  readonly mint?: readonly Uint8Array[]
  /** Accounts, from each of which nothing is withdrawn. */
  readonly withdrawals?: readonly Uint8Array[]
  /** Hashes of keys. */
  readonly required?: readonly Uint8Array[]
  readonly validFrom?: number
  readonly validTo?: number
  readonly signers: readonly TestKey[]
  readonly bootstrap?: readonly TestKey[]
  readonly nativeScripts?: readonly Uint8Array[]
  readonly plutus?: readonly Plutus[]
  readonly datums?: readonly Uint8Array[]
  readonly redeemers?: readonly (readonly [purpose: number, index: number])[]
  readonly languages?: readonly PlutusLanguage[]
  /** In place of the right script data hash; null for none. */
  readonly scriptDataHash?: Uint8Array | null
  /** The bytes that the keys sign in place of the transaction's id. */
  readonly signed?: (key: TestKey, id: Uint8Array) => Uint8Array
}

interface WitnessedTransaction {
  readonly id: Uint8Array
  readonly body: Uint8Array
  readonly witnesses: Uint8Array
  readonly cbor: Uint8Array
}

const byLanguage = { PlutusV1: 3, PlutusV2: 6, PlutusV3: 7 } as const

/** Encodes and signs a transaction. @param draw draws the encoding; the common one by default */
export function witnessed(draft: WitnessedDraft, draw: Draw = () => 0): WitnessedTransaction {
  const { uint, bytes, array, map, set } = looseEncoder(draw, false)
  type Field = readonly [number, Uint8Array]
  const fields = (entries: readonly Field[]) => {
    const encoded = entries.map(([key, value]) => [uint(key), value] as const)
    return map(draw(4) === 3 ? encoded.reverse() : encoded)
  }
  const references = (all: readonly OutputReference[]) => set(all.map(encodeOutputReference))
  const { referenceInputs = [], mint = [], withdrawals = [], required = [] } = draft
  const bodyFields: Field[] = [
    [0, references(draft.inputs)],
    [1, array(draft.outputs)],
    [2, uint(200_000)],
  ]
  if (draft.validTo !== undefined) bodyFields.push([3, uint(draft.validTo)])
  if (withdrawals.length > 0)
    bodyFields.push([5, map(withdrawals.map((account) => [bytes(account), uint(0)] as const))])
  if (draft.validFrom !== undefined) bodyFields.push([8, uint(draft.validFrom)])
  if (mint.length > 0) {
    const one = () => map([[bytes(new Uint8Array()), uint(1)]])
    bodyFields.push([9, map(mint.map((policy) => [bytes(policy), one()] as const))])
  }
  if (required.length > 0) bodyFields.push([14, set(required.map(bytes))])
  if (referenceInputs.length > 0) bodyFields.push([18, references(referenceInputs)])

  const { nativeScripts = [], plutus = [], datums = [], redeemers = [] } = draft
  const witnessFields: Field[] = []
  if (nativeScripts.length > 0) witnessFields.push([1, set(nativeScripts)])
  for (const [language, key] of Object.entries(byLanguage)) {
    const scripts = plutus.filter((script) => script.language === language)
    if (scripts.length > 0) witnessFields.push([key, set(scripts.map((script) => bytes(script.bytes)))])
  }
  if (datums.length > 0) witnessFields.push([4, set(datums)])
  if (redeemers.length > 0) {
    const units = () => array([uint(1_000), uint(1_000_000)], true)
    const data = () => uint(42)
    const list = draw(2) === 1
    witnessFields.push([
      5,
      list
        ? array(redeemers.map(([purpose, index]) => array([uint(purpose), uint(index), data(), units()])))
        : map(
            redeemers.map(
              ([purpose, index]) =>
                [array([uint(purpose), uint(index)]), array([data(), units()], true)] as const,
            ),
          ),
    ])
  }
  const framed = (body: Uint8Array, witnesses: Uint8Array) =>
    concatBytes(Uint8Array.of(0x84), body, witnesses, Uint8Array.of(0xf5, 0xf6))
  const { scriptDataHash, languages = [], signed } = draft
  const right = scriptIntegrityHash(
    decodeTransaction(framed(fields(bodyFields), fields(witnessFields))),
    new Set(languages),
    parameters,
  )
  const stated = scriptDataHash === undefined ? right : scriptDataHash
  if (stated) bodyFields.push([11, bytes(stated)])
  const body = fields(bodyFields)
  const id = blake2b256(body)
  const signature = (key: TestKey) => bytes(key.sign(signed?.(key, id) ?? id))
  const key = ({ publicKey }: TestKey) => bytes(publicKey)
  const { signers, bootstrap = [] } = draft
  if (signers.length > 0)
    witnessFields.unshift([0, set(signers.map((signer) => array([key(signer), signature(signer)], true)))])
  if (bootstrap.length > 0) {
    const rest = [bytes(new Uint8Array(32)), bytes(Uint8Array.of(0xa0))]
    witnessFields.push([
      2,
      set(bootstrap.map((signer) => array([key(signer), signature(signer), ...rest], true))),
    ])
  }
  const witnesses = fields(witnessFields)
  noteOutputs(id, draft.outputs)
  return { id, body, witnesses, cbor: framed(body, witnesses) }
}

/*
 * One block: a transaction that needs every kind of witness, and two payments. The first spends what another
 * made.
 */

const [alice, bob, carol, dave, erin, frank, grace, heidi] = [
  'alice',
  'bob',
  'carol',
  'dave',
  'erin',
  'frank',
  'grace',
  'heidi',
].map(testKey) as unknown as [Key, Key, Key, Key, Key, Key, Key, Key]

export { alice, bob, carol, dave, erin, frank, grace }

type Key = ReturnType<typeof testKey>

const native = {
  signature: (hash: Uint8Array) => new CborWriter().array(2).uint(0).bytes(hash).toBytes(),
  all: (...scripts: readonly Uint8Array[]) => nested(1, scripts),
  any: (...scripts: readonly Uint8Array[]) => nested(2, scripts),
  atLeast(required: number, ...scripts: readonly Uint8Array[]) {
    const writer = new CborWriter().array(3).uint(3).int(BigInt(required)).array(scripts.length)
    for (const script of scripts) writer.raw(script)
    return writer.toBytes()
  },
  from: (slot: number) => new CborWriter().array(2).uint(4).uint(slot).toBytes(),
  until: (slot: number) => new CborWriter().array(2).uint(5).uint(slot).toBytes(),
}
function nested(kind: number, scripts: readonly Uint8Array[]): Uint8Array {
  const writer = new CborWriter().array(2).uint(kind).array(scripts.length)
  for (const script of scripts) writer.raw(script)
  return writer.toBytes()
}

export { native }

/** Alice; two of Bob, Grace and the time from slot 100; and it is before slot 300, or Grace signs. */
export const vault = native.all(
  native.signature(alice.hash),
  native.atLeast(2, native.signature(bob.hash), native.signature(grace.hash), native.from(100)),
  native.any(native.until(300), native.signature(grace.hash)),
  // A number below 0 is reached at once.
  native.atLeast(-1, native.signature(grace.hash)),
)
const anyTime = (parts: number) =>
  native.atLeast(1, native.atLeast(1), ...Array.from({ length: parts }, () => native.until(300)))
/** The largest script that layer 2 allows, and a larger one. */
export const [largest, tooLarge] = [anyTime(24), anyTime(25)] as const
/** The policy that Heidi signs for. */
export const mintedByHeidi = native.signature(heidi.hash)

const plutus = (language: Plutus['language'], byte: number): Plutus => ({
  language,
  bytes: new Uint8Array(40).fill(byte),
})
/** Locks an output, and is an account. */
export const [locker, referenced, minter] = [
  plutus('PlutusV3', 1),
  plutus('PlutusV2', 2),
  plutus('PlutusV1', 3),
] as [Plutus, Plutus, Plutus]
export const [datumA, datumB] = [Uint8Array.of(0x18, 0x2a), Uint8Array.of(0x43, 1, 2, 3)] as [
  Uint8Array,
  Uint8Array,
]

const scriptAddress = (hash: Uint8Array) => Uint8Array.of(0x70, ...hash)
export const keyAddressOf = (hash: Uint8Array) => Uint8Array.of(0x60, ...hash)
export const accountOf = (script: Plutus) => Uint8Array.of(0xf0, ...hashOf(script))

interface OutputDraft {
  readonly address: Uint8Array
  readonly datumHash?: Uint8Array
  /** CBOR of `[language, script]`. */
  readonly reference?: Uint8Array
  /** The item of the reference script, as it is. */
  readonly script?: Uint8Array
}

/** In the map form. */
export function outputWith({ address, datumHash, reference, script }: OutputDraft): Uint8Array {
  const size = 2 + [datumHash, reference, script].filter((field) => field !== undefined).length
  const writer = new CborWriter(256).map(size).uint(0).bytes(address).uint(1).uint(5_000_000)
  if (datumHash) writer.uint(2).array(2).uint(0).bytes(datumHash)
  if (reference) writer.uint(3).tag(24).bytes(reference)
  if (script) writer.uint(3).raw(script)
  return writer.toBytes()
}
/** In the array form. */
export function arrayOutput({ address, datumHash }: OutputDraft): Uint8Array {
  const writer = new CborWriter(128)
    .array(datumHash ? 3 : 2)
    .bytes(address)
    .uint(5_000_000)
  if (datumHash) writer.bytes(datumHash)
  return writer.toBytes()
}
const referenceOf = (language: number, content: Uint8Array) => {
  const writer = new CborWriter(128).array(2).uint(language)
  return (language === 0 ? writer.raw(content) : writer.bytes(content)).toBytes()
}

const genesis = (index: number): OutputReference => ({ transactionId: new Uint8Array(32).fill(0xaa), index })
/** Not in the order of their indices, so that redeemers point to other places than inputs have. */
export const coins = {
  erins: genesis(30),
  franks: genesis(2),
  vault: genesis(300),
  largest: genesis(301),
  tooLarge: genesis(302),
  locked: genesis(25),
  lockedByReference: genesis(4),
  reference: genesis(5),
  nativeReference: genesis(6),
  daves: genesis(7),
  davesWithDatum: genesis(8),
  byron: genesis(9),
} as const

const encoded = (hex: string) => new CborWriter(128).tag(24).bytes(fromHex(hex)).toBytes()
const minters = (head: string, language: string, script: string) =>
  `${head}${language}${script}${toHex(minter.bytes)}`
/** Items in the place of a reference script, and the minter in all encodings that the ledger decodes. */
const references: readonly (readonly [what: string, script: Uint8Array, isDecoded: boolean])[] = [
  ['a number', fromHex('05'), false],
  ['a number of eight bytes', fromHex(`1b${'ff'.repeat(8)}`), false],
  ['a list of indefinite length', fromHex('9fff'), false],
  ['a tagged number', fromHex('d81805'), false],
  ['a tagged string in chunks', fromHex('d8185f4100ff'), false],
  ['another tag', fromHex('d81943820141'), false],
  ['empty', encoded(''), false],
  ['a head alone', encoded('82'), false],
  ['a reserved head', encoded('9c'), false],
  ['cut behind the language', encoded('8201'), false],
  ['of a reserved language', encoded('821c'), false],
  ['of an endless string', encoded(`82015b${'ff'.repeat(8)}`), false],
  ['a number in the place of a string', encoded(`82011b${'ff'.repeat(8)}`), false],
  ['cut within its string', encoded('82015828ff'), false],
  ['a native script that ends early', encoded('820082'), false],
  ['a list', encoded(minters('82', '01', '5828')), true],
  ['a list of indefinite length', encoded(`${minters('9f', '01', '5828')}ff`), true],
  ['in long heads', encoded(minters('9802', '190001', '5a00000028')), true],
  ['in the longest', encoded(minters(`9b${'00'.repeat(7)}02`, '1b0000000000000001', '590028')), true],
]

/** Outputs with reference scripts: what these are, and whether the ledger decodes them. */
export const strangelyReferring = references.map(([what, script, isDecoded], index) => ({
  what,
  isDecoded,
  coin: genesis(2000 + index),
  output: outputWith({ address: keyAddressOf(grace.hash), script }),
}))

export function coinsBefore(): Entries {
  const outputs: Entries = new Map(
    Array.from({ length: 40 }, (_, index) => [hexOf(genesis(1000 + index)), payment(index, 5_000_000n)]),
  )
  const own: readonly (readonly [OutputReference, Uint8Array])[] = [
    [
      coins.erins,
      // A base address, whose staking part is a script.
      outputWith({ address: Uint8Array.of(0x20, ...erin.hash, ...hashOf(locker)) }),
    ],
    [coins.franks, arrayOutput({ address: keyAddressOf(frank.hash) })],
    [coins.vault, outputWith({ address: scriptAddress(hashOfNative(vault)) })],
    [coins.largest, outputWith({ address: scriptAddress(hashOfNative(largest)) })],
    [coins.tooLarge, outputWith({ address: scriptAddress(hashOfNative(tooLarge)) })],
    [
      coins.locked,
      outputWith({
        // A base address, whose staking part is a key.
        address: Uint8Array.of(0x10, ...hashOf(locker), ...grace.hash),
        datumHash: blake2b256(datumA),
      }),
    ],
    [
      coins.lockedByReference,
      arrayOutput({ address: scriptAddress(hashOf(referenced)), datumHash: blake2b256(datumB) }),
    ],
    [
      coins.reference,
      outputWith({ address: keyAddressOf(grace.hash), reference: referenceOf(2, referenced.bytes) }),
    ],
    [
      coins.nativeReference,
      outputWith({ address: keyAddressOf(grace.hash), reference: referenceOf(0, mintedByHeidi) }),
    ],
    [coins.daves, outputWith({ address: keyAddressOf(dave.hash) })],
    [coins.davesWithDatum, outputWith({ address: keyAddressOf(dave.hash), datumHash: blake2b256(datumA) })],
    // The bytes after the first are not read.
    [coins.byron, outputWith({ address: Uint8Array.of(0x82, ...new Uint8Array(40)) })],
  ]
  for (const { coin, output } of strangelyReferring) outputs.set(hexOf(coin), output)
  for (const [reference, output] of own) outputs.set(hexOf(reference), output)
  return outputs
}

/** The purposes of redeemers. */
const [spend, mint, reward] = [0, 1, 3] as const

export { spend }

const policies = [hashOf(minter), hashOf(referenced), hashOfNative(mintedByHeidi)]
const placeOf = (policy: Uint8Array) =>
  policies
    .map((each) => Buffer.from(each).toString('hex'))
    .toSorted()
    .indexOf(Buffer.from(policy).toString('hex'))

/** The outputs are Bob's and Erin's. */
export const everything = {
  inputs: [coins.erins, coins.vault, coins.franks, coins.locked, coins.lockedByReference],
  referenceInputs: [coins.nativeReference, coins.reference],
  outputs: [
    outputWith({ address: keyAddressOf(bob.hash) }),
    outputWith({ address: keyAddressOf(erin.hash) }),
  ],
  mint: policies,
  withdrawals: [accountOf(locker)],
  required: [carol.hash],
  validFrom: 150,
  validTo: 250,
  signers: [alice, bob, carol, erin, frank, heidi],
  bootstrap: [dave],
  nativeScripts: [vault],
  plutus: [locker, minter],
  datums: [datumA, datumB],
  // In the order of the ledger: 2, 4, 25, 30, 300.
  redeemers: [
    [spend, 2],
    [spend, 1],
    [mint, placeOf(hashOf(minter))],
    [mint, placeOf(hashOf(referenced))],
    [reward, 0],
  ],
  languages: ['PlutusV1', 'PlutusV2', 'PlutusV3'],
} as const satisfies WitnessedDraft

const paymentOf = (made: WitnessedTransaction) =>
  ({
    inputs: [outputOf(made, 0)],
    outputs: [payment(1, 4_000_000n)],
    signers: [bob],
  }) satisfies WitnessedDraft
const lastPayment = {
  inputs: [coins.daves],
  outputs: [payment(2, 4_000_000n)],
  signers: [dave],
} satisfies WitnessedDraft

export interface Changes {
  readonly everything?: Partial<WitnessedDraft>
  readonly payment?: Partial<WitnessedDraft>
  readonly last?: Partial<WitnessedDraft>
}

export function storyWith(
  { everything: first, payment: second, last }: Changes = {},
  lie: Lie = {},
): TestBlock {
  const made = witnessed({ ...everything, ...first })
  const transactions = [
    made,
    witnessed({ ...paymentOf(made), ...second }),
    witnessed({ ...lastPayment, ...last }),
  ]
  return blockOf(
    transactions.map(({ cbor }) => cbor),
    coinsBefore(),
    lie,
  )
}

export const honestStory = storyWith()
