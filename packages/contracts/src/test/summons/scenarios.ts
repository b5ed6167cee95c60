import { encodeChunkRecord, type Header, headerHash, longestChunk } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import {
  answerAboutNode,
  answerIn,
  type Difference,
  encodeAsk,
  encodeChunkAnswer,
  encodeExpiry,
  encodeNodeAnswer,
  encodeReclaim,
  type NextQuestion,
  type NodeAnswer,
  nextQuestions,
  nodeAnswerFromData,
  nodeKey,
} from '@ratatosk/protocol/fraud'
import { createMemoryStore, createTrie, nodeHash, type Proof, type TrieView } from '@ratatosk/trie'
import { encodeQuestion, type SummonsQuestion } from '../../datum/summons.js'
import { provableVersion } from '../../layout.js'
import { engines, timeOf } from '../evaluate.js'
import type { TestInput, TestOutput, TestTransaction, Token } from '../transaction.js'
import {
  ada,
  operator,
  root,
  scriptReference,
  stranger,
  summonsTerms as terms,
  type World,
  wallet,
  walletAddress,
} from '../world.js'

/*
 * Transactions that the summons accepts. Questions are asked before slot 70 and end at slot 80.
 */

const text = (value: string) => new TextEncoder().encode(value)

export const outputs = createTrie({ store: createMemoryStore(), history: 0 })
outputs.update(
  Array.from({ length: 300 }, (_, i) => ({
    type: 'insert' as const,
    key: text(`output ${i}`),
    value: text(`value ${i}`),
  })),
)

const chunkBytes = new Uint8Array(12_288).fill(7)
export const chunkKey = (number: number) => Uint8Array.of(0, 0, 0, number)
export const chunkEntryOf = (bytes: Uint8Array) =>
  encodeChunkRecord({ first: 0, chunks: 1, chunkHash: blake2b256(bytes) })

const entries = [
  [chunkKey(0), chunkEntryOf(chunkBytes)] as const,
  ...Array.from({ length: 60 }, (_, i) => [text(`key ${i}`), text(`record ${i}`)] as const),
]
export const transactions = createTrie({ store: createMemoryStore(), history: 0 })
transactions.update(entries.map(([key, value]) => ({ type: 'insert' as const, key, value })))

export const header: Header = {
  prevUtxosRoot: outputs.root,
  utxosRoot: outputs.root,
  transactionsRoot: transactions.root,
  depositsRoot: new Uint8Array(32),
  withdrawalsRoot: new Uint8Array(32),
  startTime: timeOf(45n),
  endTime: timeOf(60n),
  prevHeaderHash: root(0).subarray(4),
  operatorVkey: operator.hash,
  blockVersion: provableVersion,
}

/** A question and what the asker shows for it. */
export interface Asked {
  readonly header: Header
  readonly question: SummonsQuestion
  readonly steps: Proof
}

export const asking = (
  next: NextQuestion,
  root: number,
  about: Header = header,
  change: Partial<SummonsQuestion> = {},
): Asked => ({
  header: about,
  question: {
    kind: next.kind,
    headerHash: headerHash(about),
    root,
    key: next.key,
    hash: next.hash,
    deadline: timeOf(80n),
    refund: stranger.hash,
    ...change,
  },
  steps: next.steps,
})

/** A question about the node of a trie on a path. @param steps number of branches above it */
export function nextAt(
  trie: TrieView,
  kind: Exclude<NextQuestion['kind'], 'chunk'>,
  path: Uint8Array,
  steps: number,
): NextQuestion {
  const shown = trie.openPath(path).proof.slice(0, steps)
  const depth = shown.reduce((sum, { skip }) => sum + skip + 1, 0)
  return { kind, key: nodeKey(path, depth), hash: nodeHash(trie.nodeAt(path, depth)!, depth), steps: shown }
}

export const somePath = blake2b256(text('output 7'))
export const subtreeQuestion = asking(nextAt(outputs, 'subtree', somePath, 1), 1)
export const topQuestion = asking(nextAt(outputs, 'subtree', somePath, 0), 1)
export const leafQuestion = asking(nextAt(outputs, 'leaf', somePath, 1), 1)
const somePathOfRecord = blake2b256(text('key 7'))
export const recordsQuestion = asking(nextAt(transactions, 'subtree', somePathOfRecord, 0), 2)
export const recordQuestion = asking(nextAt(transactions, 'leaf', somePathOfRecord, 1), 2)
export const entryQuestion = asking(nextAt(outputs, 'entry', somePath, 0), 1)
export const recordEntryQuestion = asking(nextAt(transactions, 'entry', somePathOfRecord, 1), 2)
export const absentPath = blake2b256(text('no output'))
export const absentQuestion = asking(nextAt(outputs, 'entry', absentPath, 1), 1)

