import { headerHash } from '@ratatosk/block'
import { encodeExpiry } from '@ratatosk/fraud'
import { removeByProof } from '../queue/removals.js'
import { firstHeader } from '../queue/scenarios.js'
import type { TestTransaction } from '../transaction.js'
import { ada, createWorld, wallet } from '../world.js'
import {
  type Asked,
  datumOf,
  nameOf,
  questionOutput,
  refundOutput,
  subtreeQuestion,
  tokenOf,
  verdictOf,
  verdictOutput,
} from './scenarios.js'

/** The contracts with the summons as the only verdict policy. */
const world = createWorld({ verdictPolicies: [createWorld().summons.policy] })

/** A question about the queue's first block. */
const asked: Asked = {
  ...subtreeQuestion,
  question: { ...subtreeQuestion.question, headerHash: headerHash(firstHeader) },
}

/** Ends a question, removes the block by the verdict and slashes its operator in one transaction. */
export function removeByExpiry(): TestTransaction {
  const redeemer = encodeExpiry(2)
  const removal = removeByProof(world, { header: firstHeader, policy: world.summons, redeemer })
  const [element, registry] = removal.outputs
  const verdict = verdictOutput(world, verdictOf(world, asked))
  const question = questionOutput(world, datumOf(asked))
  return {
    ...removal,
    inputs: [...removal.inputs, { id: 4, output: question, redeemer }],
    outputs: [
      element!,
      registry!,
      refundOutput(datumOf(asked), question.lovelace),
      verdict,
      wallet(ada(500)),
    ],
    mint: [...removal.mint, tokenOf(world, nameOf(datumOf(asked)), -1n)],
    validFrom: 80n,
  }
}
