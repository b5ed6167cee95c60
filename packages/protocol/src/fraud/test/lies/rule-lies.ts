import { crc32 } from 'node:zlib'
import { maxChunks, partsOf } from '@ratatosk/block'
import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import {
  blake2b224,
  blake2b256,
  encodeOutputReference,
  languageViews,
  type PlutusLanguage,
  scriptHash,
} from '@ratatosk/ledger'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { keys } from '../../../test/protocol-scene.js'
import { movedParts } from '../../shapes.js'
import {
  type BlockOptions,
  blockOf,
  bridge,
  bridgeAddress,
  type Committed,
  deposit,
  type Entries,
  type Story,
} from '../lying-blocks.js'
import { addressOfThief, coin, eight, signedTheft, undecodedOf } from '../theft.js'
import { bytes, ghostKey, keyWitness, list, map, output, type Plan, paid, signed, uint } from './signed.js'
import { outputsOfLies } from './witness-lies.js'

/*
 * Lies about rules that share their claim with another lie, or have none.
 */

const { hash } = keys.payment
const address = keys.address.bytes
const many = (count: number, item: (n: number) => Uint8Array) =>
  list(...Array.from({ length: count }, (_, n) => item(n)))
const numbered = (length: number, n: number) => new Uint8Array(length).fill(n)
const signature = (n: number) => list(uint(0), bytes(numbered(28, n)))
const text = (ascii: string) =>
  concatBytes(Uint8Array.of(0x60 + ascii.length), Uint8Array.from(Buffer.from(ascii)))

/** Scripts that never fail, that always fails, and that cannot be read. */
const always = { PlutusV1: '4d01000033222220051200120011', PlutusV2: '4d01000033222220051200120011' }
const scripts = {
  ...always,
  PlutusV3: '450101002499',
  fails: '450101002601',
  malformed: '4100',
} as const
const scriptOf = (name: keyof typeof scripts) => fromHex(scripts[name])
const guarded = (language: PlutusLanguage, script: Uint8Array) =>
  Uint8Array.of(0x70, ...scriptHash(language, script))
const pays = (to: Uint8Array, ...fields: (readonly [Uint8Array, Uint8Array])[]) =>
  map([uint(0), bytes(to)], [uint(1), uint(5_000_000n)], ...fields)
const datum = uint(42)
const ownDatum = [uint(2), list(uint(0), bytes(blake2b256(datum)))] as const
/** With a stake pointer that does not end. */
const pointless = pays(concatBytes(Uint8Array.of(0x40), hash, fromHex('ffffffff')))
const token = (count: number, quantity: bigint) =>
  map([
    bytes(numbered(28, 7)),
    map(...Array.from({ length: count }, (_, n) => [bytes(numbered(32, n)), uint(quantity)] as const)),
  ])
const full = (lovelace: bigint) => list(bytes(address), list(uint(lovelace), token(116, 2n ** 40n)))
const tokenOutput = list(bytes(address), list(uint(5_000_000n), token(1, 1n)))
const most = 2n ** 63n

/** Further outputs before the blocks, by number. */
const [ofV3, ofFails, ofV1, ofNoDatum, ofMalformed, ofPointless, ofTokens, ofToken] = [
  60, 61, 62, 63, 64, 65, 66, 67,
] as const
const [ofMost, ofMost2, ofThief, ofMany] = [68, 69, 70, 71] as const
const outputs = () =>
  new Map([
    ...outputsOfLies(),
    ...(
      [
        [ofV3, pays(guarded('PlutusV3', scriptOf('PlutusV3')))],
        [ofFails, pays(guarded('PlutusV3', scriptOf('fails')))],
        [ofV1, pays(guarded('PlutusV1', scriptOf('PlutusV1')), ownDatum)],
        [ofNoDatum, pays(guarded('PlutusV2', scriptOf('PlutusV2')))],
        [ofMalformed, pays(guarded('PlutusV3', scriptOf('malformed')))],
        [ofPointless, pointless],
        [ofTokens, full(30_000_000n)],
        [ofToken, tokenOutput],
        [ofMost, output(most)],
        [ofMost2, output(most)],
        [ofThief, pays(addressOfThief)],
        [ofMany, output(120_000_000n)],
      ] as const
    ).map(([n, cbor]) => [toHex(coin(n)), cbor] as const),
  ])

