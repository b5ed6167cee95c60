import * as cml from '@dcspark/cardano-multiplatform-lib-nodejs'
import * as csl from '@emurgo/cardano-serialization-lib-nodejs'
import { CborWriter, toHex } from '@ratatosk/cbor'
import {
  addressOf,
  encodeAssets,
  encodeBytes,
  encodeInput,
  encodeOutput,
  encodeUint,
  keyOf,
} from '@ratatosk/fixtures'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blake2b256 } from '#crypto'
import type { ProtocolParameters } from '../parameters/types.js'
import { decodeTransaction } from '../transaction/decode.js'
import type { PlutusLanguage, Transaction } from '../transaction/types.js'
import type { PredicateFailure } from './predicates.js'
import { minimumFee, minimumLovelace, referenceScriptsFee } from './utxo.js'
import { scriptIntegrityHash } from './utxow.js'
import { validateStateless } from './validate.js'

/** How content is encoded. */
interface Style {
  readonly indefiniteBody: boolean
  readonly indefiniteLists: boolean
  readonly untaggedSets: boolean
  readonly redeemersAsList: boolean
  /** Number of bytes of the fee after the initial byte; 0: as few as possible. */
  readonly feeWidth: 0 | 4 | 8
  /** Weights by which the fields of the body are sorted. */
  readonly fieldOrder: readonly number[]
}

const style: fc.Arbitrary<Style> = fc.record({
  indefiniteBody: fc.boolean(),
  indefiniteLists: fc.boolean(),
  untaggedSets: fc.boolean(),
  redeemersAsList: fc.boolean(),
  feeWidth: fc.constantFrom(0, 4, 8),
  fieldOrder: fc.oneof(
    fc.constant([]),
    fc.array(fc.integer({ min: 0, max: 99 }), { minLength: 12, maxLength: 12 }),
  ),
})

/** Amounts around the minimum of an output, and any other amount of four bytes. */
const lovelace = fc.oneof(fc.bigInt(66_000n, 4_000_000_000n), fc.bigInt(900_000n, 1_300_000n))
const fee = fc.oneof(fc.bigInt(0n, 400_000n), fc.bigInt(160_000n, 190_000n))
const slot = fc.bigInt(0n, 2n ** 40n)
const assets = fc.uniqueArray(
  fc.tuple(
    fc.integer({ min: 0, max: 2 }).map((byte) => new Uint8Array(28).fill(byte)),
    fc.uint8Array({ maxLength: 32 }).map((name) => Buffer.from(name).toString('hex')),
    fc.bigInt(1n, 2n ** 63n - 1n),
  ),
  { minLength: 1, maxLength: 3, selector: ([policy]) => policy[0] },
)
const output = fc
  .record(
    {
      lovelace,
      address: fc.constantFrom(addressOf(keyOf('bob').hash), addressOf(keyOf('carol').hash, 'script')),
      assets,
      inlineDatum: fc.uint8Array({ maxLength: 60 }).map((bytes) => encodeBytes(bytes)),
    },
    { requiredKeys: ['lovelace', 'address'] },
  )
  .map(encodeOutput)
const input = fc
  .tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.integer({ min: 0, max: 300 }))
  .map(([id, index]) => encodeInput(id, index))
const data = fc.oneof(
  fc.bigInt(-(2n ** 70n), 2n ** 70n).map((value) => new CborWriter().int(value).toBytes()),
  fc.uint8Array({ maxLength: 100 }).map((value) => new CborWriter().boundedBytes(value).toBytes()),
)
const redeemer = fc.record({
  tag: fc.constantFrom(0, 1, 3),
  index: fc.integer({ min: 0, max: 20 }),
  data,
  memory: fc.bigInt(0n, 14_000_000n),
  steps: fc.bigInt(0n, 10_000_000_000n),
})
type Redeemer = typeof redeemer extends fc.Arbitrary<infer T> ? T : never

/** `(con unit ())` in Plutus Core 1.0.0, which every language can decode. */
const program = Uint8Array.of(0x46, 1, 0, 0, 0b01001001, 0b10000000, 0b00000001)