export const chunkQuestion = (number: number, about: Header = header): Asked =>
  asking({ kind: 'chunk', key: chunkKey(number), hash: about.transactionsRoot, steps: [] } as never, 2, about)

export const nameOf = (datum: Uint8Array): Uint8Array => blake2b256(datum)
export const datumOf = ({ question }: Asked): Uint8Array => encodeQuestion(question)

export const tokenOf = ({ summons }: World, name: Uint8Array, quantity = 1n): Token => ({
  policy: summons.policy,
  name,
  quantity,
})

export const questionOutput = (world: World, datum: Uint8Array): TestOutput => ({
  address: world.summons.address,
  lovelace: terms.bond,
  tokens: [tokenOf(world, nameOf(datum))],
  datum,
})

const references = (world: World): TestInput[] => [scriptReference(world.summons, 252)]

/** Asks. @param datum of the question, if it is another */
export const ask = (world: World, asked: Asked, datum = datumOf(asked)): TestTransaction =>
  askBy(world, asked.header, [{ datum, steps: asked.steps }])

/** Asks for chunks of a block at once. */
export const askForChunks = (world: World, count: number): TestTransaction =>
  askBy(
    world,
    header,
    chunkQuestions(count).map((asked) => ({ datum: datumOf(asked), steps: [] })),
  )

function askBy(
  world: World,
  about: Header,
  questions: readonly { readonly datum: Uint8Array; readonly steps: Proof }[],
): TestTransaction {
  const sorted = questions.toSorted((one, other) => Buffer.compare(nameOf(one.datum), nameOf(other.datum)))
  const ways = sorted.map(({ steps }) => steps)
  return {
    inputs: [{ id: 1, output: wallet(ada(200)) }],
    referenceInputs: references(world),
    outputs: [...sorted.map(({ datum }) => questionOutput(world, datum)), wallet(ada(90))],
    mint: sorted.map(({ datum }) => tokenOf(world, nameOf(datum))),
    mintRedeemers: [{ policy: world.summons.policy, redeemer: encodeAsk(about, ways) }],
    signatories: [],
    validFrom: 60n,
    validTo: 70n,
  }
}

export const refundOutput = (datum: Uint8Array, lovelace: bigint, refund = stranger.hash): TestOutput => ({
  address: walletAddress(refund),
  lovelace,
  // A byte string of 32 bytes.
  datum: Uint8Array.of(0x58, 0x20, ...nameOf(datum)),
})

/** Spends a question whose refund is output 0. */
function settle(
  world: World,
  asked: Asked,
  redeemer: Uint8Array,
  refund: bigint,
  mint: readonly Token[] = [],
): TestTransaction {
  const datum = datumOf(asked)
  return {
    inputs: [
      { id: 1, output: wallet(ada(100)) },
      { id: 2, output: questionOutput(world, datum), redeemer },
    ],
    referenceInputs: references(world),
    outputs: [refundOutput(datum, refund, asked.question.refund), wallet(ada(90))],
    mint: [tokenOf(world, nameOf(datum), -1n), ...mint],
    mintRedeemers: [{ policy: world.summons.policy, redeemer: encodeExpiry(0) }],
    signatories: [],
    validFrom: 80n,
    validTo: 90n,
  }
}

/** @param redeemer of an answer */
export const answerBy = (world: World, asked: Asked, redeemer: Uint8Array): TestTransaction =>
  settle(world, asked, redeemer, terms.bond - terms.reward - terms.byteReward * BigInt(redeemer.length))

const entryAt = (path: Uint8Array) => entries.find(([key]) => Buffer.compare(blake2b256(key), path) === 0)

export const redeemerFrom = (trie: TrieView, { question }: Asked): Uint8Array => {
  const answer = answerAboutNode(question, { trie, entryAt })
  if (answer === undefined) throw new Error('The map does not have the node')
  return encodeNodeAnswer(0, question.key, answer)
}

export const answerFrom = (world: World, trie: TrieView, asked: Asked): TestTransaction =>
  answerBy(world, asked, redeemerFrom(trie, asked))

export const shownChunk = {
  entry: chunkEntryOf(chunkBytes),
  proof: transactions.prove(chunkKey(0)),
  parts: [chunkBytes],
}

