import { toHex } from '@ratatosk/cbor'
import { type Draft, encodeBytes, encodeDraft, encodeSet, encodeUint, withFields } from '@ratatosk/fixtures'
import { describe, expect, it } from 'vitest'
import type { ProtocolParameters } from '../parameters/types.js'
import {
  alice,
  bob,
  context,
  datum,
  nativeBytes,
  oneAda,
  parameters,
  pay,
  plutusSpend,
  sampleId,
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
