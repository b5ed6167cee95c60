import { CborReader, CborWriter, concatBytes, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import { cborSamples, ledgerRuns, vectorsFolder } from '@ratatosk/fixtures/vectors'
import { blake2b256, decodeTransaction, type Transaction } from '@ratatosk/ledger'
import { generator, pick, type Random } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { readTransaction } from '../transaction.js'

/** RATATOSK_FUZZ=1000000 is the long run. */
const runs = Math.ceil(Number(process.env.RATATOSK_FUZZ ?? 20_000) / 6)

/** Items that a place may hold instead: each major type, at its limits. */
const palette = [
  ...['00', '17', '1bffffffffffffffff', '1b7fffffffffffffff', '1b8000000000000000', '1a00010000', '190000'],
  ...[
    '20',
    '3b7fffffffffffffff',
    '3b8000000000000000',
    '3bffffffffffffffff',
    'c24101',
    'c348ffffffffffffffff',
  ],
  ...['40', '41ff', '5f4101ff', `581c${'ab'.repeat(28)}`, `5820${'cd'.repeat(32)}`, `5821${'ef'.repeat(33)}`],
  ...['60', '61ff', '6161', '7f6161ff', `5841${'00'.repeat(65)}`, `5840${'00'.repeat(64)}`, '62c3a9'],
  ...['80', '8100', '820000', '9fff', 'd9010280', '830000f6', '84000000f6', 'd9010380', '9f00ff'],
  ...['a0', 'bfff', 'a10000', 'a2000000', 'bb0000000000000000', `a1581c${'ab'.repeat(28)}a14101`],
  ...['d87980', 'd905008100', 'd8668200811a00', 'd81840', 'd8184100', 'f4', 'f5', 'f6', 'f7', 'ff', 'fb0000'],
].map(fromHex)

/** Where each item of some CBOR begins and ends. */
function itemsOf(cbor: Uint8Array): (readonly [start: number, end: number])[] {
  const found: (readonly [number, number])[] = []
  const walk = (reader: CborReader): void => {
    const start = reader.position
    const again = reader.within(start, reader.end)
    again.skip()
    found.push([start, again.position])
    const major = reader.peekMajor()
    if (major === 4 || major === 5) {
      const count = major === 4 ? reader.readArray() : reader.readMap()
      for (let index = 0; reader.hasNext(count, index); index++) {
        walk(reader)
        if (major === 5) walk(reader)
      }
    } else if (major === 6) {
      reader.readTag()
      walk(reader)
    } else reader.skip()
  }
  walk(new CborReader(cbor))
  return found
}

/** Another item, byte, or order in a few places of a transaction. */
function mutated(random: Random, cbor: Uint8Array, others: readonly Uint8Array[]): Uint8Array {
  let bytes = cbor
  for (let changes = 1 + Math.floor(random() * 2); changes > 0; changes--)
    bytes = changed(random, bytes, others)
  return bytes
}

function changed(random: Random, cbor: Uint8Array, others: readonly Uint8Array[]): Uint8Array {
  const place = Math.floor(random() * cbor.length)
  const kind = random()
  if (cbor.length === 0) return pick(random, palette)
  if (kind < 0.2) return cbor.with(place, Math.floor(random() * 256))
  if (kind < 0.25) return cbor.slice(0, place)
  if (kind < 0.3) return concatBytes(cbor.subarray(0, place), cbor.subarray(place + 1))
  let items: readonly (readonly [number, number])[]
  try {
    items = itemsOf(cbor)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    return cbor.with(place, Math.floor(random() * 256))
  }
  const [start, end] = pick(random, items)
  const [from, to] = pick(random, items)
  const other =
    kind < 0.8 ? pick(random, palette) : kind < 0.9 ? cbor.subarray(from, to) : pick(random, others)
  // Twice in its place, so that a list or a map has a member more, or instead.
  return kind < 0.35
    ? concatBytes(cbor.subarray(0, end), cbor.subarray(start))
    : concatBytes(cbor.subarray(0, start), other, cbor.subarray(end))
}

function decoded(cbor: Uint8Array): Transaction | undefined {
  try {
    return decodeTransaction(cbor)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    return undefined
  }
}

/** Whether a block may have a transaction that decodes: by its frame, and by the profile of its fields. */
function isSupported(cbor: Uint8Array, { body, isValid, auxiliaryData, witnesses }: Transaction): boolean {
  const rest = 1 + body.bytes.length + witnesses.bytes.length
  const hash = auxiliaryData && toHex(blake2b256(auxiliaryData.bytes))
  const named = body.auxiliaryDataHash && toHex(body.auxiliaryDataHash)
  const outputs = [...body.outputs, ...(body.collateralReturn ? [body.collateralReturn] : [])]
  return (
    cbor[0] === 0x84 &&
    isValid &&
    hash === named &&
    cbor.length === rest + 1 + (auxiliaryData?.bytes.length ?? 1) &&
    body.certificates.length + body.votingProcedures.length + body.proposalProcedures.length === 0 &&
    body.treasuryDonation === 0n &&
    body.currentTreasury === undefined &&
    outputs.every(({ address }) => address.kind !== 'byron') &&
    body.withdrawals.every(
      ({ account, lovelace }) =>
        lovelace === 0n && account.kind === 'reward' && account.stake.kind === 'script',
    )
  )
}

/** How the reader of the audit differs from the ledger's decoder; undefined if it does not. */
function differenceOf(cbor: Uint8Array): string | undefined {
  const transaction = decoded(cbor)
  const { fault, id } = readTransaction(cbor)
  if (transaction === undefined) return fault === undefined ? 'it finds nothing' : undefined
  if (fault !== undefined) return isSupported(cbor, transaction) ? `it finds: ${fault}` : undefined
  if (!isSupported(cbor, transaction)) return 'it finds nothing of what layer 2 does not support'
  return toHex(id) === toHex(transaction.id) ? undefined : 'another id'
}

function samples(): readonly Uint8Array[] {
  const found = new Map<string, Uint8Array>()
  const add = (cbor: Uint8Array) => found.set(toHex(blake2b256(cbor)), cbor)
  const rules = vectorsFolder('ledger-rules')
  if (rules !== undefined)
    for (const { events } of ledgerRuns(rules))
      for (const event of events) if (event.kind === 'transaction') add(event.bytes)
  const decodes = vectorsFolder('cbor-decode')
  if (decodes !== undefined) for (const { bytes } of cborSamples(decodes, 'transaction')) add(bytes)
  return [...found.values()].filter((bytes) => bytes.length < 4096)
}

test('it reads a transaction with every field of layer 2', () => {
  expect(readTransaction(everything)).toMatchObject({ fee: 200_000n, inputs: [{}, {}] })
  expect(readTransaction(everything).fault).toBeUndefined()
  expect(differenceOf(everything)).toBeUndefined()
})

test('of the test data, it finds what the decoder of the ledger refuses, and no more', () => {
  const all = samples()
  const wrong = all.flatMap((cbor) => differenceOf(cbor) ?? []).slice(0, 5)
  expect(wrong).toEqual([])
})

test(`of ${runs} mutated transactions, it finds what the decoder of the ledger refuses, and no more`, () => {
  const random = generator(Number(process.env.RATATOSK_FUZZ_SEED ?? 43))
  const all = samples().filter((cbor) => decoded(cbor) !== undefined)
  const others = [everything, ...all.slice(0, 20)].flatMap((cbor) =>
    itemsOf(cbor).map(([start, end]) => cbor.slice(start, end)),
  )
  let refused = 0
  for (let run = 0; run < runs; run++) {
    const sample = run % 2 === 0 || all.length === 0 ? everything : pick(random, all)
    const cbor = withEverything(mutated(random, sample, others))
    const difference = differenceOf(cbor)
    if (difference !== undefined) expect.fail(`run ${run}, ${toHex(cbor)}: ${difference}`)
    if (decoded(cbor) === undefined) refused++
  }
  expect(refused).toBeGreaterThan(runs / 4)
  expect(refused).toBeLessThan(runs)
})

const bytes = (hex: string): string => toHex(new CborWriter().bytes(fromHex(hex)).toBytes())
const hash = (byte: string, length: number): string => bytes(byte.repeat(length))
/** CBOR in a byte string. */
const embedded = (hex: string): string => `d818${bytes(hex)}`

const policy = hash('a1', 28)
const keyAddress = bytes(`60${'c1'.repeat(28)}`)
const baseAddress = bytes(`30${'c1'.repeat(28)}${'c2'.repeat(28)}`)
const pointerAddress = bytes(`41${'c1'.repeat(28)}81020304`)
/** A constructor with a bignum, a string in parts, and the general form of a constructor. */
const data = 'd8799f01c241025f41044105ff20a1d866821a0008000081d9050081209f01ffff'
/** `at least 1` of a signature, a start, an end, and none. */
const native = `83030184${`8200${hash('d1', 28)}`}${'82041903e8'}${'82051a000fffff'}${'820180'}`

const outputs = [
  `82${keyAddress}1a001e8480`,
  `83${baseAddress}821a001e8480a1${policy}a240014461626364${'1b7fffffffffffffff'}${hash('e1', 32)}`,
  `a400${pointerAddress}01821a001e8480a1${policy}a14162050282${`01${embedded(data)}`}` +
    `03${embedded(`8200${native}`)}`,
  `a300${keyAddress}011a001e8480028200${hash('e2', 32)}`,
]
const input = (byte: string, index: string): string => `82${hash(byte, 32)}${index}`

/** By number, without the hash of the auxiliary data. */
const fields = [
  `00d9010282${input('01', '00')}${input('02', '190100')}`,
  `01${(0x80 + outputs.length).toString(16)}${outputs.join('')}`,
  '021a00030d40',
  '031a000fffff',
  `05a1${bytes(`f0${'c3'.repeat(28)}`)}00`,
  '0805',
  `09a1${policy}a2400144616263643a000f423f`,
  `0b${hash('b1', 32)}`,
  `0d81${input('03', '01')}`,
  `0ed9010281${hash('c1', 28)}`,
  '0f00',
  `10a200${keyAddress}01821a001e8480a1${policy}a14001`,
  '111a000186a0',
  `129f${input('04', '02')}ff`,
]
const witnesses = [
  `00d901028182${hash('f1', 32)}${hash('f2', 64)}`,
  `0181${native}`,
  `028184${hash('f3', 32)}${hash('f4', 64)}${hash('f5', 32)}41a0`,
  '0381420100',
  `0481${data}`,
  `05a282000082${data}821903e81903e882010082${data}821903e81903e8`,
  '0681420200',
  '0781420300',
]
/** Metadata of every kind, and scripts of every language. */
const metadata = `a219029fa2616120${bytes('01')}8261621a00010000035f4101ff`
const auxiliary = `d90103a500${metadata}0181${native}028142010003814202000481420300`

function framed(auxiliaryData: Uint8Array, hashed: Uint8Array): Uint8Array {
  const head = fromHex(`84${(0xa0 + fields.length + 1).toString(16)}${fields.join('')}075820`)
  const witnessSet = fromHex(`${(0xa0 + witnesses.length).toString(16)}${witnesses.join('')}`)
  return concatBytes(head, hashed, witnessSet, Uint8Array.of(0xf5), auxiliaryData)
}

/** A transaction with every field that layer 2 supports, each in an unusual form. */
const everything = framed(fromHex(auxiliary), blake2b256(fromHex(auxiliary)))

/** The transaction with its auxiliary data's hash in the body, so that it hides no change of them. */
function withEverything(cbor: Uint8Array): Uint8Array {
  try {
    const reader = new CborReader(cbor)
    reader.readArray()
    const place = hashPlace(reader)
    reader.skip()
    reader.readBoolean()
    const hashed = blake2b256(cbor.subarray(reader.position))
    if (place === undefined) return cbor
    const copy = cbor.slice()
    copy.set(hashed, place)
    return copy
  } catch (error) {
    if (isDecodeError(error)) return cbor
    throw error
  }
}

/** Where the body has the hash of auxiliary data, which is left behind the body. */
function hashPlace(reader: CborReader): number | undefined {
  const count = reader.readMap()
  let place: number | undefined
  for (let index = 0; reader.hasNext(count, index); index++) {
    const key = reader.readUint()
    if (key === 7) place = reader.position + 2
    reader.skip()
    if (key === 7 && place !== undefined && reader.position !== place + 32) place = undefined
  }
  return place
}