const told = ({ transactions }: Story, ...lying: readonly Uint8Array[]) =>
  blockOf([...transactions, ...lying], { read: movedParts, outputs: outputs() })
const plan = (planned: Plan) => (story: Story) => told(story, signed(planned))
const cheaper = (change: Plan): Plan => ({ fee: 500_000n, outputs: [output(9_500_000n)], ...change })

const redeemersOf = (memory: bigint) =>
  map([list(uint(0), uint(1)), list(uint(1), list(uint(memory), uint(100_000_000)))])

interface Run {
  readonly of?: number
  readonly script?: keyof typeof scripts
  readonly language?: PlutusLanguage
  readonly memory?: bigint
  readonly collateral?: readonly Uint8Array[]
  readonly datums?: readonly Uint8Array[]
  readonly change?: Plan
}
const keyOf = { PlutusV1: 3, PlutusV2: 6, PlutusV3: 7 } as const

/** Spends an output that a script guards, with collateral. */
const run = (what: Run) => (story: Story) => {
  const { of = ofV3, script = 'PlutusV3', language = 'PlutusV3', memory = 100_000n, datums = [] } = what
  const { collateral = [coin(32)], change = {} } = what
  const redeemers = redeemersOf(memory)
  const data = datums.length > 0 ? list(...datums) : new Uint8Array()
  const views = languageViews(new Set([language]), story.parameters)
  const stated = cheaper(change)
  return told(
    story,
    signed({
      ...stated,
      inputs: [30, of],
      fields: [
        ...(collateral.length > 0 ? [[13, list(...collateral)] as const] : []),
        [11, bytes(blake2b256(concatBytes(redeemers, data, views)))],
        ...(stated.fields ?? []),
      ],
      witnesses: [
        ...(datums.length > 0 ? [[4, data] as const] : []),
        [5, redeemers],
        [keyOf[language], list(bytes(scriptOf(script)))],
      ],
    }),
  )
}

const auxiliary = (data: Uint8Array, change: Plan = {}): Plan => ({
  fields: [[7, bytes(blake2b256(data))]],
  rest: concatBytes(Uint8Array.of(0xf5), data),
  ...change,
})
const label = fromHex('a10100')
/** A hash of redeemers and datums that no script uses. */
const unused = (redeemers: Uint8Array, datums: Uint8Array = new Uint8Array()) =>
  [11, bytes(blake2b256(concatBytes(redeemers, datums, fromHex('a0'))))] as const
const byron = () => {
  const content = fromHex(`83581c${'05'.repeat(28)}a000`)
  const sum = crc32(content).toString(16).padStart(8, '0')
  return concatBytes(fromHex('82d818'), bytes(content), fromHex(`1a${sum}`))
}
const phrase = 'abandon '.repeat(23).concat('art')
const anchor = list(text('https://a.example'), bytes(numbered(32, 1)))

/** Pays the bridge. */
const leaving = signed({ outputs: [output(2_000_000n), output(paid - 2_000_000n, bridgeAddress)] })
const keyOfLeft = encodeOutputReference({ transactionId: partsOf(leaving).id, index: 1 })
const outputLeft = output(paid - 2_000_000n, bridgeAddress)

/** A block in a deployment with a bridge, with a transaction that pays it. */
const bridged =
  (lie: BlockOptions, ...more: readonly Uint8Array[]) =>
  ({ transactions }: Story) =>
    blockOf([...transactions, leaving, ...more], { outputs: outputs(), bridge, ...lie })
const withoutLeft = (map: Entries) => map.delete(toHex(keyOfLeft))

/** `all` of no scripts, which everyone satisfies. */
const anyone = fromHex('820180')
/** A policy whose assets come from layer 1. */
export const bridgedPolicy = blake2b224(concatBytes(Uint8Array.of(0), anyone))
const minted = map([bytes(bridgedPolicy), map([bytes(numbered(1, 1)), uint(1)])])

