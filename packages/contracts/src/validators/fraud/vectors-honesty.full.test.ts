import { fromHex, toHex } from '@ratatosk/cbor'
import { fraudSearches } from '@ratatosk/protocol/fraud'
import { describe, expect, it } from 'vitest'
import {
  hasTransactionPolicy,
  type ProvableRules,
  type VerdictPolicyName,
  verdictPolicies,
} from '../../fraud-scripts.js'
import { cekWithin } from '../../test/evaluate.js'
import { drawing } from '../../test/fraud/draw.js'
import { convictingBy } from '../../test/fraud/minting.js'
import { signers } from '../../test/fraud/rich-blocks.js'
import { proofsOfFraud, statedOf, triedBy } from '../../test/fraud/stated.js'
import { openTrial, type Trial } from '../../test/fraud/trial.js'
import {
  blockOfVector,
  collections,
  hasVectors,
  judgementOf,
  type VectorTransactions,
} from '../../test/fraud/vectors.js'

/**
 * With `RATATOSK_HONEST_BLOCKS`, every fraud is stated at every place of everything in the vectors that no
 * policy may convict; otherwise at some places of a few transactions of each collection.
 * `RATATOSK_HONEST_MUTATIONS` is how many changed redeemers each policy gets in each block.
 */
const isLong = process.env.RATATOSK_HONEST_BLOCKS !== undefined
const mutationsOfBlock = Number(process.env.RATATOSK_HONEST_MUTATIONS ?? 35)
const most = isLong ? Number.POSITIVE_INFINITY : proofsOfFraud
/** The step between tried blocks of a collection, honest or in breach of rules that no policy proves. */
const every: { readonly [collection: string]: number } = {
  'midgard-txs': 250,
  'ledger-scenarios': 8,
  'ledger-rules/eras': 80,
  'cbor-decode': 12,
}
/** The trials of each script that go through the machine too. */
const sample = { first: isLong ? 2 : 1, every: 100 }

/** The rules that the body alone proves. Some breaches of other rules are out of reach: see the README. */
const alwaysProven = new Set([
  'BabbageNonDisjointRefInputs',
  'BabbageOutputTooSmallUTxO',
  'CertificatesNotSupported',
  'DonationsNotSupported',
  'InputSetEmptyUTxO',
  'InvalidTransactionsNotSupported',
  'OutsideValidityIntervalUTxO',
  'ProposalsNotSupported',
  'TreasuryValueNotSupported',
  'VotesNotSupported',
])

type Counts = Map<string, number>
type Policy = readonly [VerdictPolicyName, (typeof verdictPolicies)[VerdictPolicyName]]
const policies = Object.entries(verdictPolicies) as readonly Policy[]

describe.skipIf(!hasVectors)('an honest block', { timeout: 48 * 3_600_000 }, () => {
  // The cost of a proof does not matter here.
  const machine = cekWithin({ memory: 10n ** 12n, steps: 10n ** 15n })

  /** A trial of each policy; it is another script for other rules. */
  function openTrials() {
    const trials = new Map<string, Trial>()
    return {
      of([name, policy]: Policy, rules: ProvableRules): Trial {
        const script = policy.script(rules)
        const key = `${name} ${toHex(script.hash)}`
        const trial = trials.get(key) ?? openTrial({ script, machine, ...sample })
        trials.set(key, trial)
        return trial
      },
      tried: () =>
        [...trials.values()].map(triedBy).reduce((sum, { proofs, mutations, byMachine }) => ({
          proofs: sum.proofs + proofs,
          mutations: sum.mutations + mutations,
          byMachine: sum.byMachine + byMachine,
        })),
    }
  }

  /** Whether a policy finds a fraud in a block; then expects that it accepts the proof. */
  async function isProven(vector: VectorTransactions): Promise<boolean> {
    const { rules, name } = vector
    const block = blockOfVector(vector)
    const keys = [...block.outputsBefore.keys()].map(fromHex)
    for (const [policy, { covers, script }] of policies) {
      const found = covers(rules) ? fraudSearches[policy]({ ...block, keys }, rules) : undefined
      if (found === undefined) continue
      const minting = convictingBy(script(rules), block.header, found)
      expect(machine(minting), `${name}: ${found.proof.fraud}`).toMatchObject({ ok: true })
      return true
    }
    return false
  }

  it.each(Object.entries(collections))(
    'of the vectors in %s gives no proof by any policy, and another block one',
    async (collection, read) => {
      const trials = openTrials()
      const unproven: Counts = new Map()
      const frauds: Counts = new Map()
      const missed: Counts = new Map()
      const seen = { honest: 0, unproven: 0 }
      let [honest, withoutPolicy, malformed] = [0, 0, 0]
      for (const vector of read()) {
        const judgement = judgementOf(vector)
        const count = vector.transactions.length
        if (judgement.kind === 'malformed') {
          malformed += count
          continue
        }
        if (judgement.kind === 'fraud') {
          const { reason } = judgement
          // Otherwise one of each.
          if (!isLong && (frauds.has(reason) || missed.has(reason))) continue
          const proven = await isProven(vector)
          if (alwaysProven.has(reason) && hasTransactionPolicy(vector.rules))
            expect(proven, `${vector.name}: ${reason}`).toBe(true)
          const counts = proven ? frauds : missed
          counts.set(reason, (counts.get(reason) ?? 0) + count)
          continue
        }
        const place = seen[judgement.kind]++
        if (!isLong && place % (every[collection] ?? 1) !== 0) continue
        if (judgement.kind === 'honest') honest += count
        else unproven.set(judgement.reason, (unproven.get(judgement.reason) ?? 0) + count)
        const block = blockOfVector(vector)
        const keys = [...block.outputsBefore.keys()].map(fromHex)
        const draw = drawing(place)
        const stated = statedOf(block, signers, draw, most)
        for (const policy of policies) {
          const [name, { covers }] = policy
          if (!covers(vector.rules)) {
            withoutPolicy++
            continue
          }
          const found = fraudSearches[name]({ ...block, keys }, vector.rules)
          expect(found, `${vector.name}, ${name}`).toBeUndefined()
          await trials
            .of(policy, vector.rules)
            .expectNoVerdict(block.header, stated[name], mutationsOfBlock, draw)
        }
      }
      expect(honest).toBeGreaterThan(0)
      const { proofs, mutations, byMachine } = trials.tried()
      process.stdout.write(
        `${collection}: ${honest} honest transactions, ` +
          `and ${countsIn(unproven)} that break what no policy proves. ` +
          `${proofs} stated frauds and ${mutations} changed ones, ` +
          `${byMachine} of them by the machine, none accepted. ` +
          `${withoutPolicy} blocks have rules without a policy. ` +
          `Of ${countsIn(frauds)} a fraud is found and proven, ` +
          `of ${countsIn(missed)} none is found; ${malformed} do not decode.\n`,
      )
    },
  )
})

/** `3 (2 of a reason, 1 of another)` */
function countsIn(reasons: Readonly<Counts>): string {
  const sum = [...reasons.values()].reduce((total, count) => total + count, 0)
  return sum === 0
    ? '0'
    : `${sum} (${[...reasons].map(([reason, count]) => `${count} ${reason}`).join(', ')})`
}
