import { headerHash } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { encodeLedgerFraudProof, encodeTransactionFraudProof, encodeWitnessFraudProof } from '@ratatosk/fraud'
import { decodePlutusData, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { describe, expect, it } from 'vitest'
import { ledgerFraudScript, transactionFraudScript, witnessFraudScript } from '../../fraud/scripts.js'
import { ledgerBreaches } from './ledger/breaches.js'
import { ledgerLies } from './ledger/lies.js'
import { shortened } from './mutations.js'
import { transactionBreaches } from './transaction/breaches.js'
import { transactionLies } from './transaction/lies.js'
import { rules } from './transaction/transactions.js'
import { translatePolicy } from './trial.js'
import { witnessBreaches } from './witness/breaches.js'
import { witnessLies } from './witness/lies.js'

const policies = [
  {
    policy: 'ledger',
    rule: translatePolicy(ledgerFraudScript()),
    accepted: ledgerLies.map(
      ({ block, prove }) => [block, encodeLedgerFraudProof(block.header, prove(block))] as const,
    ),
    refused: ledgerBreaches.map(
      ({ block, proof, name }) => [block, encodeLedgerFraudProof(block.header, proof), name] as const,
    ),
  },
  {
    policy: 'transaction',
    rule: translatePolicy(transactionFraudScript(rules)),
    accepted: transactionLies.map(
      ({ block, prove }) => [block, encodeTransactionFraudProof(block.header, prove(block))] as const,
    ),
    refused: transactionBreaches.map(
      ({ block, proof, name }) => [block, encodeTransactionFraudProof(block.header, proof), name] as const,
    ),
  },
  {
    policy: 'witness',
    rule: translatePolicy(witnessFraudScript(rules.parameters)),
    accepted: witnessLies.map(
      ({ block, prove }) => [block, encodeWitnessFraudProof(block.header, prove(block))] as const,
    ),
    refused: witnessBreaches.map(
      ({ block, proof, name }) => [block, encodeWitnessFraudProof(block.header, proof), name] as const,
    ),
  },
]

describe.each(policies)('the translated $policy policy', ({ rule, accepted, refused }) => {
  it('accepts every proof that the machine accepts', () => {
    for (const [{ header }, redeemer] of accepted)
      expect(rule(decodePlutusData(redeemer), headerHash(header))).toBe('accepted')
  })

  it('refuses what one rule of the policy refuses', () => {
    for (const [{ header }, redeemer, name] of refused)
      expect(rule(decodePlutusData(redeemer), name ?? headerHash(header))).toBe('refused')
  })

  it('refuses it with any byte string cut', () => {
    for (const [{ header }, redeemer, name] of refused)
      for (const cut of shortened(decodePlutusData(redeemer)))
        expect(rule(cut, name ?? headerHash(header)), toHex(encodePlutusData(cut))).not.toBe('accepted')
  })
})