/** A question about the only chunk of a map, of so many bytes, and its answer. */
export function onlyChunk(length: number): { readonly asked: Asked; readonly redeemer: Uint8Array } {
  const bytes = new Uint8Array(length)
  const entry = chunkEntryOf(bytes)
  const map = createTrie({ store: createMemoryStore(), history: 0 })
  map.update([{ type: 'insert', key: chunkKey(0), value: entry }])
  return {
    asked: chunkQuestion(0, { ...header, transactionsRoot: Uint8Array.from(map.root) }),
    redeemer: encodeChunkAnswer(0, { entry, proof: [], parts: [bytes] }),
  }
}

/** The answer of who has the block. */
export function answerHonestly(world: World, asked: Asked): TestTransaction {
  const { kind, key, root } = asked.question
  if (kind !== 'chunk') return answerFrom(world, root === 2 ? transactions : outputs, asked)
  const answer = transactions.has(key) ? shownChunk : { absent: transactions.proveAbsence(key) }
  return answerBy(world, asked, encodeChunkAnswer(0, answer))
}

export const verdictOf = (world: World, { question }: Asked): Token => tokenOf(world, question.headerHash)

/** The output that keeps a verdict for everyone. */
export const verdictOutput = ({ summons }: World, verdict: Token): TestOutput => ({
  address: summons.address,
  lovelace: ada(2),
  tokens: [verdict],
})

/** Ends a question: output 1 keeps the verdict. */
export const expire = (world: World, asked: Asked): TestTransaction => {
  const verdict = verdictOf(world, asked)
  const transaction = settle(world, asked, encodeExpiry(0), terms.bond, [verdict])
  const [refund] = transaction.outputs
  return { ...transaction, outputs: [refund!, verdictOutput(world, verdict), wallet(ada(90))] }
}

/** Returns a bond without a verdict. */
export const reclaim = (world: World, asked: Asked): TestTransaction => ({
  ...settle(world, asked, encodeReclaim(0), terms.bond),
  validFrom: 200n,
  validTo: 210n,
})

/** The same of several, beside a verdict against the block, at once. */
export function reclaimByVerdict(world: World, asked: Asked, ...others: Asked[]): TestTransaction {
  const all = [asked, ...others]
  const verdict = { id: 100, output: verdictOutput(world, verdictOf(world, asked)) }
  const transaction = reclaim(world, asked)
  const [paying] = transaction.inputs
  return {
    ...transaction,
    inputs: [
      paying!,
      ...all.map((each, place) => ({
        id: 2 + place,
        output: questionOutput(world, datumOf(each)),
        redeemer: encodeReclaim(place),
      })),
    ],
    outputs: [...all.map((each) => refundOutput(datumOf(each), terms.bond)), wallet(ada(90))],
    mint: all.map((each) => tokenOf(world, nameOf(datumOf(each)), -1n)),
    referenceInputs: [verdict, ...transaction.referenceInputs],
    validFrom: 61n,
    validTo: 70n,
  }
}

/** Chunks of the block, from the first on. */
export const chunkQuestions = (count: number): Asked[] =>
  Array.from({ length: count }, (_, number) => chunkQuestion(number))

const fromDatum = (world: World, parts: readonly Uint8Array[]): TestTransaction => {
  const redeemer = encodeChunkAnswer(0, { ...shownChunk, parts: [0, parts[0]!, 1] })
  const transaction = answerBy(world, chunkQuestion(0), redeemer)
  const held = [parts[0]!, parts[1]!].map((part, index) => ({
    id: 100 + index,
    output: { ...wallet(ada(60)), datum: dataOfBytes(part) },
  }))
  return { ...transaction, referenceInputs: [...held, ...transaction.referenceInputs] }
}

/** Bytes as Plutus data, in chunks of 64. */
function dataOfBytes(value: Uint8Array): Uint8Array {
  const chunks = Array.from({ length: Math.ceil(value.length / 64) }, (_, i) =>
    value.subarray(64 * i, 64 * i + 64),
  )
  return Uint8Array.of(0x5f, ...chunks.flatMap((chunk) => [0x58, chunk.length, ...chunk]), 0xff)
}

const chunkFromDatums = (world: World): TestTransaction =>
  fromDatum(world, [chunkBytes.subarray(0, 4096), chunkBytes.subarray(0, 4096)])

