import { encodeExpiry } from '@ratatosk/fraud'
import { type Breach, breach } from '../breach.js'
import type { TestTransaction } from '../transaction.js'
import { ada, changeOutput, operator, type World, wallet, walletAddress } from '../world.js'
import {
  answerFrom,
  datumOf,
  expire,
  outputs,
  refundOutput,
  subtreeQuestion,
  tokenOf,
  topQuestion,
  verdictOf,
} from './scenarios.js'

const answered = (world: World) => answerFrom(world, outputs, subtreeQuestion)
const expired = (world: World) => expire(world, subtreeQuestion)

const without = ({ mint }: TestTransaction, name: Uint8Array) => mint.filter((token) => token.name !== name)

export const settleBreaches: readonly Breach[] = [
  breach('settle-alone', 'one answer and one burned token serve two equal questions', (world) => {
    const transaction = answered(world)
    const [, question] = transaction.inputs
    return { ...transaction, inputs: [...transaction.inputs, { ...question!, id: 3 }] }
  }),
  breach('settle-burns-question', 'another token burns', (world) => ({
    ...answered(world),
    mint: [tokenOf(world, new Uint8Array(32), -1n)],
  })),
  breach('settle-burns-question', 'the token is minted once more', (world) => {
    const transaction = expired(world)
    const [question, verdict] = transaction.mint
    return { ...transaction, mint: [{ ...question!, quantity: 1n }, verdict!] }
  }),
  breach('settle-refund-address', 'the bond goes to the answerer', (world) =>
    changeOutput(answered(world), 0, { address: walletAddress(operator.hash) }),
  ),
  breach('settle-refund-address', 'the address has a staking part', (world) => {
    const transaction = answered(world)
    const { address } = transaction.outputs[0]!
    const staked = Uint8Array.of(0, ...address.subarray(1), ...operator.hash)
    return changeOutput(transaction, 0, { address: staked })
  }),
  breach('settle-refund-datum', 'the refund is that of another question', (world) =>
    changeOutput(answered(world), 0, { datum: refundOutput(datumOf(topQuestion), 0n).datum! }),
  ),
  breach('settle-refund-ada', 'the answerer keeps more than the reward', (world) => {
    const transaction = answered(world)
    return changeOutput(transaction, 0, { lovelace: transaction.outputs[0]!.lovelace - 1n })
  }),
  breach('settle-refund-ada', 'who ends a question keeps the reward', (world) => {
    const transaction = expired(world)
    return changeOutput(transaction, 0, { lovelace: transaction.outputs[0]!.lovelace - 450_000n })
  }),
  breach('answer-mints-nothing', 'an answer mints a verdict', (world) => {
    const transaction = answered(world)
    const verdict = verdictOf(world, subtreeQuestion)
    return {
      ...transaction,
      mint: [...transaction.mint, verdict],
      outputs: [transaction.outputs[0]!, wallet(ada(90), [verdict])],
    }
  }),
  breach('expire-late', 'the deadline is not over', (world) => ({ ...expired(world), validFrom: 79n })),
  breach('expire-mints-verdict', 'the verdict is against another header', (world) => {
    const transaction = expired(world)
    const other = tokenOf(world, new Uint8Array(28))
    return {
      ...transaction,
      mint: [...without(transaction, verdictOf(world, subtreeQuestion).name), other],
      outputs: [transaction.outputs[0]!, wallet(ada(90), [other])],
    }
  }),
  breach('expire-mints-verdict', 'there are two verdicts', (world) => {
    const transaction = expired(world)
    const verdict = { ...verdictOf(world, subtreeQuestion), quantity: 2n }
    return {
      ...transaction,
      mint: [transaction.mint[0]!, verdict],
      outputs: [transaction.outputs[0]!, wallet(ada(90), [verdict])],
    }
  }),
  breach('expire-mints-verdict-only', 'a verdict against another header is minted as well', (world) => {
    const transaction = expired(world)
    const other = tokenOf(world, new Uint8Array(28))
    return {
      ...transaction,
      mint: [...transaction.mint, other],
      outputs: [transaction.outputs[0]!, wallet(ada(90), [verdictOf(world, subtreeQuestion), other])],
      mintRedeemers: [{ policy: world.summons.policy, redeemer: encodeExpiry(0) }],
    }
  }),
]
