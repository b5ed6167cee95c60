import { headerHash, longestChunk } from '@ratatosk/block'
import { blake2b256 } from '@ratatosk/ledger'
import { constrOf, decodePlutusData, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import {
  answerAboutNode,
  encodeAsk,
  encodeChunkAnswer,
  encodeExpiry,
  encodeNodeAnswer,
  type NodeAnswer,
  nodeKey,
} from '@ratatosk/protocol/fraud'
import { type MapBranch, type MapNode, nibbleAt, nodeHash } from '@ratatosk/trie'
import { type FreeNode, freeMap, leafAt, pathFrom } from '../../../../protocol/dist/fraud/test/free-map.js'
import { type Breach, breach } from '../breach.js'
import { timeOf } from '../evaluate.js'
import type { TestTransaction } from '../transaction.js'
import {
  ada,
  changeOutput,
  foreign,
  operator,
  stranger,
  type World,
  wallet,
  walletAddress,
} from '../world.js'
import {
  type Asked,
  absentPath,
  absentQuestion,
  answerBy,
  answerFrom,
  ask,
  askForChunks,
  asking,
  chunkEntryOf,
  chunkKey,
  chunkQuestion,
  datumOf,
  expire,
  header,
  leafQuestion,
  nameOf,
  nextAt,
  onlyChunk,
  outputs,
  reclaim,
  reclaimByVerdict,
  redeemerFrom,
  refundOutput,
  scenarios,
  shownChunk,
  somePath,
  subtreeQuestion,
  tokenOf,
  topQuestion,
  transactions,
  verdictOf,
  verdictOutput,
} from './scenarios.js'

const foreignToken = foreign(Uint8Array.of(1))

const answered = (world: World) => answerFrom(world, outputs, subtreeQuestion)
const expired = (world: World) => expire(world, subtreeQuestion)
const reclaimed = (world: World) => reclaim(world, subtreeQuestion)

const without = ({ mint }: TestTransaction, name: Uint8Array) => mint.filter((token) => token.name !== name)

const settleBreaches: readonly Breach[] = [
  breach('settle-alone', 'one answer and one burned token serve two equal questions', (world) => {
    const transaction = answered(world)
    const [, question] = transaction.inputs
    return { ...transaction, inputs: [...transaction.inputs, { ...question!, id: 3 }] }
  }),
  breach('settle-alone', 'one refund serves two equal questions that are reclaimed', (world) => {
    const transaction = reclaimByVerdict(world, subtreeQuestion)
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
  breach('settle-refund-ada', 'who shows a chunk keeps more than the bytes are worth', (world) => {
    const transaction = answerBy(world, chunkQuestion(0), encodeChunkAnswer(0, shownChunk))
    return changeOutput(transaction, 0, { lovelace: transaction.outputs[0]!.lovelace - 1n })
  }),
  breach('settle-refund-ada', 'who shows a chunk is paid for the bytes of a datum that it names', (world) => {
    const transaction = scenarios.showChunkFromDatums(world)
    return changeOutput(transaction, 0, { lovelace: transaction.outputs[0]!.lovelace - 1n })
  }),
  breach('settle-refund-ada', 'who shows that there is no chunk keeps more than the reward', (world) => {
    const answer = { absent: transactions.proveAbsence(chunkKey(1)) }
    const transaction = answerBy(world, chunkQuestion(1), encodeChunkAnswer(0, answer))
    return changeOutput(transaction, 0, { lovelace: transaction.outputs[0]!.lovelace - 1n })
  }),
  breach('settle-refund-ada', 'who reclaims the bond of another keeps the reward', (world) => {
    const transaction = reclaimed(world)
    return changeOutput(transaction, 0, { lovelace: transaction.outputs[0]!.lovelace - 450_000n })
  }),
  breach('settle-refund-tokens', 'the refund holds a token, whose ada the next change needs', (world) => {
    const transaction = answered(world)
    const token = { policy: new Uint8Array(28).fill(9), name: new Uint8Array(), quantity: 1n }
    const [spent, ...others] = transaction.inputs
    const input = {
      ...spent!,
      output: { ...spent!.output, tokens: [...(spent!.output.tokens ?? []), token] },
    }
    return changeOutput({ ...transaction, inputs: [input, ...others] }, 0, { tokens: [token] })
  }),
  breach('settle-refund-no-script', 'the refund has a reference script, which a sweep pays for', (world) =>
    changeOutput(answered(world), 0, { script: world.queue.script }),
  ),
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
  breach('expire-mints-verdict', 'it is against another header, beside an earlier verdict', (world) => {
    const [transaction, verdict] = [expired(world), verdictOf(world, subtreeQuestion)]
    const other = tokenOf(world, new Uint8Array(28))
    const [refund, kept] = transaction.outputs
    return {
      ...transaction,
      inputs: transaction.inputs.map((input) =>
        input.id === 1 ? { ...input, output: wallet(ada(100), [verdict]) } : input,
      ),
      mint: [...without(transaction, verdict.name), other],
      outputs: [refund!, kept!, wallet(ada(90), [other])],
    }
  }),
  breach('expire-mints-verdict', 'there are two verdicts', (world) => {
    const transaction = expired(world)
    const verdict = verdictOf(world, subtreeQuestion)
    const [refund, kept] = transaction.outputs
    return {
      ...transaction,
      mint: [transaction.mint[0]!, { ...verdict, quantity: 2n }],
      outputs: [refund!, kept!, wallet(ada(90), [verdict])],
    }
  }),
  breach('expire-mints-verdict-only', 'a verdict against another header is minted as well', (world) => {
    const transaction = expired(world)
    const other = tokenOf(world, new Uint8Array(28))
    const [refund, kept] = transaction.outputs
    return {
      ...transaction,
      mint: [...transaction.mint, other],
      outputs: [refund!, kept!, wallet(ada(90), [other])],
      mintRedeemers: [{ policy: world.summons.policy, redeemer: encodeExpiry(0) }],
    }
  }),
  breach('expire-keeps-address', 'the verdict goes to a wallet, which burns it in the same block', (world) =>
    changeOutput(expired(world), 1, { address: walletAddress(stranger.hash) }),
  ),
  breach('expire-keeps-address', 'the address has a staking part', (world) =>
    changeOutput(expired(world), 1, { address: world.summons.stakedAddress }),
  ),
  breach('expire-keeps-tokens', 'a foreign token makes the output larger', (world) => ({
    ...changeOutput(expired(world), 1, { tokens: [verdictOf(world, subtreeQuestion), foreignToken] }),
    inputs: expired(world).inputs.map((input) =>
      input.id === 1 ? { ...input, output: wallet(ada(100), [foreignToken]) } : input,
    ),
  })),
  breach('expire-keeps-no-datum', 'the verdict is kept with a question', (world) =>
    changeOutput(expired(world), 1, { datum: datumOf(subtreeQuestion) }),
  ),
  breach('expire-keeps-no-script', 'the output holds a reference script', (world) =>
    changeOutput(expired(world), 1, { script: world.registry.script }),
  ),
  breach('reclaim-stale', 'a verdict may still be of use', (world) => ({
    ...reclaimed(world),
    validFrom: 199n,
  })),
  breach('reclaim-stale', 'the verdict is against another header', (world) => {
    const transaction = reclaimByVerdict(world, subtreeQuestion)
    const other = verdictOf(world, about({ endTime: timeOf(61n) }))
    const [, ...others] = transaction.referenceInputs
    return { ...transaction, referenceInputs: [{ id: 100, output: verdictOutput(world, other) }, ...others] }
  }),
  breach('reclaim-stale', 'the verdict is of another policy', (world) => {
    const transaction = reclaimByVerdict(world, subtreeQuestion)
    const token = { ...verdictOf(world, subtreeQuestion), policy: new Uint8Array(28).fill(9) }
    const [, ...others] = transaction.referenceInputs
    return { ...transaction, referenceInputs: [{ id: 100, output: verdictOutput(world, token) }, ...others] }
  }),
  breach('reclaim-mints-nothing', 'it mints a verdict, for the wallet', (world) => {
    const transaction = reclaimed(world)
    const verdict = verdictOf(world, subtreeQuestion)
    return {
      ...transaction,
      mint: [...transaction.mint, verdict],
      outputs: [transaction.outputs[0]!, wallet(ada(90), [verdict])],
    }
  }),
]

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

const { key, hash } = subtreeQuestion.question
const deeper = nextAt(outputs, 'subtree', somePath, 2)

/** The steps of a question at another place. */
const withSteps = (asked: Asked): TestTransaction['mintRedeemers'][number]['redeemer'] =>
  encodeAsk(asked.header, [asked.steps])

const askBreaches: readonly Breach[] = [
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
  breach(
    'ask-mints-token-only',
    'a verdict is minted in place of the token of a second question',
    (world) => {
      const transaction = askForChunks(world, 2)
      const [one, other] = transaction.mint
      const [spent] = transaction.inputs
      const place = transaction.outputs.findIndex(({ tokens }) => tokens?.[0]?.name === other!.name)
      const verdict = tokenOf(world, headerHash(header))
      const minted = [one!, verdict].sort((a, b) => Buffer.compare(a.name, b.name))
      const outputs =
        minted[0] === verdict
          ? [transaction.outputs[place]!, transaction.outputs[1 - place]!]
          : transaction.outputs.slice(0, 2)
      return {
        ...transaction,
        inputs: [{ ...spent!, output: wallet(ada(200), [other!]) }],
        mint: minted,
        outputs: [...outputs, wallet(ada(90), [verdict])],
      }
    },
  ),
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
    ask(world, subtreeQuestion, odd(subtreeQuestion, 4)),
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
  breach('ask-question-form', 'the deadline is earlier', (world) =>
    ask(world, changed({ deadline: timeOf(80n) - 1n }, leafQuestion)),
  ),
  breach('ask-question-form', 'the deadline is later', (world) =>
    ask(world, changed({ deadline: timeOf(80n) + 1n }, leafQuestion)),
  ),
  breach('ask-after-block', 'the block may still be committed when the validity interval ends', (world) =>
    ask(world, about({ endTime: timeOf(70n) + 1n })),
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

const trueAnswer = (asked: Asked): NodeAnswer => answerAboutNode(asked.question, { trie: outputs })!
const shown = trueAnswer(topQuestion) as Extract<NodeAnswer, { children: unknown }>
const other = trueAnswer(subtreeQuestion)
const leaf = trueAnswer(leafQuestion) as Extract<NodeAnswer, { steps: unknown }>

const nodeAnswer = (rule: string, what: string, asked: Asked, answer: NodeAnswer): Breach =>
  breach(rule, what, (world) => answerBy(world, asked, encodeNodeAnswer(0, asked.question.key, answer)))

/** A question about the top of a false map. */
function topOf(node: FreeNode, kind: 'subtree' | 'leaf' = 'subtree'): Asked {
  const map = freeMap(node)
  const about = { ...header, utxosRoot: map.root }
  return asking({ kind, key: nodeKey(new Uint8Array(32), 0), hash: map.root, steps: [] }, 1, about)
}
const falseAnswer = (rule: string, what: string, node: FreeNode): Breach =>
  breach(rule, what, (world) => answerFrom(world, freeMap(node), topOf(node)))

const paths = Array.from({ length: 3 }, (_, i) => blake2b256(Uint8Array.of(i)))
const under = (nibbles: readonly number[], i = 0) => leafAt(pathFrom(nibbles, paths[i]!))
const branchOver = (...children: readonly (FreeNode | undefined)[]): FreeNode => ({
  kind: 'branch',
  path: new Uint8Array(32),
  fork: 0,
  below: Array.from({ length: 16 }, (_, nibble) => children[nibble]),
})

/** The answer with another child under its first nibble. */
const withChild = (child: MapNode | undefined): NodeAnswer => ({
  ...shown,
  children: [child, ...shown.children.slice(1)],
})
const firstChild = shown.children[0] as MapBranch
const elsewhere = pathFrom([(nibbleAt(leaf.node.path, 0) + 1) % 16], leaf.node.path)
const stepsToSomePath = outputs.openPath(somePath)
const leafAtSomePath: NodeAnswer = {
  node: { kind: 'leaf', path: somePath, valueHash: stepsToSomePath.hash! },
  steps: stepsToSomePath.proof.slice(1),
}
/** An entry of the node that the question about a leaf is about. */
const entryBesideLeaf = asking(nextAt(outputs, 'entry', somePath, 1), 1)
const absence: NodeAnswer = { absent: outputs.openPath(absentPath).proof.slice(1) }

const answerBreaches: readonly Breach[] = [
  breach('chunk-is-in-block', 'the entry is of another chunk', (world) =>
    answerBy(world, chunkQuestion(1), encodeChunkAnswer(0, shownChunk)),
  ),
  breach('chunk-is-in-block', 'the entry is invented', (world) => {
    const bytes = new Uint8Array(40)
    const answer = { ...shownChunk, entry: chunkEntryOf(bytes), parts: [bytes] }
    return answerBy(world, chunkQuestion(0), encodeChunkAnswer(0, answer))
  }),
  breach('chunk-is-shown', 'a byte is missing', (world) => {
    const parts = [shownChunk.parts[0]!.subarray(1)]
    return answerBy(world, chunkQuestion(0), encodeChunkAnswer(0, { ...shownChunk, parts }))
  }),
  breach('chunk-is-short', 'a chunk of a false map is long', (world) => {
    const { asked, redeemer } = onlyChunk(longestChunk + 1)
    return answerBy(world, asked, redeemer)
  }),
  breach('chunk-is-absent', 'the block has the chunk', (world) =>
    answerBy(world, chunkQuestion(0), encodeChunkAnswer(0, { absent: shownChunk.proof })),
  ),
  breach('chunk-is-absent', 'another chunk is absent', (world) =>
    answerBy(
      world,
      chunkQuestion(2),
      encodeChunkAnswer(0, { absent: transactions.proveAbsence(chunkKey(1)) }),
    ),
  ),
  breach('branch-answers-subtree', 'a leaf is asked for', (world) => {
    const asked = asking(nextAt(outputs, 'leaf', somePath, 0), 1)
    return answerBy(world, asked, encodeNodeAnswer(0, asked.question.key, shown))
  }),
  nodeAnswer('branch-is-in-map', 'the branch is another', topQuestion, other),
  nodeAnswer('branch-shows-children', 'a child is not shown', topQuestion, withChild(undefined)),
  nodeAnswer('branch-shows-children', 'a child is another', topQuestion, withChild(shown.children[1])),
  nodeAnswer('branch-shows-children', 'a child is a leaf that it is not', topQuestion, withChild(leaf.node)),
  nodeAnswer('branch-shows-children', 'a child has other children', topQuestion, {
    ...withChild({ ...firstChild, children: Uint8Array.from(firstChild.children).reverse() }),
  }),
  nodeAnswer('branch-shows-children', 'only fifteen are shown', topQuestion, {
    ...shown,
    children: shown.children.slice(0, 15),
  }),
  falseAnswer('branch-shows-children', 'the branch has one child', branchOver(under([0]))),
  falseAnswer(
    'branch-shows-children',
    'a leaf is not below its nibble',
    branchOver(under([0]), under([2], 1)),
  ),
  falseAnswer(
    'branch-shows-children',
    'the path of a leaf is of a form that a branch could imitate',
    branchOver(under([0]), leafAt(pathFrom([1, 0], new Uint8Array(32)))),
  ),
  nodeAnswer('leaf-is-below', 'the leaf is elsewhere', leafQuestion, {
    ...leaf,
    node: { ...leaf.node, path: elsewhere },
  }),
  nodeAnswer('leaf-is-asked-for', 'the leaf is the one that is not asked for', leafQuestion, leafAtSomePath),
  nodeAnswer('leaf-is-asked-for', 'a subtree is asked for', subtreeQuestion, leaf),
  nodeAnswer('leaf-is-asked-for', 'another entry is asked for', entryBesideLeaf, leaf),
  nodeAnswer('leaf-is-in-map', 'the value is another', leafQuestion, {
    ...leaf,
    node: { ...leaf.node, valueHash: new Uint8Array(32) },
  }),
  nodeAnswer('leaf-is-in-map', 'the leaf is of another node', leafQuestion, {
    node: leaf.node,
    steps: leaf.steps.slice(1),
  }),
  breach('leaf-is-in-map', 'the node is another', (world) => {
    const asked = asking(nextAt(outputs, 'leaf', somePath, 1), 1, header, {
      hash: nodeHash(shown.node, 1),
    })
    return answerBy(world, asked, redeemerFrom(outputs, leafQuestion))
  }),
  breach('absence-answers-entry', 'a leaf is asked for', (world) => {
    const asked = asking(nextAt(outputs, 'leaf', absentPath, 1), 1)
    return answerBy(world, asked, encodeNodeAnswer(0, asked.question.key, absence))
  }),
  nodeAnswer('entry-is-absent', 'the map has it', entryBesideLeaf, {
    absent: stepsToSomePath.proof.slice(1),
  }),
  nodeAnswer('entry-is-absent', 'another is absent', entryBesideLeaf, absence),
  nodeAnswer('entry-is-absent', 'the steps begin above the node', absentQuestion, {
    absent: outputs.openPath(absentPath).proof,
  }),
]

export const summonsBreaches: readonly Breach[] = [...askBreaches, ...settleBreaches, ...answerBreaches]
