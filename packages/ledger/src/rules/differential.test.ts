import * as cml from '@dcspark/cardano-multiplatform-lib-nodejs'
import * as csl from '@emurgo/cardano-serialization-lib-nodejs'
import { CborWriter, toHex } from '@ratatosk/cbor'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ProtocolParameters } from '../parameters/types.js'
import { mutants } from '../test/mutants.js'
import { decodeTransaction } from '../transaction/decode.js'
import type { PlutusLanguage, Transaction } from '../transaction/types.js'
import type { PredicateFailure } from './predicates.js'
import { minimumFee, minimumLovelace, referenceScriptsFee } from './utxo.js'
import { scriptIntegrityHash } from './utxow.js'
import { validateStateless } from './validate.js'

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
