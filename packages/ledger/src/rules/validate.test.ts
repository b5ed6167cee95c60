import { CborWriter, toHex } from '@ratatosk/cbor'
import {
  addressOf,
  type Draft,
  encodeAssets,
  encodeBytes,
  encodeDraft,
  encodeOutput,
  encodeSet,
  encodeUint,
  withFields,
} from '@ratatosk/fixtures'
import { describe, expect, it } from 'vitest'
import { blake2b256 } from '#crypto'
import type { ProtocolParameters } from '../parameters/types.js'
import {
  alice,
  bob,
  byron,
  committed,
  context,
  datum,
  datumHash,
  nativeBytes,
  nativeHash,
  oneAda,
  parameters,
  pay,
  plutusSpend,
  redeemers,
  sampleFee,
  sampleId,
  scriptReference,
  spend,
  toBob,
  transfer,
  utxos,
} from '../test/sample-ledger.js'
import { decodeTransaction } from '../transaction/decode.js'
import type { Transaction } from '../transaction/types.js'
import type { RuleContext } from './context.js'
import type { Failures } from './predicates.js'
import { validatePhaseOne, validateStateful, validateStateless } from './validate.js'

const decode = (draft: Draft): Transaction => decodeTransaction(encodeDraft(draft))
const validateDraft = (draft: Draft, changes: Partial<RuleContext> = {}): Failures =>
  validatePhaseOne(decode(draft), utxos, { ...context, ...changes })
const names = (failures: Failures): string[] => failures.map(({ predicate }) => predicate)
const withParameters = (changes: Partial<ProtocolParameters>): Partial<RuleContext> => ({
  parameters: { ...parameters, ...changes },
})

describe('accepts a transaction', () => {
  it.each<[string, Draft]>([
    ['when it transfers ada', transfer],
    ['when it names its network', withFields(transfer, { 15: encodeUint(0) })],
    ['when its interval is open', withFields(transfer, { 8: encodeUint(1_000), 3: encodeUint(1_001) })],
    [
      'when it transfers assets',
      withFields(transfer, {
        0: spend(2),
        1: pay(toBob(10n * oneAda - sampleFee, { assets: [[nativeHash, 'c0ffee', 7n]] })),
      }),
    ],
    [
      'when it mints with a native script',
      withFields(
        transfer,
        {
          1: pay(toBob(10n * oneAda - sampleFee, { assets: [[nativeHash, '', 5n]] })),
          9: encodeAssets([[nativeHash, '', 5n]]),
        },
        { 1: encodeSet([nativeBytes]) },
      ),
    ],
    [
      'when it burns',
      withFields(
        transfer,
        {
          0: spend(2),
          9: encodeAssets([[nativeHash, 'c0ffee', -7n]]),
        },
        { 1: encodeSet([nativeBytes]) },
      ),
    ],
    [
      'when a native script is in the witness set',
      withFields(transfer, { 0: spend(3) }, { 1: encodeSet([nativeBytes]) }),
    ],
    ['when a native script is in a reference input', withFields(transfer, { 0: spend(3), 18: spend(8) })],
    ['when it spends from Plutus V1 with a datum', plutusSpend(4, 1, { 4: encodeSet([datum]) })],
    ['when it spends from Plutus V2 with an inline datum', plutusSpend(5, 2)],
    ['when it spends from Plutus V3 without a datum', plutusSpend(6, 3)],
    ['when it states its total collateral', withFields(plutusSpend(6, 3), { 17: encodeUint(oneAda) })],
    [
      'when a datum belongs to an output',
      committed(
        withFields(
          transfer,
          { 1: pay(toBob(10n * oneAda - sampleFee, { datumHash })) },
          { 4: encodeSet([datum]) },
        ),
      ),
    ],
    [
      'when a datum belongs to a reference input',
      committed(withFields(transfer, { 18: spend(10) }, { 4: encodeSet([datum]) })),
    ],
    ['when a required signer has signed', withFields(transfer, { 14: encodeSet([encodeBytes(alice.hash)]) })],
    [
      'when it has auxiliary data',
      {
        ...withFields(transfer, { 7: encodeBytes(blake2b256(Uint8Array.of(0xa1, 1, 2))) }),
        auxiliaryData: Uint8Array.of(0xa1, 1, 2),
      },
    ],
  ])('%s', (_, draft) => {
    expect(validateDraft(draft)).toEqual([])
  })
})

