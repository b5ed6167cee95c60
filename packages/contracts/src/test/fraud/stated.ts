import {
  encodeLedgerFraudProof,
  encodeResolution,
  encodeTransactionFraudProof,
  encodeWitnessFraudProof,
  type LedgerFraudProof,
} from '@ratatosk/protocol/fraud'
import type { VerdictPolicyName } from '../../fraud-scripts.js'
import type { TestKey } from '../transaction.js'
import type { TestBlock } from './blocks.js'
import { type Draw, some } from './draw.js'
import { proofsOf, resolutionsIn } from './ledger/honest-blocks.js'
import { tokensOf } from './minting.js'
import { transactionProofsOf } from './transaction/honest-proofs.js'
import type { Stated, Trial } from './trial.js'
import { witnessProofsOf } from './witness/honest-blocks.js'

/** How many proofs of a fraud are stated of a block, unless more are wanted. */
export const proofsOfFraud = 8

/** The proofs of a block, as many of each fraud as there may be. */
export function statedBy<Proof extends { readonly fraud: string }>(
  proofs: Iterable<Proof>,
  encode: (proof: Proof) => Uint8Array,
  most: number,
  draw: Draw,
  tokens: (proof: Proof) => readonly Uint8Array[] = () => [],
): Stated[] {
  const byFraud = new Map<string, Proof[]>()
  for (const proof of proofs) {
    const own = byFraud.get(proof.fraud)
    if (own) own.push(proof)
    else byFraud.set(proof.fraud, [proof])
  }
  return [...byFraud].flatMap(([fraud, own]) =>
    some(own, most, draw).map((proof) => [fraud, encode(proof), tokens(proof)] as const),
  )
}

/** Proofs of the ledger policy, and parts of proofs, whose tokens are no verdicts. */
export const ledgerStatedOf = (block: TestBlock, draw: Draw, most: number): Stated[] => {
  const { header } = block
  const parts = [...resolutionsIn(block)].map(
    (part) => ['resolution', encodeResolution(header, part)] as const,
  )
  const encode = (proof: LedgerFraudProof) => encodeLedgerFraudProof(header, proof)
  return [
    ...statedBy(proofsOf(block), encode, most, draw, (proof) => tokensOf(header, proof)),
    ...some(parts, most, draw),
  ]
}

/** Proofs of every policy. @param keys that may sign @param most of each fraud */
export const statedOf = (
  block: TestBlock,
  keys: readonly TestKey[],
  draw: Draw,
  most = proofsOfFraud,
): Record<VerdictPolicyName, Stated[]> => {
  const { header } = block
  return {
    ledger: ledgerStatedOf(block, draw, most),
    transaction: statedBy(
      transactionProofsOf(block),
      (proof) => encodeTransactionFraudProof(header, proof),
      most,
      draw,
    ),
    witness: statedBy(
      witnessProofsOf(block, keys),
      ({ prove }) => encodeWitnessFraudProof(header, prove()),
      most,
      draw,
    ),
  }
}

/** The numbers of tried redeemers, stated and with changed parts, and of both by the machine. */
interface Tried {
  readonly proofs: number
  readonly mutations: number
  readonly byMachine: number
}

export function triedBy({ tallies }: Pick<Trial, 'tallies'>): Tried {
  const sum = { proofs: 0, mutations: 0, byMachine: 0 }
  for (const [kind, { tried, byMachine }] of tallies) {
    sum[kind.includes(',') ? 'mutations' : 'proofs'] += tried
    sum.byMachine += byMachine
  }
  return sum
}