/** How the signatures are changed. */
const signing = fc.record({
  signers: fc.uniqueArray(fc.constantFrom('alice', 'bob', 'carol'), { maxLength: 3 }),
  /** The bit of the signature or of the key that is flipped; −1: none. */
  flippedBit: fc.oneof(fc.constant(-1), fc.integer({ min: 0, max: 767 })),
})

const content = fc.record({
  inputs: fc.array(input, { minLength: 1, maxLength: 3 }),
  outputs: fc.array(output, { minLength: 1, maxLength: 3 }),
  fee,
  optional: fc.record(
    {
      invalidHereafter: slot,
      invalidBefore: slot,
      mint: assets,
      scriptDataHash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      requiredSigners: fc.constantFrom([keyOf('alice').hash], [keyOf('bob').hash, keyOf('carol').hash]),
      networkId: fc.constantFrom(0, 1),
      auxiliaryDataHash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    },
    { requiredKeys: [] },
  ),
  redeemers: fc.uniqueArray(redeemer, { maxLength: 3, selector: ({ tag, index }) => tag * 100 + index }),
  datums: fc.uniqueArray(data, { maxLength: 2, selector: String }),
  languages: fc.uniqueArray(fc.constantFrom(3, 6, 7), { maxLength: 3 }),
  metadata: fc.option(fc.string({ maxLength: 16 })),
  honestHashes: fc.boolean(),
  signing,
})
type Content = typeof content extends fc.Arbitrary<infer T> ? T : never

/** The bytes of possibly invalid transactions (unusual amounts, signatures, intervals), in any encoding. */
const mutants: fc.Arbitrary<Uint8Array> = fc.tuple(content, style).map(([of, how]) => encode(of, how))

function encode(of: Content, how: Style): Uint8Array {
  const auxiliaryData =
    of.metadata === null ? undefined : new CborWriter().map(1).uint(674).text(of.metadata).toBytes()
  const body = encodeMap(bodyFields(of, how, auxiliaryData), how.fieldOrder, how.indefiniteBody)
  const witnesses = new CborWriter()
  const fields = witnessFields(of, how, blake2b256(body))
  witnesses.map(fields.length)
  for (const [key, value] of fields) witnesses.uint(key).raw(value)
  const writer = new CborWriter().array(4).raw(body).raw(witnesses.toBytes()).boolean(true)
  return (auxiliaryData ? writer.raw(auxiliaryData) : writer.null()).toBytes()
}

function bodyFields(
  { inputs, outputs, fee: paid, optional, honestHashes }: Content,
  how: Style,
  auxiliaryData: Uint8Array | undefined,
): readonly (readonly [number, Uint8Array])[] {
  const fields: [number, Uint8Array][] = [
    [0, encodeItems(unique(inputs), how, true)],
    [1, encodeItems(outputs, how, false)],
    [2, encodeWide(paid, how.feeWidth)],
  ]
  const { invalidHereafter, invalidBefore, mint, scriptDataHash, requiredSigners, networkId } = optional
  if (invalidHereafter !== undefined) fields.push([3, encodeUint(invalidHereafter)])
  if (honestHashes && auxiliaryData) fields.push([7, encodeBytes(blake2b256(auxiliaryData))])
  else if (optional.auxiliaryDataHash) fields.push([7, encodeBytes(optional.auxiliaryDataHash)])
  if (invalidBefore !== undefined) fields.push([8, encodeUint(invalidBefore)])
  if (mint) fields.push([9, encodeAssets(mint)])
  if (scriptDataHash) fields.push([11, encodeBytes(scriptDataHash)])
  if (requiredSigners) fields.push([14, encodeItems(requiredSigners.map(encodeBytes), how, true)])
  if (networkId !== undefined) fields.push([15, encodeUint(networkId)])
  return fields
}

