import { fromHex } from '@ratatosk/cbor'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { decodePlutusData } from '@ratatosk/ledger/plutus-data'
import {
  encodeResolution,
  encodeTransactionFraudProof,
  findFraud,
  findTransactionFraud,
  resolutionName,
} from '@ratatosk/protocol/fraud'
import { afterAll, describe, expect, it } from 'vitest'
import {
  ledgerFraudScript,
  transactionFraudScript,
  type VerdictPolicyName,
  witnessFraudScript,
} from '../../fraud-scripts.js'
import type { PlutusScript } from '../../scripts.js'
import { engines } from '../../test/evaluate.js'
import { drawing, some } from '../../test/fraud/draw.js'

import { honestBlockOf, resolutionsIn } from '../../test/fraud/ledger/honest-blocks.js'
import { richBlockOf, signers } from '../../test/fraud/rich-blocks.js'
import { ledgerStatedOf, proofsOfFraud, statedBy, statedOf, triedBy } from '../../test/fraud/stated.js'
import { honestTransactionsOf, transactionProofsOf } from '../../test/fraud/transaction/honest-proofs.js'
import { rules, transactionRulesBrokenBy } from '../../test/fraud/transaction/transactions.js'
import { openTrial, type Trial, translatePolicy } from '../../test/fraud/trial.js'

/**
 * `RATATOSK_HONEST_BLOCKS=10000` tries so many blocks; otherwise a few. `RATATOSK_HONEST_FROM=5001` begins
 * with that seed, to split a long run. `RATATOSK_HONEST_MUTATIONS`: changed redeemers by policy and block.
 */
const isLong = process.env.RATATOSK_HONEST_BLOCKS !== undefined
const blocks = Number(process.env.RATATOSK_HONEST_BLOCKS ?? 4)
const from = Number(process.env.RATATOSK_HONEST_FROM ?? 1)
const seeds = Array.from({ length: blocks }, (_, index) => from + index)
const mutationsOfBlock = Number(process.env.RATATOSK_HONEST_MUTATIONS ?? 35)
/** The trials that go through the machine too. */
const sample = isLong ? { first: 20, every: 100 } : { first: 1, every: 100 }

/** Writes what a long run has tried. */
function report(what: string, trial: Trial): void {
  if (isLong) process.stdout.write(`${what}: ${JSON.stringify(triedBy(trial))}\n`)
}

/** The frauds that were tried without a change. */
function fraudsTried(what: string, trial: Trial): string[] {
  report(what, trial)
  return [...trial.tallies.keys()].filter((kind) => !kind.includes(','))
}

describe('an honest block', { timeout: 48 * 3_600_000 }, () => {
  const machine = engines.cek
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
      expect(findFraud({ ...block, keys }, rules), `seed ${seed}`).toBeUndefined()
      const { header } = block
      const stated = statedOf(block, signers, draw)
      for (const [policy, trial] of Object.entries(trials))
        await trial.expectNoVerdict(header, stated[policy as VerdictPolicyName], mutationsOfBlock, draw)
      if (isLong && seed % 500 === 0)
        for (const [policy, trial] of Object.entries(trials)) report(`${policy}, seed ${seed}`, trial)
    }
    if (isLong) process.stdout.write(`${blocks} blocks of ${transactions} transactions; ${refused} refused\n`)
    expect(transactions).toBeGreaterThan(blocks)
    expect(fraudsTried('ledger', trials.ledger)).toHaveLength(17)
    expect(fraudsTried('transaction', trials.transaction)).toHaveLength(19)
    expect(fraudsTried('witness', trials.witness)).toHaveLength(8)
  })

  it('of any shape of map gives no proof', async () => {
    const trial = trialOf(ledgerFraudScript())
    const rule = translatePolicy(ledgerFraudScript())
    for (const seed of seeds) {
      const draw = drawing(seed)
      const block = honestBlockOf(draw)
      const stated = ledgerStatedOf(block, draw, isLong ? proofsOfFraud : 60)
      for (const part of some([...resolutionsIn(block)], 3, draw)) {
        const redeemer = decodePlutusData(encodeResolution(block.header, part))
        expect(rule(redeemer, resolutionName(block.header, part))).toBe('accepted')
      }
      await trial.expectNoVerdict(block.header, stated, mutationsOfBlock, draw)
    }
    expect(fraudsTried('maps', trial)).toHaveLength(17)
  })

  it('of transactions that keep their own rules gives no proof', async () => {
    const trial = trialOf(transactionFraudScript(rules))
    for (const seed of seeds) {
      const draw = drawing(seed)
      const block = honestTransactionsOf(draw)
      expect(await transactionRulesBrokenBy(block), `seed ${seed}`).toEqual([])
      expect(findTransactionFraud(block, rules), `seed ${seed}`).toBeUndefined()
      const encode = (proof: Parameters<typeof encodeTransactionFraudProof>[1]) =>
        encodeTransactionFraudProof(block.header, proof)
      const stated = statedBy(transactionProofsOf(block), encode, isLong ? proofsOfFraud : 60, draw)
      await trial.expectNoVerdict(block.header, stated, mutationsOfBlock, draw)
    }
    expect(fraudsTried('transactions', trial)).toHaveLength(19)
  })
})
