import { blockVersion } from '@ratatosk/block'
import {
  ChunkFlaw,
  LedgerFraud,
  type ProvableRules,
  TransactionFraud,
  type VerdictPolicyName,
  verdictPolicies,
  WitnessFraud,
} from '@ratatosk/contracts'
import { slotToTime } from '@ratatosk/ledger'
import { beforeAll, expect, it } from 'vitest'
import { openScene } from '../../protocol/dist/test/protocol-scene.js'
import { accuse } from './accused-block.js'
import { findFraud } from './find-fraud.js'
import { lies } from './test/lies/index.js'
import { accusation, type Story, tellStory } from './test/lying-blocks.js'

/** The frauds of each policy, as its script has them. */
const frauds = {
  ledger: Object.keys(LedgerFraud)
    .filter((fraud) => fraud !== 'wrongChunk')
    .concat(Object.keys(ChunkFlaw).map((flaw) => `wrongChunk: ${flaw}`)),
  transaction: Object.keys(TransactionFraud),
  witness: Object.keys(WitnessFraud),
} satisfies Record<VerdictPolicyName, readonly string[]>

let story: Story
let rules: ProvableRules
let endTime: bigint
beforeAll(async () => {
  const { devnet, layer1, slots } = await openScene()
  // The ledger version in which an input must not be read too.
  const parameters = { ...(await layer1.parameters()), ledgerVersion: { major: 10, minor: 0 } }
  rules = { parameters, networkId: 0, slots }
  story = await tellStory(rules.parameters, slots)
  endTime = slotToTime(slots, devnet.currentSlot())
  await devnet.close()
})

it.each(Object.keys(verdictPolicies) as VerdictPolicyName[])(
  'tells every fraud of the policy %s',
  (policy) => {
    const told = lies.filter((lie) => lie.policy === policy).map(({ fraud }) => fraud)
    expect(told.toSorted()).toEqual(frauds[policy].toSorted())
  },
)

it.each(lies)('the smallest proof shows $fraud where an operator says $what', async ({ tell, ...lie }) => {
  const block = tell(story)
  const header = {
    ...block.roots,
    depositsRoot: new Uint8Array(32),
    withdrawalsRoot: new Uint8Array(32),
    startTime: endTime - 20_000n,
    endTime,
    prevHeaderHash: new Uint8Array(28),
    operatorVkey: new Uint8Array(28),
    blockVersion,
  }
  const found = findFraud(await accuse(accusation(block, header)), rules)
  const proof = found?.proof
  const fraud = proof && 'flaw' in proof ? `${proof.fraud}: ${proof.flaw.flaw}` : proof?.fraud
  expect({ policy: found?.policy, fraud }).toEqual({
    policy: lie.policy,
    fraud: lie.provenAs?.fraud ?? lie.fraud,
  })
})