function witnessFields(
  { signing: { signers, flippedBit }, redeemers, datums, languages }: Content,
  how: Style,
  id: Uint8Array,
): readonly (readonly [number, Uint8Array])[] {
  const fields: [number, Uint8Array][] = []
  if (signers.length > 0) {
    const witnesses = signers.map((name, position) => {
      const key = keyOf(name)
      const bytes = Uint8Array.of(...key.publicKey, ...key.sign(id))
      if (position === 0 && flippedBit >= 0) bytes[flippedBit >> 3]! ^= 1 << (flippedBit & 7)
      return new CborWriter().array(2).bytes(bytes.subarray(0, 32)).bytes(bytes.subarray(32)).toBytes()
    })
    fields.push([0, encodeItems(witnesses, how, true)])
  }
  for (const key of [...languages].sort()) fields.push([key, encodeItems([encodeBytes(program)], how, true)])
  if (datums.length > 0) fields.push([4, encodeItems(datums, how, true)])
  if (redeemers.length > 0) fields.push([5, encodeRedeemers(redeemers, how)])
  return fields
}

function encodeRedeemers(
  redeemers: readonly Redeemer[],
  { redeemersAsList, indefiniteLists }: Style,
): Uint8Array {
  const writer = new CborWriter()
  if (redeemersAsList) {
    if (indefiniteLists) writer.indefiniteArray()
    else writer.array(redeemers.length)
    for (const redeemer of redeemers) {
      writer.array(4).uint(redeemer.tag).uint(redeemer.index).raw(redeemer.data)
      writer.array(2).uint(redeemer.memory).uint(redeemer.steps)
    }
    return (indefiniteLists ? writer.break() : writer).toBytes()
  }
  if (indefiniteLists) writer.indefiniteMap()
  else writer.map(redeemers.length)
  for (const redeemer of redeemers) {
    writer.array(2).uint(redeemer.tag).uint(redeemer.index).array(2).raw(redeemer.data)
    writer.array(2).uint(redeemer.memory).uint(redeemer.steps)
  }
  return (indefiniteLists ? writer.break() : writer).toBytes()
}

function encodeItems(
  items: readonly Uint8Array[],
  { indefiniteLists, untaggedSets }: Style,
  isSet: boolean,
): Uint8Array {
  const writer = new CborWriter()
  if (isSet && !untaggedSets) writer.tag(258)
  if (indefiniteLists) writer.indefiniteArray()
  else writer.array(items.length)
  for (const item of items) writer.raw(item)
  return (indefiniteLists ? writer.break() : writer).toBytes()
}

function encodeMap(
  fields: readonly (readonly [number, Uint8Array])[],
  order: readonly number[],
  indefinite: boolean,
): Uint8Array {
  const writer = new CborWriter()
  if (indefinite) writer.indefiniteMap()
  else writer.map(fields.length)
  const weighted = fields.map((field, position) => ({ field, weight: order[position] ?? position }))
  for (const { field } of weighted.sort((a, b) => a.weight - b.weight)) writer.uint(field[0]).raw(field[1])
  return (indefinite ? writer.break() : writer).toBytes()
}

function encodeWide(value: bigint, width: 0 | 4 | 8): Uint8Array {
  if (width === 0) return encodeUint(value)
  const bytes = Buffer.alloc(1 + width, 0)
  bytes[0] = width === 4 ? 0x1a : 0x1b
  if (width === 4) bytes.writeUInt32BE(Number(value), 1)
  else bytes.writeBigUInt64BE(value, 1)
  return new Uint8Array(bytes)
}

function unique(items: readonly Uint8Array[]): readonly Uint8Array[] {
  return [...new Map(items.map((item) => [Buffer.from(item).toString('hex'), item])).values()]
}

/** Number of mutants; `RATATOSK_FUZZ=500000` is the long run. Other libraries take long for each. */
const runs = Math.ceil(Number(process.env.RATATOSK_FUZZ ?? 5_000) / 50)

const model = (length: number, first: bigint): bigint[] =>
  Array.from({ length }, (_, i) => (i % 7 === 3 ? -first - BigInt(i) : first * BigInt(i) ** 2n))
