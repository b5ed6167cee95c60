import { headerHash } from '@ratatosk/block'
import { encodeAsk, encodeExpiry, nodeKey } from '@ratatosk/fraud'
import { constrOf, decodePlutusData, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { type Breach, breach } from '../breach.js'
import { timeOf } from '../evaluate.js'
import type { TestTransaction } from '../transaction.js'
import { ada, changeOutput, foreign, wallet } from '../world.js'
import {
  type Asked,
  ask,
  asking,
  chunkQuestion,
  datumOf,
  expire,
  header,
  leafQuestion,
  nameOf,
  nextAt,
  outputs,
  somePath,
  subtreeQuestion,
  tokenOf,
  topQuestion,
} from './scenarios.js'

/** The subtree question with other fields. */
const changed = (change: Partial<Asked['question']>, asked: Asked = subtreeQuestion): Asked => ({
  ...asked,
  question: { ...asked.question, ...change },
})

/** A question with another constructor, or with fields behind its own. */
function odd({ question }: Asked, index: number, ...more: bigint[]): Uint8Array {
  const { fields } = constrOf(decodePlutusData(datumOf({ question } as Asked)), 'question')
  return encodePlutusData({ index, fields: [...fields, ...more] })
}

const about = (change: Partial<typeof header>): Asked => {
  const other = { ...header, ...change }
  return {
    ...subtreeQuestion,
    header: other,
    question: { ...subtreeQuestion.question, headerHash: headerHash(other) },
  }
}

const foreignToken = foreign(Uint8Array.of(1))
const { key, hash } = subtreeQuestion.question
const deeper = nextAt(outputs, 'subtree', somePath, 2)

/** The steps of a question at another place. */
const withSteps = (asked: Asked): TestTransaction['mintRedeemers'][number]['redeemer'] =>
  encodeAsk(asked.header, asked.steps)

export const askBreaches: readonly Breach[] = [
  breach('ask-header-is-provable', 'the header is of another version', (world) =>
    ask(world, about({ blockVersion: 1n })),
  ),
  breach('ask-mints-token-only', 'a second token goes to a wallet', (world) => {
    const transaction = ask(world, subtreeQuestion)
    const token = tokenOf(world, nameOf(datumOf(subtreeQuestion)))
    return {
      ...transaction,
      mint: [{ ...token, quantity: 2n }],
      outputs: [transaction.outputs[0]!, wallet(ada(90), [token])],
    }
  }),
  breach('ask-mints-token-only', 'a verdict is minted as well', (world) => {
    const transaction = ask(world, subtreeQuestion)
    const verdict = tokenOf(world, headerHash(header))
    return {
      ...transaction,
      mint: [...transaction.mint, verdict],
      outputs: [transaction.outputs[0]!, wallet(ada(90), [verdict])],
    }
  }),
  breach('ask-address', 'the address has a staking part', (world) =>
    changeOutput(ask(world, subtreeQuestion), 0, { address: world.summons.stakedAddress }),
  ),
  breach('ask-address', 'the question is at a wallet', (world) =>
    changeOutput(ask(world, subtreeQuestion), 0, { address: wallet(0n).address }),
  ),
  breach('ask-tokens', 'a foreign token is added', (world) => {
    const transaction = ask(world, subtreeQuestion)
    const tokens = [...transaction.outputs[0]!.tokens!, foreignToken]
    return {
      ...changeOutput(transaction, 0, { tokens }),
      inputs: [{ id: 1, output: wallet(ada(100), [foreignToken]) }],
    }
  }),
  breach('ask-no-script', 'the question holds a reference script', (world) =>
    changeOutput(ask(world, subtreeQuestion), 0, { script: world.registry.script }),
  ),
  breach('ask-bond', 'one lovelace is missing', (world) =>
    changeOutput(ask(world, subtreeQuestion), 0, { lovelace: ada(3) - 1n }),
  ),
  breach('ask-kind', 'there is no such kind', (world) =>
    ask(world, subtreeQuestion, odd(subtreeQuestion, 3)),
  ),
  breach('ask-question-form', 'there is one more field', (world) =>
    ask(world, subtreeQuestion, odd(subtreeQuestion, 1, 0n)),
  ),
  breach('ask-question-form', 'the question names another header', (world) =>
    ask(world, changed({ headerHash: new Uint8Array(28) })),
  ),
  breach('ask-key-length', 'a byte is behind the place of a node', (world) =>
    ask(world, changed({ key: Uint8Array.of(...key, 0) })),
  ),
  breach('ask-key-length', 'the number of a chunk has five bytes', (world) =>
    ask(world, changed({ key: new Uint8Array(5) }, chunkQuestion(0))),
  ),
  breach('ask-refund-length', 'no address has a hash of 27 bytes', (world) =>
    ask(world, changed({ refund: new Uint8Array(27) })),
  ),
  breach('ask-of-map', 'the map is that before the block', (world) => ask(world, changed({ root: 0 }))),
  breach('ask-of-map', 'the field of the header is its predecessor', (world) => {
    const transaction = about({ prevHeaderHash: outputs.root.subarray(4) })
    const top = {
      ...transaction.question,
      root: 7,
      key: topQuestion.question.key,
      hash: outputs.root.subarray(4),
    }
    return ask(world, { ...transaction, question: top, steps: [] }, unsized(top))
  }),
  breach('ask-of-map', 'a chunk of the outputs is asked for', (world) =>
    ask(world, changed({ root: 1, hash: header.utxosRoot }, chunkQuestion(0))),
  ),
  breach('ask-is-not-empty', 'the map is empty', (world) =>
    ask(world, asking({ ...topQuestion.question, hash: header.depositsRoot, steps: [] }, 3)),
  ),
  breach('ask-of-node', 'the hash is of no node', (world) =>
    ask(world, changed({ hash: new Uint8Array(32).fill(1) })),
  ),
  breach('ask-of-node', 'the node is another', (world) => ask(world, changed({ hash: deeper.hash }))),
  breach('ask-of-node', 'the node is deeper than it is', (world) =>
    ask(world, changed({ key: nodeKey(somePath, 2) })),
  ),
  breach('ask-of-node', 'the steps lead to another node', (world) => {
    const transaction = ask(world, subtreeQuestion)
    const redeemer = withSteps({ ...subtreeQuestion, steps: deeper.steps })
    return { ...transaction, mintRedeemers: [{ policy: world.summons.policy, redeemer }] }
  }),
  breach('ask-of-node', 'the map is empty', (world) =>
    ask(world, changed({ root: 4, key: nodeKey(somePath, 1) }, { ...subtreeQuestion, steps: [] })),
  ),
  breach('ask-of-node', 'the root is that of another map', (world) => ask(world, changed({ root: 2 }))),
  breach('ask-of-node', 'the chunk is of another root', (world) =>
    ask(world, changed({ hash }, chunkQuestion(0))),
  ),
  breach('ask-deadline', 'the deadline is earlier', (world) =>
    ask(world, changed({ deadline: timeOf(80n) - 1n }, leafQuestion)),
  ),
  breach('ask-deadline', 'the deadline is later', (world) =>
    ask(world, changed({ deadline: timeOf(80n) + 1n }, leafQuestion)),
  ),
  breach('ask-in-time', 'the block may be merged before it could be removed', (world) =>
    ask(world, about({ endTime: timeOf(-30n) - 1n })),
  ),
  breach('verdict-beside-question', 'no question is spent', (world) => ({
    ...expire(world, subtreeQuestion),
    inputs: [{ id: 1, output: wallet(ada(100)) }],
    mint: [tokenOf(world, headerHash(header))],
    mintRedeemers: [{ policy: world.summons.policy, redeemer: encodeExpiry(0) }],
  })),
]

/** A question whose hash has another length than the codec allows. */
function unsized(question: Asked['question']): Uint8Array {
  const { headerHash, root, key, hash, deadline, refund } = question
  return encodePlutusData({ index: 1, fields: [headerHash, BigInt(root), key, hash, deadline, refund] })
}
