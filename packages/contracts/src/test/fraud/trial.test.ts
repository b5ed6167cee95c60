import { headerHash } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { decodePlutusData, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import {
  encodeLedgerFraudProof,
  encodeTransactionFraudProof,
  encodeWitnessFraudProof,
} from '@ratatosk/protocol/fraud'
import { describe, expect, it } from 'vitest'
import { ledgerFraudScript, transactionFraudScript, witnessFraudScript } from '../../fraud-scripts.js'
import { encodeLedgerBreach, ledgerBreaches } from './ledger/breaches.js'
import { ledgerLies } from './ledger/lies.js'
import { tokensOf } from './minting.js'
import { transactionBreaches } from './transaction/breaches.js'
import { transactionLies } from './transaction/lies.js'
import { rules } from './transaction/transactions.js'
import { shortened, translatePolicy } from './trial.js'
import { witnessBreaches } from './witness/breaches.js'
import { witnessLies } from './witness/lies.js'

const none: readonly Uint8Array[] = []

const policies = [
  {
    policy: 'ledger',
    rule: translatePolicy(ledgerFraudScript()),
    accepted: ledgerLies.map(({ block, prove }) => {
      const proof = prove(block)
      const { header } = block
      return [block, encodeLedgerFraudProof(header, proof), tokensOf(header, proof)] as const
    }),
    refused: ledgerBreaches.map(
      ({ block, proof, name, tokens }) =>
        [block, encodeLedgerBreach(block.header, proof), name, tokens] as const,
    ),
  },
  {
    policy: 'transaction',
    rule: translatePolicy(transactionFraudScript(rules)),
    accepted: transactionLies.map(
      ({ block, prove }) => [block, encodeTransactionFraudProof(block.header, prove(block)), none] as const,
    ),
    refused: transactionBreaches.map(
      ({ block, proof, name }) =>
        [block, encodeTransactionFraudProof(block.header, proof), name, none] as const,
    ),
  },
  {
    policy: 'witness',
    rule: translatePolicy(witnessFraudScript(rules.parameters)),
    accepted: witnessLies.map(
      ({ block, prove }) => [block, encodeWitnessFraudProof(block.header, prove(block)), none] as const,
    ),
    refused: witnessBreaches.map(
      ({ block, proof, name }) => [block, encodeWitnessFraudProof(block.header, proof), name, none] as const,
    ),
  },
]

describe.each(policies)('the translated $policy policy', ({ rule, accepted, refused }) => {
  it('accepts every proof that the machine accepts', () => {
    for (const [{ header }, redeemer, tokens] of accepted)
      expect(rule(decodePlutusData(redeemer), headerHash(header), tokens)).toBe('accepted')
  })

  it('refuses what one rule of the policy refuses', () => {
    for (const [{ header }, redeemer, name, tokens] of refused)
      expect(rule(decodePlutusData(redeemer), name ?? headerHash(header), tokens)).toBe('refused')
  })

  it('refuses it with any byte string cut', () => {
    for (const [{ header }, redeemer, name, tokens] of refused)
      for (const cut of shortened(decodePlutusData(redeemer)))
        expect(rule(cut, name ?? headerHash(header), tokens), toHex(encodePlutusData(cut))).not.toBe(
          'accepted',
        )
  })
})