const parameters: ProtocolParameters = {
  minFeeA: 44n,
  minFeeB: 155_381n,
  maxTransactionSize: 16_384,
  maxValueSize: 5_000,
  coinsPerUtxoByte: 4_310n,
  collateralPercentage: 150n,
  maxCollateralInputs: 3,
  executionPrices: {
    memory: { numerator: 577n, denominator: 10_000n },
    steps: { numerator: 721n, denominator: 10_000_000n },
  },
  maxTransactionExecutionUnits: { memory: 2n ** 40n, steps: 2n ** 40n },
  maxBlockExecutionUnits: { memory: 2n ** 40n, steps: 2n ** 40n },
  referenceScriptCostPerByte: { numerator: 15n, denominator: 1n },
  costModels: { PlutusV1: model(166, 3n), PlutusV2: model(175, 1_000n), PlutusV3: model(297, 123_456n) },
  ledgerVersion: { major: 10, minor: 0 },
  keyDeposit: 2_000_000n,
  poolDeposit: 500_000_000n,
  drepDeposit: 500_000_000n,
  governanceActionDeposit: 100_000_000_000n,
}

const linearFee = cml.LinearFee.new(parameters.minFeeA, parameters.minFeeB, 15n)
const prices = cml.ExUnitPrices.new(cml.Rational.new(577n, 10_000n), cml.Rational.new(721n, 10_000_000n))
const costModels = cml.CostModels.from_cbor_bytes(encodeCostModels())

function encodeCostModels(): Uint8Array {
  const writer = new CborWriter(8192).map(3)
  for (const [key, language] of (['PlutusV1', 'PlutusV2', 'PlutusV3'] as const).entries()) {
    const costs = parameters.costModels[language] ?? []
    writer.uint(key).array(costs.length)
    for (const cost of costs) writer.int(cost)
  }
  return writer.toBytes()
}

/** Runs an assertion on every mutant, as decoded by this package and by CML. */
function always(assertion: (ours: Transaction, theirs: cml.Transaction, bytes: Uint8Array) => void): void {
  fc.assert(
    fc.property(mutants, (bytes) => {
      const theirs = cml.Transaction.from_cbor_bytes(bytes)
      try {
        assertion(decodeTransaction(bytes), theirs, bytes)
      } finally {
        theirs.free()
      }
    }),
    { numRuns: runs },
  )
}

const validated = (transaction: Transaction, predicate: string): PredicateFailure | undefined =>
  validateStateless(transaction, { parameters, networkId: 0, slot: 0n }).find(
    (one) => one.predicate === predicate,
  )