describe('reports the predicates that a transaction breaks', () => {
  const malformed = new CborWriter().tag(259).map(1).uint(4).array(1).bytes(Uint8Array.of(0x41, 1)).toBytes()
  const attributes = new CborWriter()
    .map(1)
    .uint(1)
    .bytes(encodeBytes(new Uint8Array(65)))
    .toBytes()

  it.each<[string, Draft, Partial<RuleContext>?]>([
    ['FeeTooSmallUTxO', withFields(transfer, { 1: pay(toBob(10n * oneAda - 1n)), 2: encodeUint(1) })],
    ['MaxTxSizeUTxO', transfer, withParameters({ maxTransactionSize: 100 })],
    ['BadInputsUTxO', withFields(transfer, { 0: spend(0, 99) })],
    ['BadInputsUTxO', withFields(transfer, { 13: spend(99) })],
    ['BadInputsUTxO', withFields(transfer, { 18: spend(99) })],
    ['ValueNotConservedUTxO', withFields(transfer, { 1: pay(toBob(10n * oneAda)) })],
    ['ValueNotConservedUTxO', withFields(transfer, { 22: encodeUint(1) })],
    ['OutsideValidityIntervalUTxO', withFields(transfer, { 8: encodeUint(1_001) })],
    ['OutsideValidityIntervalUTxO', withFields(transfer, { 3: encodeUint(1_000) })],
    ['WrongNetworkInTxBody', withFields(transfer, { 15: encodeUint(1) })],
    [
      'WrongNetwork',
      withFields(transfer, {
        1: pay({ address: addressOf(bob.hash, 'key', 1), lovelace: 10n * oneAda - sampleFee }),
      }),
    ],
    [
      'WrongNetworkWithdrawal',
      withFields(transfer, {
        5: new CborWriter()
          .map(1)
          .bytes(Uint8Array.of(0xe1, ...alice.hash))
          .uint(0)
          .toBytes(),
      }),
    ],
    [
      'BabbageOutputTooSmallUTxO',
      withFields(transfer, {
        1: pay(toBob(9n * oneAda - sampleFee), toBob(oneAda - 200_000n), toBob(200_000n)),
      }),
    ],
    ['OutputTooBigUTxO', transfer, withParameters({ maxValueSize: 4 })],
    [
      'TooManyCollateralInputs',
      withFields(transfer, { 13: spend(0, 2) }),
      withParameters({ maxCollateralInputs: 1 }),
    ],
    ['BabbageNonDisjointRefInputs', withFields(transfer, { 18: spend(0) })],
    ['InvalidWitnessesUTXOW', { ...transfer, signers: [alice, { ...bob, sign: () => new Uint8Array(64) }] }],
    ['MissingVKeyWitnessesUTXOW', { ...transfer, signers: [bob] }],
    ['MissingVKeyWitnessesUTXOW', withFields(transfer, { 13: spend(1) })],
    ['MissingVKeyWitnessesUTXOW', withFields(transfer, { 14: encodeSet([encodeBytes(bob.hash)]) })],
    ['MissingScriptWitnessesUTXOW', withFields(transfer, { 0: spend(3) })],
    [
      'ScriptWitnessNotValidatingUTXOW',
      { ...withFields(transfer, { 0: spend(3) }, { 1: encodeSet([nativeBytes]) }), signers: [bob] },
    ],
    ['ExtraneousScriptWitnessesUTXOW', withFields(transfer, {}, { 1: encodeSet([nativeBytes]) })],
    [
      'ExtraneousScriptWitnessesUTXOW',
      withFields(transfer, { 0: spend(3), 18: spend(8) }, { 1: encodeSet([nativeBytes]) }),
    ],
    ['MissingTxMetadata', withFields(transfer, { 7: encodeBytes(new Uint8Array(32)) })],
    ['MissingTxBodyMetadataHash', { ...transfer, auxiliaryData: Uint8Array.of(0xa0) }],
    [
      'ConflictingMetadataHash',
      { ...withFields(transfer, { 7: encodeBytes(new Uint8Array(32)) }), auxiliaryData: Uint8Array.of(0xa0) },
    ],
    [
      'InvalidMetadata',
      { ...withFields(transfer, { 7: encodeBytes(blake2b256(malformed)) }), auxiliaryData: malformed },
    ],
    [
      'MalformedReferenceScripts',
      withFields(transfer, {
        1: pay(
          toBob(10n * oneAda - sampleFee, {
            script: scriptReference(3, encodeBytes(Uint8Array.of(0x41, 1))),
          }),
        ),
      }),
    ],
    ['PPViewHashesDontMatch', withFields(plutusSpend(6, 3), { 11: encodeBytes(new Uint8Array(32)) })],
    ['PPViewHashesDontMatch', withFields(plutusSpend(6, 3), { 11: undefined })],
    ['PPViewHashesDontMatch', withFields(transfer, { 11: encodeBytes(new Uint8Array(32)) })],
    [
      'ScriptIntegrityHashMismatch',
      withFields(plutusSpend(6, 3), { 11: undefined }),
      withParameters({ ledgerVersion: { major: 11, minor: 0 } }),
    ],
    ['MissingRequiredDatums', committed(withFields(plutusSpend(4, 1), {}), 1)],
    ['MissingRequiredDatums', plutusSpend(11, 3)],
    ['UnspendableUTxONoDatumHash', plutusSpend(7, 2)],
    ['NotAllowedSupplementalDatums', committed(withFields(transfer, {}, { 4: encodeSet([datum]) }))],
    [
      'MissingRedeemers',
      committed(withFields(plutusSpend(6, 3), { 13: undefined, 16: undefined }, { 5: undefined }), 3),
    ],
    ['ExtraRedeemers', committed(withFields(plutusSpend(6, 3), {}, { 5: redeemers([0, 0], [1, 0]) }), 3)],
    [
      'NoCollateralInputs, InsufficientCollateral',
      withFields(plutusSpend(6, 3), { 13: undefined, 16: undefined }),
    ],
    [
      'InsufficientCollateral',
      withFields(plutusSpend(6, 3), { 16: encodeOutput(toBob(9n * oneAda + 500_000n)) }),
    ],
    ['IncorrectTotalCollateralField', withFields(plutusSpend(6, 3), { 17: encodeUint(oneAda + 1n) })],
    ['CollateralContainsNonADA', withFields(plutusSpend(6, 3), { 13: spend(2) })],
    ['ScriptsNotPaidUTxO', withFields(plutusSpend(6, 3), { 13: spend(5) })],
    [
      'ExUnitsTooBigUTxO',
      plutusSpend(6, 3),
      withParameters({ maxTransactionExecutionUnits: { memory: 999n, steps: 10n ** 10n } }),
    ],
    ['OutsideForecast', withFields(plutusSpend(6, 3), { 3: encodeUint(2_001) }), { forecastHorizon: 2_000n }],
    [
      'ConwayTxRefScriptsSizeTooBig',
      withFields(transfer, { 18: spend(8) }),
      withParameters({ maxReferenceScriptsSize: nativeBytes.length - 1 }),
    ],
    ['ConwayTreasuryValueMismatch', withFields(transfer, { 21: encodeUint(5) }), { treasury: 6n }],
    [
      'OutputBootAddrAttrsTooBig',
      withFields(transfer, { 1: pay({ address: byron(attributes), lovelace: 10n * oneAda - sampleFee }) }),
      { networkId: 1 },
    ],
  ])('%s', (predicates, draft, changes) => {
    const failures = validateDraft(draft, changes)
    expect(names(failures).join(', ')).toBe(predicates)
    expect(JSON.parse(JSON.stringify(failures))).toEqual(failures)
  })
})

