import { partsOf } from '@ratatosk/block'
import { fromHex } from '@ratatosk/cbor'
import { decodeTransaction, judgeProfile, judgeUnsigned } from '@ratatosk/ledger'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { afterAll, describe, expect, it } from 'vitest'
import { findFraud, fraudScript, type VerdictPolicyName } from '../../fraud/find-fraud.js'
import { findTransactionFraud } from '../../fraud/find-transaction-fraud.js'
import { encodeLedgerFraudProof } from '../../fraud/ledger-proofs.js'
import { ledgerFraudScript, transactionFraudScript, witnessFraudScript } from '../../fraud/scripts.js'
import { encodeTransactionFraudProof } from '../../fraud/transaction-proofs.js'
import { encodeWitnessFraudProof } from '../../fraud/witness-proofs.js'
import type { PlutusScript } from '../../script/apply.js'
import { blockOf, noteOutputs, type TestBlock } from '../../test/fraud/blocks.js'
import { type Draw, drawing, some } from '../../test/fraud/draw.js'
import { openCek } from '../../test/fraud/engines.js'
import { honestBlockOf, proofsOf } from '../../test/fraud/honest-blocks.js'
import { honestTransactionsOf, transactionProofsOf } from '../../test/fraud/honest-transactions.js'
import { richBlockOf, signers } from '../../test/fraud/rich-blocks.js'
import { transactionRulesBrokenBy } from '../../test/fraud/transaction-rules.js'
import { rules } from '../../test/fraud/transactions.js'
import { openTrial, type Stated, type Trial } from '../../test/fraud/trial.js'
import { acceptedScenarios, hasVectors, midgardTransactions } from '../../test/fraud/vectors.js'
import { witnessProofsOf } from '../../test/fraud/witness-honest-blocks.js'
import type { TestKey } from '../../test/keys.js'

/**
 * `RATATOSK_HONEST_BLOCKS=10000` tries so many blocks; otherwise a few. `RATATOSK_HONEST_FROM=5001` begins with that seed, so that a long
 * run can be split. `RATATOSK_HONEST_MUTATIONS` is how many changed redeemers each policy gets in each block.
 */
const isLong = process.env.RATATOSK_HONEST_BLOCKS !== undefined
const blocks = Number(process.env.RATATOSK_HONEST_BLOCKS ?? 4)
const from = Number(process.env.RATATOSK_HONEST_FROM ?? 1)
const seeds = Array.from({ length: blocks }, (_, index) => from + index)
const mutationsOfBlock = Number(process.env.RATATOSK_HONEST_MUTATIONS ?? 35)
const proofsOfFraud = 8
/** What of the trials goes through the machine too. */
const sample = isLong ? { first: 20, every: 100 } : { first: 1, every: 100 }

/** The transactions of the Midgard chains are tried one by so many; all of them with `RATATOSK_HONEST_BLOCKS`. */
const everyMidgardTransaction = isLong ? 1 : 1000

/** The proofs of a block, as many of each fraud as there may be. */
function statedBy<Proof extends { readonly fraud: string }>(
  proofs: Iterable<Proof>,
  encode: (proof: Proof) => Uint8Array,
  most: number,
  draw: Draw,
): Stated[] {
  const byFraud = new Map<string, Proof[]>()
  for (const proof of proofs) {
    const own = byFraud.get(proof.fraud)
    if (own) own.push(proof)
    else byFraud.set(proof.fraud, [proof])
  }
  return [...byFraud].flatMap(([fraud, own]) =>
    some(own, most, draw).map((proof) => [fraud, encode(proof)] as const),
  )
}

/** Proofs of every policy. @param keys that may sign */
const statedOf = (
  block: TestBlock,
  keys: readonly TestKey[],
  draw: Draw,
): Record<VerdictPolicyName, Stated[]> => {
  const { header } = block
  return {
    ledger: statedBy(proofsOf(block), (proof) => encodeLedgerFraudProof(header, proof), proofsOfFraud, draw),
    transaction: statedBy(
      transactionProofsOf(block),
      (proof) => encodeTransactionFraudProof(header, proof),
      proofsOfFraud,
      draw,
    ),
    witness: statedBy(
      witnessProofsOf(block, keys),
      ({ prove }) => encodeWitnessFraudProof(header, prove()),
      proofsOfFraud,
      draw,
    ),
  }
}

/** Writes what a long run has tried. */
function report(what: string, { tallies }: Trial): void {
  const sum = { proofs: 0, mutations: 0, byMachine: 0 }
  for (const [kind, { tried, byMachine }] of tallies) {
    sum[kind.includes(',') ? 'mutations' : 'proofs'] += tried
    sum.byMachine += byMachine
  }
  if (isLong) process.stdout.write(`${what}: ${JSON.stringify(sum)}\n`)
}

/** The frauds that were tried without a change. */
function fraudsTried(what: string, trial: Trial): string[] {
  report(what, trial)
  return [...trial.tallies.keys()].filter((kind) => !kind.includes(','))
}

