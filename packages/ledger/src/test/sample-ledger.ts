import { CborWriter } from '@ratatosk/cbor'
import {
  addressOf,
  type Draft,
  encodeBytes,
  encodeDraft,
  encodeInput,
  encodeList,
  encodeOutput,
  encodeSet,
  encodeUint,
  keyOf,
  type OutputDraft,
  withFields,
} from '@ratatosk/fixtures'
import { blake2b224, blake2b256 } from '#crypto'
import { crc32 } from '../address/address.js'
import type { ProtocolParameters } from '../parameters/types.js'
import type { RuleContext } from '../rules/context.js'
import { scriptIntegrityHash } from '../rules/utxow.js'
import { decodeTransaction, decodeTransactionOutput } from '../transaction/decode.js'
import { outputReferenceKey } from '../transaction/output-reference.js'
import type { TransactionOutput } from '../transaction/types.js'

export const parameters: ProtocolParameters = {
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
  maxTransactionExecutionUnits: { memory: 14_000_000n, steps: 10_000_000_000n },
  maxBlockExecutionUnits: { memory: 62_000_000n, steps: 20_000_000_000n },
  referenceScriptCostPerByte: { numerator: 15n, denominator: 1n },
  costModels: { PlutusV1: [1n, 2n, -3n], PlutusV2: [4n], PlutusV3: [5n, 1_000n] },
  ledgerVersion: { major: 10, minor: 0 },
  keyDeposit: 2_000_000n,
  poolDeposit: 500_000_000n,
  drepDeposit: 500_000_000n,
  governanceActionDeposit: 100_000_000_000n,
}
export const context: RuleContext = { parameters, networkId: 0, slot: 1_000n }

export const alice = keyOf('alice')
export const bob = keyOf('bob')
export const sampleId = new Uint8Array(32).fill(0xaa)
export const sampleFee = 400_000n
export const oneAda = 1_000_000n

/** The program `(con unit ())`. These tests only decode it. */
const plutusBytes = Uint8Array.of(0x46, 1, 0, 0, 0b01001001, 0b10000000, 0b00000001)
export const plutusHash = (language: 1 | 2 | 3): Uint8Array =>
  blake2b224(Uint8Array.of(language, ...plutusBytes))
export const nativeBytes = new CborWriter().array(2).uint(0).bytes(alice.hash).toBytes()
export const nativeHash = blake2b224(Uint8Array.of(0, ...nativeBytes))
export const datum = Uint8Array.of(0x18, 0x2a)
export const datumHash = blake2b256(datum)

/** A Byron address of mainnet with these attributes. */
export function byron(attributes: Uint8Array): Uint8Array {
  const payload = new CborWriter().array(3).bytes(alice.hash).raw(attributes).uint(0).toBytes()
  return new CborWriter().array(2).tag(24).bytes(payload).uint(crc32(payload)).toBytes()
}

/** The unspent outputs, by their index; all have the same transaction id. */
const outputs: readonly OutputDraft[] = [
  /* 0 */ { address: addressOf(alice.hash), lovelace: 10n * oneAda },
  /* 1 */ { address: addressOf(bob.hash), lovelace: 10n * oneAda },
  /* 2 */ {
    address: addressOf(alice.hash),
    lovelace: 10n * oneAda,
    assets: [[nativeHash, 'c0ffee', 7n]],
  },
  /* 3 */ { address: addressOf(nativeHash, 'script'), lovelace: 10n * oneAda },
  /* 4 */ { address: addressOf(plutusHash(1), 'script'), lovelace: 10n * oneAda, datumHash },
  /* 5 */ { address: addressOf(plutusHash(2), 'script'), lovelace: 10n * oneAda, inlineDatum: datum },
  /* 6 */ { address: addressOf(plutusHash(3), 'script'), lovelace: 10n * oneAda },
  /* 7 */ { address: addressOf(plutusHash(2), 'script'), lovelace: 10n * oneAda },
  /* 8 */ { address: addressOf(bob.hash), lovelace: 10n * oneAda, script: scriptReference(0, nativeBytes) },
  /* 9 */ {
    address: addressOf(bob.hash),
    lovelace: 10n * oneAda,
    script: scriptReference(3, encodeBytes(plutusBytes)),
  },
  /* 10 */ { address: addressOf(bob.hash), lovelace: 10n * oneAda, datumHash },
  /* 11 */ { address: addressOf(plutusHash(3), 'script'), lovelace: 10n * oneAda, datumHash },
]
export const utxos = new Map<string, TransactionOutput>(
  outputs.map((output, index) => [
    outputReferenceKey({ transactionId: sampleId, index }),
    decodeTransactionOutput(encodeOutput(output)),
  ]),
)

export function scriptReference(language: number, bytes: Uint8Array): Uint8Array {
  return new CborWriter().array(2).uint(language).raw(bytes).toBytes()
}

export const spend = (...indexes: number[]): Uint8Array =>
  encodeSet(indexes.map((index) => encodeInput(sampleId, index)))
export const pay = (...drafts: OutputDraft[]): Uint8Array => encodeList(drafts.map(encodeOutput))
export const toBob = (lovelace: bigint, more: Partial<OutputDraft> = {}): OutputDraft => ({
  address: addressOf(bob.hash),
  lovelace,
  ...more,
})
const units = (memory: bigint, steps: bigint): Uint8Array =>
  new CborWriter().array(2).uint(memory).uint(steps).toBytes()
export const redeemers = (...pointers: (readonly [tag: number, index: number])[]): Uint8Array => {
  const writer = new CborWriter().map(pointers.length)
  for (const [tag, index] of pointers) {
    writer.array(2).uint(tag).uint(index).array(2).uint(0).raw(units(1_000n, 1_000_000n))
  }
  return writer.toBytes()
}

/** A transfer from alice to bob with one input and one output. */
export const transfer: Draft = {
  body: new Map([
    [0, spend(0)],
    [1, pay(toBob(10n * oneAda - sampleFee))],
    [2, encodeUint(sampleFee)],
  ]),
  witnesses: new Map(),
  signers: [alice],
  isValid: true,
}

/** Spends an output that is locked by a Plutus script, with everything that this requires. */
export function plutusSpend(
  index: number,
  language: 1 | 2 | 3,
  witnesses: { [key: number]: Uint8Array } = {},
): Draft {
  const draft = withFields(
    transfer,
    {
      0: spend(index),
      13: spend(0),
      16: encodeOutput({ address: addressOf(alice.hash), lovelace: 9n * oneAda }),
    },
    {
      [language === 1 ? 3 : language === 2 ? 6 : 7]: encodeSet([encodeBytes(plutusBytes)]),
      5: redeemers([0, 0]),
      ...witnesses,
    },
  )
  return committed(draft, language)
}

export function committed(draft: Draft, ...languages: (1 | 2 | 3)[]): Draft {
  const hash = scriptIntegrityHash(
    decodeTransaction(encodeDraft(draft)),
    new Set(languages.map((language) => `PlutusV${language}` as const)),
    parameters,
  )
  if (!hash) throw new Error('nothing to commit to')
  return withFields(draft, { 11: encodeBytes(hash) })
}