/** Lies about what comes from layer 1 and leaves for it. */
const eventLies: Readonly<Record<string, (story: Story) => Committed>> = {
  'that there is a deposit that layer 1 does not have': bridged({ deposits: [deposit] }),
  'that no one gets the fees': bridged({ feesTo: undefined }),
  'that an output from before, which no one moves, is a deposit': bridged({
    entries: (map) =>
      map.set(toHex(coin(ofToken)), concatBytes(eight(0n), eight(0n), blake2b256(tokenOutput))),
  }),
  'that an output of the bridge is no withdrawal': bridged({ leaving: withoutLeft }),
  'that an output leaves that is not paid to the bridge': bridged({
    leaving: (withdrawals) => withdrawals.set(toHex(coin(ofToken)), tokenOutput),
  }),
  'that an output of the bridge stays': bridged({
    entries: (map) => {
      const position = BigInt([...map.keys()].filter((key) => key.length === 16).length)
      map.set(toHex(keyOfLeft), concatBytes(eight(position), eight(0n), blake2b256(outputLeft)))
    },
    leaving: withoutLeft,
    after: (left) => left.set(toHex(keyOfLeft), outputLeft),
  }),
  'that layer 2 may mint what comes from layer 1': bridged(
    {},
    signed({
      inputs: [32, 33],
      outputs: [map([uint(0), bytes(address)], [uint(1), list(uint(paid), minted)])],
      fields: [[9, minted]],
      witnesses: [[1, list(anyone)]],
    }),
  ),
  'that a transaction can read what has left': bridged(
    {},
    signed({ inputs: [32, 33], fields: [[18, list(keyOfLeft)]] }),
  ),
  'that a transaction can spend what has left': bridged(
    {},
    signed({
      fields: [[0, list(coin(32), keyOfLeft)]],
      outputs: [output(5_000_000n + paid - 2_000_000n - 200_000n)],
    }),
  ),
}