describe('an honest block', { timeout: 48 * 3_600_000 }, () => {
  const machine = openCek()
  const evaluator = createEvaluator({ threads: 1, timeLimitMs: 60_000 })
  afterAll(() => evaluator.close())
  const trialOf = (script: PlutusScript) => openTrial({ script, machine, ...sample })

  it('gives no proof of a fraud by any policy, at any place, and none with its parts changed', async () => {
    const trials = {
      ledger: trialOf(ledgerFraudScript()),
      transaction: trialOf(transactionFraudScript(rules)),
      witness: trialOf(witnessFraudScript(rules.parameters)),
    }
    let [transactions, refused] = [0, 0]
    for (const seed of seeds) {
      const draw = drawing(seed)
      const rich = await richBlockOf(seed, evaluator)
      const { block } = rich
      transactions += block.transactions.length
      refused += rich.refused.length
      const keys = [...block.outputsBefore.keys()].map(fromHex)
      expect(findFraud(block, { rules, keys }), `seed ${seed}`).toBeUndefined()
      const { header } = block
      const stated = statedOf(block, signers, draw)
      for (const [policy, trial] of Object.entries(trials))
        await trial.expectNoVerdict(header, stated[policy as VerdictPolicyName], mutationsOfBlock, draw)
      if (isLong && seed % 500 === 0)
        for (const [policy, trial] of Object.entries(trials)) report(`${policy}, seed ${seed}`, trial)
    }
    if (isLong) process.stdout.write(`${blocks} blocks of ${transactions} transactions; ${refused} refused\n`)
    expect(transactions).toBeGreaterThan(blocks)
    expect(fraudsTried('ledger', trials.ledger)).toHaveLength(12)
    expect(fraudsTried('transaction', trials.transaction)).toHaveLength(12)
    expect(fraudsTried('witness', trials.witness)).toHaveLength(7)
  })

  it.skipIf(!hasVectors)('of a scenario of the ledger gives no proof by any policy', async () => {
    let tried = 0
    for (const { name, transaction, unspent, parameters, networkId, slot } of acceptedScenarios()) {
      tried++
      if (!isLong && tried % 4 !== 0) continue
      const { id, outputs } = partsOf(transaction)
      noteOutputs(id, outputs)
      const block = blockOf([transaction], unspent)
      const { header } = block
      const slots = { zeroTime: header.startTime, zeroSlot: slot, slotLength: 1000 }
      const own = { parameters, networkId, slots }
      const draw = drawing(tried)
      const keys = [...block.outputsBefore.keys()].map(fromHex)
      expect(findFraud(block, { rules: own, keys }), name).toBeUndefined()
      for (const [policy, stated] of Object.entries(statedOf(block, signers, draw)))
        await trialOf(fraudScript(policy as VerdictPolicyName, own)).expectNoVerdict(
          header,
          stated,
          mutationsOfBlock,
          draw,
        )
    }
    expect(tried).toBeGreaterThanOrEqual(10)
  })

  it('of any shape of map gives no proof', async () => {
    const trial = trialOf(ledgerFraudScript())
    for (const seed of seeds) {
      const draw = drawing(seed)
      const block = honestBlockOf(draw)
      const encode = (proof: Parameters<typeof encodeLedgerFraudProof>[1]) =>
        encodeLedgerFraudProof(block.header, proof)
      const stated = statedBy(proofsOf(block), encode, isLong ? proofsOfFraud : 60, draw)
      await trial.expectNoVerdict(block.header, stated, mutationsOfBlock, draw)
    }
    expect(fraudsTried('maps', trial)).toHaveLength(12)
  })

  describe('of transactions that keep their own rules', () => {
    const statedIn = (block: TestBlock, most: number, draw: Draw) =>
      statedBy(
        transactionProofsOf(block),
        (proof) => encodeTransactionFraudProof(block.header, proof),
        most,
        draw,
      )

    it('gives no proof of a fraud, of any kind, at any place, and none with its parts changed', async () => {
      const trial = trialOf(transactionFraudScript(rules))
      for (const seed of seeds) {
        const draw = drawing(seed)
        const block = honestTransactionsOf(draw)
        expect(await transactionRulesBrokenBy(block), `seed ${seed}`).toEqual([])
        expect(findTransactionFraud(block, rules), `seed ${seed}`).toBeUndefined()
        const stated = statedIn(block, isLong ? proofsOfFraud : 60, draw)
        await trial.expectNoVerdict(block.header, stated, mutationsOfBlock, draw)
      }
      expect(fraudsTried('transactions', trial)).toHaveLength(12)
    })

    it.skipIf(!hasVectors)('gives no proof of a fraud in the transactions of Midgard', async () => {
      // They pay no fees.
      const free = { ...rules, parameters: { ...rules.parameters, minFeeA: 0n, minFeeB: 0n } }
      const trial = trialOf(transactionFraudScript(free))
      const { parameters, networkId } = free
      let [place, tried] = [0, 0]
      for (const bytes of midgardTransactions()) {
        if (place++ % everyMidgardTransaction !== 0) continue
        const transaction = decodeTransaction(bytes)
        const failures = [
          ...judgeProfile(transaction),
          ...judgeUnsigned(transaction, { parameters, networkId, slot: 0n }),
        ]
        if (failures.length > 0) continue
        tried++
        const { id, body } = transaction
        noteOutputs(
          id,
          body.outputs.map(({ bytes }) => bytes),
        )
        const block = blockOf([bytes], new Map())
        expect(findTransactionFraud(block, free), `transaction ${place - 1}`).toBeUndefined()
        const draw = drawing(place)
        await trial.expectNoVerdict(block.header, statedIn(block, Number.POSITIVE_INFINITY, draw), 2, draw)
      }
      expect(tried).toBeGreaterThan(0)
      fraudsTried(`Midgard, ${tried} transactions`, trial)
    })
  })
})