describe('the failures of a transaction', () => {
  it('reports every broken rule once, stateless, stateful and in validatePhaseOne', () => {
    const draft = {
      ...withFields(transfer, { 1: pay(toBob(1n)), 2: encodeUint(1), 15: encodeUint(1) }),
      signers: [],
    }
    const transaction = decode(draft)
    expect(names(validateStateless(transaction, context))).toEqual([
      'FeeTooSmallUTxO',
      'BabbageOutputTooSmallUTxO',
      'WrongNetworkInTxBody',
    ])
    expect(names(validateStateful(transaction, utxos, context))).toEqual([
      'FeeTooSmallUTxO',
      'ValueNotConservedUTxO',
      'MissingVKeyWitnessesUTXOW',
    ])
    expect(names(validatePhaseOne(transaction, utxos, context)).sort()).toEqual([
      'BabbageOutputTooSmallUTxO',
      'FeeTooSmallUTxO',
      'MissingVKeyWitnessesUTXOW',
      'ValueNotConservedUTxO',
      'WrongNetworkInTxBody',
    ])
  })

  it('states the declared and the required fee', () => {
    const draft = withFields(transfer, { 1: pay(toBob(10n * oneAda - 1n)), 2: encodeUint(1) })
    const size = encodeDraft(draft).length - 1
    expect(validateDraft(draft)[0]?.details).toEqual({
      requiredFee: String(44 * size + 155_381),
      fee: '1',
      size,
      referenceScriptsSize: 0,
    })
  })

  it('charges reference scripts of spent and referenced outputs once each', () => {
    for (const fields of [{ 18: spend(8) }, { 0: spend(0, 8), 1: pay(toBob(20n * oneAda - 1n)) }]) {
      const draft = { ...withFields(transfer, { 2: encodeUint(1), ...fields }), signers: [alice, bob] }
      const fee = validateDraft(draft).find(({ predicate }) => predicate === 'FeeTooSmallUTxO')
      const size = encodeDraft(draft).length - 1
      expect(fee?.details.referenceScriptsSize).toBe(nativeBytes.length)
      expect(fee?.details.requiredFee).toBe(String(44 * size + 155_381 + 15 * nativeBytes.length))
    }
  })

  it('charges execution units, rounded up', () => {
    const draft = withFields(plutusSpend(6, 3), { 2: encodeUint(1) })
    const size = encodeDraft(draft).length - 1
    // 1,000 × 0.0577 + 1,000,000 × 0.0000721 = 129.8
    expect(validateDraft(draft)[0]?.details.requiredFee).toBe(String(44 * size + 155_381 + 130))
  })

  it('lists missing keys and unknown inputs', () => {
    const failures = validateDraft({ ...withFields(transfer, { 0: spend(0, 1, 99) }), signers: [bob] })
    expect(failures.map(({ predicate, details }) => ({ predicate, ...details }))).toEqual([
      { predicate: 'BadInputsUTxO', inputs: [`${toHex(sampleId)}#99`] },
      { predicate: 'MissingVKeyWitnessesUTXOW', keyHashes: [toHex(alice.hash)] },
    ])
  })

  it('contains only BadInputsUTxO while unknown inputs affect the other rules', () => {
    const draft = withFields(plutusSpend(6, 3, { 4: encodeSet([datum]), 1: encodeSet([nativeBytes]) }), {
      0: spend(0, 99),
    })
    expect(names(validateDraft(draft))).toEqual(['BadInputsUTxO'])
    expect(names(validateDraft(withFields(draft, { 0: spend(0, 1) })))).not.toContain('BadInputsUTxO')
  })

  it('reports a malformed script in the witness set', () => {
    const bytes = Uint8Array.of(0x41, 1)
    const draft = withFields(transfer, {}, { 7: encodeSet([encodeBytes(bytes)]) })
    expect(names(validateDraft(draft))).toEqual([
      'MalformedScriptWitnesses',
      'ExtraneousScriptWitnessesUTXOW',
    ])
  })

  it('ignores the size of reference scripts if the transaction is marked invalid', () => {
    const draft = { ...withFields(transfer, { 18: spend(8) }), isValid: false }
    expect(validateDraft(draft, withParameters({ maxReferenceScriptsSize: 1 }))).toEqual([])
  })
})
