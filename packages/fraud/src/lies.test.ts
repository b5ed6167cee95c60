import {
  ChunkFlaw,
  LedgerFraud,
  TransactionFraud,
  type VerdictPolicyName,
  verdictPolicies,
  WitnessFraud,
} from '@ratatosk/contracts'
import { beforeAll, expect, it } from 'vitest'
import { lies } from './test/lies/index.js'
import { type OpenStory, openStory } from './test/open-story.js'

const frauds = {
  ledger: Object.keys(LedgerFraud)
    .filter((fraud) => fraud !== 'wrongChunk')
    .concat(Object.keys(ChunkFlaw).map((flaw) => `wrongChunk: ${flaw}`)),
  transaction: Object.keys(TransactionFraud),
  witness: Object.keys(WitnessFraud),
} satisfies Record<VerdictPolicyName, readonly string[]>

let opened: OpenStory
beforeAll(async () => {
  opened = await openStory()
})

it.each(Object.keys(verdictPolicies) as VerdictPolicyName[])(
  'tells every fraud of the policy %s',
  (policy) => {
    const told = lies.filter((lie) => lie.policy === policy).map(({ fraud }) => fraud)
    expect(told.toSorted()).toEqual(frauds[policy].toSorted())
  },
)

it.each(lies)('the smallest proof shows $fraud where an operator says $what', async ({ tell, ...lie }) => {
  const found = await opened.find(tell(opened.story))
  const proof = found?.proof
  const fraud = proof && 'flaw' in proof ? `${proof.fraud}: ${proof.flaw.flaw}` : proof?.fraud
  expect({ policy: found?.policy, fraud }).toEqual({
    policy: lie.policy,
    fraud: lie.provenAs?.fraud ?? lie.fraud,
  })
})