export const scenarios = {
  askForChunk: (world) => ask(world, chunkQuestion(0)),
  askForChunks: (world) => askForChunks(world, 3),
  askForSubtree: (world) => ask(world, subtreeQuestion),
  askForTop: (world) => ask(world, topQuestion),
  askForLeaf: (world) => ask(world, leafQuestion),
  askForEntry: (world) => ask(world, entryQuestion),
  askForEntryBelow: (world) => ask(world, absentQuestion),
  askForRecords: (world) => ask(world, recordsQuestion),
  showChunk: (world) => answerBy(world, chunkQuestion(0), encodeChunkAnswer(0, shownChunk)),
  showChunkFromDatums: chunkFromDatums,
  showLongestChunk: (world) => {
    const { asked, redeemer } = onlyChunk(longestChunk)
    return answerBy(world, asked, redeemer)
  },
  showNoChunk: (world) =>
    answerBy(
      world,
      chunkQuestion(1),
      encodeChunkAnswer(0, { absent: transactions.proveAbsence(chunkKey(1)) }),
    ),
  showSubtree: (world) => answerFrom(world, outputs, subtreeQuestion),
  showTop: (world) => answerFrom(world, outputs, topQuestion),
  showLeaf: (world) => answerFrom(world, outputs, leafQuestion),
  showRecords: (world) => answerFrom(world, transactions, recordsQuestion),
  showEntry: (world) => answerFrom(world, outputs, entryQuestion),
  showNoEntry: (world) => answerFrom(world, outputs, absentQuestion),
  showRecordEntry: (world) => answerFrom(world, transactions, recordEntryQuestion),
  showRecord: (world) => answerFrom(world, transactions, recordQuestion),
  expire: (world) => expire(world, subtreeQuestion),
  reclaim: (world) => reclaim(world, chunkQuestion(0)),
  reclaimByVerdict: (world) => reclaimByVerdict(world, chunkQuestion(0)),
  reclaimMany: (world) => reclaimByVerdict(world, subtreeQuestion, ...chunkQuestions(2)),
} satisfies { readonly [name: string]: (world: World) => TestTransaction }

/** How a search for a false root ends. */
export interface Search {
  /** `silence`: a question that has no answer. */
  readonly end: 'silence' | 'difference' | 'none'
  readonly difference?: Difference
  readonly questions: readonly Asked[]
  /** How often questions are asked, all at once. */
  readonly rounds: number
  /** The most bytes of an answer's redeemer, and execution units of the question and its answer. */
  readonly bytes: number
  readonly memory: number
  readonly steps: number
}

/** Who answers: with the posted map, as well as its nodes allow. */
type Answerer = (question: Asked['question']) => NodeAnswer | undefined

export const answererOf =
  (posted: TrieView): Answerer =>
  (question) => {
    try {
      return answerAboutNode(question, { trie: posted })
    } catch (error) {
      // A false map may have branches without another leaf.
      if (error instanceof RangeError) return undefined
      throw error
    }
  }

/** Asks for the outputs after a block until a difference or no answer. Throws if the summons refuses. */
export function search(world: World, truth: TrieView, header: Header, answer: Answerer): Search {
  const posted = header.utxosRoot
  const questions: Asked[] = []
  const answers = new Map<string, NodeAnswer>()
  const nameOf = ({ kind, key, hash }: Pick<Asked['question'], 'kind' | 'key' | 'hash'>) =>
    [kind, toHex(key), toHex(hash)].join()
  let [rounds, bytes, memory, steps] = [0, 0, 0, 0]
  const ended = (end: Search['end'], difference?: Difference): Search => ({
    end,
    ...(difference && { difference }),
    questions,
    rounds,
    bytes,
    memory,
    steps,
  })
  const judge = (transaction: ReturnType<typeof ask>): boolean => {
    const ruling = engines.cek(transaction)
    if (!ruling.ok) return false
    for (const units of ruling.units) {
      memory = Math.max(memory, Number(units.memory))
      steps = Math.max(steps, Number(units.steps))
    }
    return true
  }
  for (;;) {
    const next = nextQuestions(truth, posted, (question) => answers.get(nameOf(question)))
    const [difference] = next.differences
    if (difference !== undefined) return ended('difference', difference)
    if (next.questions.length === 0) return ended('none')
    rounds++
    for (const question of next.questions.slice(0, mostAtOnce)) {
      const asked = asking(question, 1, header)
      if (!judge(ask(world, asked))) throw new Error('The summons refuses a question')
      questions.push(asked)
      const given = answer(asked.question)
      if (given === undefined) return ended('silence')
      const redeemer = encodeNodeAnswer(0, asked.question.key, given)
      if (!judge(answerBy(world, asked, redeemer))) return ended('silence')
      bytes = Math.max(bytes, redeemer.length)
      answers.set(nameOf(question), read(redeemer, asked))
    }
  }
}

/** As many as a watcher has waiting. */
const mostAtOnce = 40

/** The answer as a watcher reads it from layer 1. */
function read(redeemer: Uint8Array, { question }: Asked): NodeAnswer {
  const { key, root } = question
  return nodeAnswerFromData(answerIn(redeemer)!, { path: key.subarray(0, 32), depth: key[32]!, root })
}