/** The block of each lie. */
export const ruleLies: Readonly<Record<string, (story: Story) => Committed>> = {
  ...eventLies,
  'that a label of metadata may be a text': (story) =>
    told(story, signedTheft({ inputs: [30, 31], ...undecodedOf(9_500_000n)['auxiliary data'] })),
  'that a stake pointer need not end': plan({ inputs: [30, ofPointless] }),
  'that fees may be 2^64 lovelace': (story) =>
    told(
      story,
      ...[ofMost, ofMost2].map((n, at) =>
        signed({ inputs: [30 + at, n], fee: most, outputs: [output(5_000_000n)] }),
      ),
    ),
  'that a block may have 1,025 chunks': (story) => {
    const numbers = Array.from({ length: maxChunks + 1 }, (_, n) => 1000 + n)
    const coins = numbers.map((n) => [toHex(coin(n)), output(5_000_000n)] as const)
    const padding = map([uint(1), many(93, (n) => bytes(numbered(64, n)))])
    const plan = auxiliary(padding, { fee: 500_000n, outputs: [output(4_500_000n)] })
    const all = numbers.map((n) => signed({ ...plan, inputs: [n] }))
    return blockOf([...story.transactions, ...all], { outputs: new Map([...outputs(), ...coins]) })
  },
  'that collateral need not be there': run({ collateral: [ghostKey] }),
  'that another owner has signed for collateral': run({ collateral: [coin(ofThief)] }),
  'that a script of another network may withdraw': plan({
    fields: [[5, map([bytes(Uint8Array.of(0xf1, ...hash)), uint(0)])]],
  }),
  'that a transaction may have 101 outputs': plan({
    inputs: [ofMany],
    fee: 1_000_000n,
    outputs: Array.from({ length: 101 }, (_, n) => list(bytes(address), uint(n ? 1_000_000n : 19_000_000n))),
  }),
  'that 33 keys may sign': (story) =>
    told(
      story,
      signed(
        cheaper({
          keyWitnesses: (id) => [
            keyWitness(id),
            ...Array.from({ length: 32 }, (_, account) => {
              const { payment } = keysFromSeedPhrase(phrase, { networkId: 0, account })
              return list(bytes(payment.publicKey), bytes(payment.sign(id)))
            }),
          ],
        }),
      ),
    ),
  'that there may be 21 scripts': plan(cheaper({ witnesses: [[1, many(21, signature)]] })),
  'that there may be 81 datums': plan(cheaper({ witnesses: [[4, many(81, (n) => uint(n))]] })),
  'that there may be 21 redeemers': plan(
    cheaper({
      witnesses: [[5, many(21, (n) => list(uint(0), uint(n), uint(0), list(uint(0), uint(0))))]],
    }),
  ),
  'that a key witness may have indefinite length': plan({
    keyWitnesses: (id) => [concatBytes(fromHex('9f'), keyWitness(id).subarray(1), fromHex('ff'))],
  }),
  'that a transaction may have indefinite length': (story) =>
    told(story, concatBytes(fromHex('9f'), signed().subarray(1), fromHex('ff'))),
  'that auxiliary data need not be there': plan(auxiliary(label, { rest: fromHex('f5f6') })),
  'that a body need not name auxiliary data': plan(auxiliary(label, { fields: [] })),
  'that a body may name other auxiliary data': plan(
    auxiliary(label, { fields: [[7, bytes(numbered(32, 9))]] }),
  ),
  'that an address may be of the Byron era': (story) =>
    told(story, signed({ outputs: [output(paid, byron())] })),
  'that there may be a certificate': plan({
    outputs: [output(paid - 2_000_000n)],
    fields: [[4, list(list(uint(7), list(uint(0), bytes(hash)), uint(2_000_000)))]],
  }),
  'that there may be a vote': plan({
    fields: [
      [
        19,
        map([
          list(uint(2), bytes(hash)),
          map([list(bytes(numbered(32, 1)), uint(0)), list(uint(1), fromHex('f6'))]),
        ]),
      ],
    ],
  }),
  'that there may be a proposal': plan({
    fields: [[20, list(list(uint(0), bytes(Uint8Array.of(0xe0, ...hash)), list(uint(6)), anchor))]],
  }),
  'that there may be a donation': plan({ outputs: [output(paid - 1n)], fields: [[22, uint(1)]] }),
  'that a transaction may have 17,000 bytes': plan(
    auxiliary(map([uint(1), many(260, (n) => bytes(numbered(64, n)))]), {
      fee: 2_000_000n,
      outputs: [output(8_000_000n)],
    }),
  ),
  'that a script that fails has allowed it': run({ of: ofFails, script: 'fails' }),
  'that a script of Plutus V1 can see an inline datum': run({
    of: ofV1,
    script: 'PlutusV1',
    language: 'PlutusV1',
    datums: [datum],
    change: {
      outputs: [
        map(
          [uint(0), bytes(address)],
          [uint(1), uint(9_500_000n)],
          [uint(2), list(uint(1), concatBytes(fromHex('d818'), bytes(datum)))],
        ),
      ],
    },
  }),
  'that a script of Plutus V2 needs no datum': run({
    of: ofNoDatum,
    script: 'PlutusV2',
    language: 'PlutusV2',
  }),
  'that a script that cannot be read has allowed it': run({ of: ofMalformed, script: 'malformed' }),
  'that a reference script need not be readable': plan({
    outputs: [
      map(
        [uint(0), bytes(address)],
        [uint(1), uint(paid)],
        [uint(3), concatBytes(fromHex('d818'), bytes(list(uint(3), bytes(scriptOf('malformed')))))],
      ),
    ],
  }),
  'that a redeemer need not be for a script': plan(
    cheaper({
      fields: [[13, list(coin(32))], unused(redeemersOf(100_000n))],
      witnesses: [[5, redeemersOf(100_000n)]],
    }),
  ),
  'that a script need not be needed': plan({ witnesses: [[1, list(signature(1))]] }),
  'that a datum need not belong to an output': plan({
    fields: [unused(fromHex('a0'), list(datum))],
    witnesses: [[4, list(datum)]],
  }),
  'that a value may have 5,001 bytes': plan({
    inputs: [ofTokens],
    fee: 500_000n,
    outputs: [full(29_500_000n)],
  }),
  'that a script may take 20,000,000 units of memory': run({
    memory: 20_000_000n,
    change: { fee: 2_000_000n, outputs: [output(8_000_000n)] },
  }),
  'that a script in auxiliary data need not be readable': plan(auxiliary(fromHex('d90103a102814100'))),
  'that collateral may hold a token': run({ collateral: [coin(ofToken)] }),
  'that a sum of collateral is right': run({ change: { fields: [[17, uint(1)]] } }),
  'that collateral is enough': run({ change: { fee: 4_000_000n, outputs: [output(6_000_000n)] } }),
  'that scripts need no collateral': run({ collateral: [] }),
  'that a script may guard collateral': run({ collateral: [coin(ofFails)] }),
  'that there may be 4 collateral inputs': run({ collateral: [32, 33, 34, 35].map(coin) }),
}