describe(`other libraries agree on ${runs} mutants`, { timeout: 600_000 }, () => {
  it('about transaction ids (CML and CSL)', () => {
    always(({ id }, theirs, bytes) => {
      expect(toHex(id)).toBe(cml.hash_transaction(theirs.body()).to_hex())
      expect(toHex(id)).toBe(csl.FixedTransaction.from_bytes(bytes).transaction_hash().to_hex())
    })
  })

  it('about the fee without reference scripts (CML, which counts the is_valid byte)', () => {
    always((ours, theirs) => {
      const required = cml.min_fee(theirs, linearFee, prices, 0n) - parameters.minFeeA
      expect(minimumFee(ours, parameters, 0)).toBe(required)
      expect(validated(ours, 'FeeTooSmallUTxO')?.details.requiredFee).toBe(
        ours.body.fee < required ? String(required) : undefined,
      )
    })
  })

  it('about the fee of reference scripts (CSL; CML rounds up, the ledger rounds down)', () => {
    const price = csl.UnitInterval.new(csl.BigNum.from_str('15'), csl.BigNum.from_str('1'))
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 204_800 }), (size) => {
        const required = BigInt(csl.min_ref_script_fee(size, price).to_str())
        expect(referenceScriptsFee(size, parameters.referenceScriptCostPerByte)).toBe(required)
      }),
      { numRuns: runs },
    )
  })

  it('about the minimum lovelace of outputs (CML)', () => {
    always((ours, theirs) => {
      const outputs = theirs.body().outputs()
      const small = ours.body.outputs.flatMap((output, position) => {
        const required = cml.min_ada_required(outputs.get(position), parameters.coinsPerUtxoByte)
        expect(minimumLovelace(output, parameters)).toBe(required)
        return output.value.lovelace < required ? [position] : []
      })
      const found = validated(ours, 'BabbageOutputTooSmallUTxO')?.details.outputs ?? []
      expect((found as { output: number }[]).map(({ output }) => output)).toEqual(small)
    })
  })

  it('about the script data hash (CSL for the same bytes, CML for one language with datums)', () => {
    let compared = 0
    always((ours, theirs) => {
      const languages = new Set(ours.witnesses.scripts.map(({ language }) => language).filter(isPlutus))
      const hash = scriptIntegrityHash(ours, languages, parameters)
      const byCsl = cslScriptDataHash(ours, languages)
      const byCml =
        ours.witnesses.redeemers.length > 0 && ours.witnesses.datums.size > 0 && languages.size === 1
          ? cml.calc_script_data_hash_from_witness(theirs.witness_set(), costModels)?.to_hex()
          : undefined
      for (const required of [byCsl, byCml]) {
        if (required === undefined) continue
        compared += 1
        expect(hash && toHex(hash)).toBe(required)
      }
    })
    expect(compared).toBeGreaterThan(runs / 20)
  })

  it('about the auxiliary data hash (CML)', () => {
    always((ours, theirs) => {
      const auxiliaryData = theirs.auxiliary_data()
      const actual = auxiliaryData && cml.hash_auxiliary_data(auxiliaryData).to_hex()
      const declared = theirs.body().auxiliary_data_hash()?.to_hex()
      expect(validated(ours, 'ConflictingMetadataHash') !== undefined).toBe(
        actual !== undefined && declared !== undefined && actual !== declared,
      )
      expect(validated(ours, 'MissingTxMetadata') !== undefined).toBe(
        actual === undefined && declared !== undefined,
      )
      expect(validated(ours, 'MissingTxBodyMetadataHash') !== undefined).toBe(
        actual !== undefined && declared === undefined,
      )
    })
  })

  it('about signatures (CML)', () => {
    always((ours, theirs) => {
      const id = ours.id
      const witnesses = theirs.witness_set().vkeywitnesses()
      const invalid: string[] = []
      for (let i = 0; i < (witnesses?.len() ?? 0); i++) {
        const witness = witnesses!.get(i)
        const key = witness.vkey()
        if (!key.verify(id, witness.ed25519_signature())) invalid.push(toHex(key.to_raw_bytes()))
      }
      expect(validated(ours, 'InvalidWitnessesUTXOW')?.details.publicKeys ?? []).toEqual(invalid)
    })
  })
})

/** The initial byte of a tag whose number follows in two bytes, as 258 does. */
const auxiliaryTag = 0xd9

/** CSL's hash of the same redeemers and datums; undefined if CSL would encode them otherwise. */
function cslScriptDataHash(
  { witnesses: { redeemersBytes, datumsBytes } }: Transaction,
  languages: ReadonlySet<PlutusLanguage>,
): string | undefined {
  if (redeemersBytes === undefined) return undefined
  const redeemers = csl.Redeemers.from_bytes(redeemersBytes)
  const datums = datumsBytes && csl.PlutusList.from_bytes(datumsBytes)
  if (!same(redeemers.to_bytes(), redeemersBytes)) return undefined
  // It always hashes datums as a tagged set, in every submitted encoding.
  if (
    datumsBytes &&
    (datumsBytes[0] !== auxiliaryTag || !same(datums?.to_bytes() ?? datumsBytes, datumsBytes))
  )
    return undefined
  return csl.hash_script_data(redeemers, cslCostModels(languages), datums).to_hex()
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return toHex(a) === toHex(b)
}

function cslCostModels(languages: ReadonlySet<PlutusLanguage>): csl.Costmdls {
  const models = csl.Costmdls.new()
  for (const language of languages) {
    const costs = csl.CostModel.new()
    for (const [i, cost] of (parameters.costModels[language] ?? []).entries()) {
      costs.set(i, csl.Int.from_str(String(cost)))
    }
    models.insert(cslLanguage[language](), costs)
  }
  return models
}

const cslLanguage = {
  PlutusV1: () => csl.Language.new_plutus_v1(),
  PlutusV2: () => csl.Language.new_plutus_v2(),
  PlutusV3: () => csl.Language.new_plutus_v3(),
}

function isPlutus(language: PlutusLanguage | 'native'): language is PlutusLanguage {
  return language !== 'native'
}
