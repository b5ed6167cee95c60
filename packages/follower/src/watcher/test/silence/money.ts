import { longestChunk, maxChunkLength, maxChunks } from '@ratatosk/block'
import { encodeChunkAnswer } from '@ratatosk/fraud'
import { decodeTransactionOutput, minimumLovelace } from '@ratatosk/ledger'
import { buildTransaction, toOutput } from '@ratatosk/ledger/builder'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { lostBehind, summonsTerms } from '@ratatosk/protocol'
import { complete } from '../../../../../contracts/dist/test/complete.js'
import { engines, parameters } from '../../../../../contracts/dist/test/evaluate.js'
import { chain, pruneBlocks, removeByHeldVerdict } from '../../../../../contracts/dist/test/queue/removals.js'
import {
  blockOutput,
  commitSecond,
  firstHeader,
  secondHeader,
} from '../../../../../contracts/dist/test/queue/scenarios.js'
import { summonsTransactions } from '../../../../../contracts/dist/test/summons/costs.js'
import {
  answerBy,
  chunkEntryOf,
  chunkQuestion,
  onlyChunk,
  verdictOf,
  verdictOutput,
} from '../../../../../contracts/dist/test/summons/scenarios.js'
import {
  encodeOutput,
  type TestOutput,
  type TestTransaction,
} from '../../../../../contracts/dist/test/transaction.js'
import { ada, createWorld, type World, wallet } from '../../../../../contracts/dist/test/world.js'
import { keys } from '../../../../../protocol/dist/test/protocol-scene.js'

/** The sizes of blocks that the tables show, in chunks. */
export const legalSizes = [1, 2, 45, 169, 512, maxChunks] as const

/** Lovelace that the transactions of a summons cost, as COSTS.md has them. */
export interface Fees {
  readonly askForChunk: bigint
  readonly askForNode: bigint
  /** A full chunk; one of half the size, as all may be on average; the longest, in two transactions. */
  readonly showChunk: bigint
  readonly showHalf: bigint
  readonly showLongest: bigint
  readonly showNode: bigint
  readonly showLeaf: bigint
  /** An entry below as many branches as there are. */
  /** A chunk of few bytes; and that there is none, where hashes were ground. */
  readonly showLeast: bigint
  readonly showAbsent: bigint
  readonly askForEntry: bigint
  readonly showEntry: bigint
  /** A question without an answer, with the ada that its verdict locks; and the removal behind it. */
  readonly end: bigint
  readonly verdict: bigint
  readonly remove: bigint
  /** Of a question about a block that is gone; beside a verdict against it. */
  readonly reclaim: bigint
  readonly reclaimByVerdict: bigint
  readonly commit: bigint
  /** Ten blocks at once, and the ada in the element of one. */
  readonly pruneTen: bigint
  readonly element: bigint
  /** Of the answers. */
  readonly bytes: {
    readonly [answer in 'chunk' | 'half' | 'longest' | 'least' | 'absent' | 'node' | 'leaf' | 'entry']: number
  }
}

/** Bytes of a chunk with one payment. */
const leastChunk = 300

/** The fees and the size of transactions that belong together. */
interface Cost {
  readonly fee: bigint
  readonly size: number
}

function costOf(transaction: TestTransaction): Cost {
  const { fee, bytes } = complete(transaction, engines.cek)
  return { fee, size: bytes.length }
}
const feeOf = (transaction: TestTransaction): bigint => costOf(transaction).fee
const leastOf = (output: TestOutput): bigint =>
  minimumLovelace(decodeTransactionOutput(encodeOutput(output)), parameters)

/** Measures what COSTS.md has, by the same transactions. */
export async function measureFees(): Promise<Fees> {
  const world = createWorld()
  const costs = new Map(summonsTransactions(world).map(([what, transaction]) => [what, costOf(transaction)]))
  const cost = (what: string): Cost => {
    const found = costs.get(what)
    if (found === undefined) throw new RangeError(`There is no transaction: ${what}`)
    return found
  }
  const of = (what: string) => cost(what).fee
  const { asked, redeemer } = onlyChunk(maxChunkLength / 2)
  const [chunk, half, longest] = [
    cost('answer with a chunk of 12,288 B'),
    costOf(answerBy(world, asked, redeemer)),
    await longestCost(world),
  ]
  const node = cost('answer with a full subtree below 12 branches')
  const [leaf, entry] = [cost('answer with a leaf'), cost('answer with an entry below 62 branches')]
  const short = onlyChunk(leastChunk)
  const least = costOf(answerBy(world, short.asked, short.redeemer))
  const absent = cost('answer that there is no chunk, below 12 branches')
  return {
    askForChunk: of('ask for a chunk'),
    askForNode: of('ask for a subtree below 12 branches'),
    showChunk: chunk.fee,
    showHalf: half.fee,
    showLongest: longest.fee,
    showNode: node.fee,
    showLeaf: leaf.fee,
    showLeast: least.fee,
    showAbsent: absent.fee,
    askForEntry: of('ask for an entry'),
    showEntry: entry.fee,
    bytes: {
      chunk: chunk.size,
      half: half.size,
      longest: longest.size,
      node: node.size,
      leaf: leaf.size,
      least: least.size,
      absent: absent.size,
      entry: entry.size,
    },
    end: of('end a question with a verdict'),
    verdict: leastOf(verdictOutput(world, verdictOf(world, chunkQuestion(0)))),
    remove: feeOf(removeByHeldVerdict(world)),
    reclaim: of('reclaim the bond of a stale question'),
    reclaimByVerdict: of('reclaim it beside a verdict'),
    commit: feeOf(commitSecond(world)),
    pruneTen: feeOf(pruneBlocks(world, chain(10))),
    element: leastOf(blockOutput(world, firstHeader, secondHeader)),
  }
}

/** A chunk of the longest transaction: its end is in a datum, which a transaction of its own pays. */
async function longestCost(world: World): Promise<Cost> {
  const whole = new Uint8Array(longestChunk)
  const { asked } = onlyChunk(whole.length)
  const parts = [whole.subarray(0, maxChunkLength), 0]
  const redeemer = encodeChunkAnswer(0, { entry: chunkEntryOf(whole), proof: [], parts })
  const data = encodePlutusData(whole.subarray(maxChunkLength))
  const answer = answerBy(world, asked, redeemer)
  const holder = { id: 100, output: { ...wallet(ada(60)), datum: data } }
  const shown = costOf({ ...answer, referenceInputs: [holder, ...answer.referenceInputs] })
  const { address } = keys
  const output = toOutput({
    address: address.bytes,
    value: { lovelace: ada(100), assets: new Map() },
    datum: { kind: 'none' },
  })
  const funds = [{ reference: { transactionId: new Uint8Array(32), index: 0 }, output }]
  const held = await buildTransaction(
    { outputs: [{ address: address.bytes, datum: { kind: 'inline', data } }] },
    {
      funds,
      changeAddress: address.bytes,
      signers: [keys.payment],
      parameters,
      slots,
      slot: 0n,
      networkId: 0,
    },
  )
  return { fee: shown.fee + held.fee, size: shown.size + held.bytes.length }
}

const slots = { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 }

/** The terms of a deployment, in lovelace. */
export interface Terms {
  readonly bond: bigint
  readonly penalty: bigint
  readonly reward: bigint
  readonly byteReward: bigint
}

/** Fees of a question, the reward of its answer, and the fees and bytes of the answer. */
export interface Exchange {
  readonly asking: bigint
  readonly reward: bigint
  readonly showing: bigint
  readonly bytes: number
}

/** Questions of each kind, by what is shown. */
export function exchangesOf(fees: Fees, { reward, byteReward }: Terms) {
  const chunk = (length: number, showing: bigint, bytes: number): Exchange => ({
    asking: fees.askForChunk,
    reward: byteReward * BigInt(length),
    showing,
    bytes,
  })
  const node = (asking: bigint, showing: bigint, bytes: number): Exchange => ({
    asking,
    reward,
    showing,
    bytes,
  })
  const { bytes } = fees
  return {
    full: chunk(maxChunkLength, fees.showChunk, bytes.chunk),
    half: chunk(maxChunkLength / 2, fees.showHalf, bytes.half),
    // Its end is in a datum, for which there is no reward.
    longest: chunk(maxChunkLength, fees.showLongest, bytes.longest),
    least: chunk(leastChunk, fees.showLeast, bytes.least),
    absent: node(fees.askForChunk, fees.showAbsent, bytes.absent),
    // From the root, which costs who asks the least.
    subtree: node(fees.askForEntry, fees.showNode, bytes.node),
    leaf: node(fees.askForEntry, fees.showLeaf, bytes.leaf),
    entry: node(fees.askForEntry, fees.showEntry, bytes.entry),
  } as const satisfies { readonly [kind: string]: Exchange }
}

/** Gains of both sides in lovelace; losses are negative. */
export interface Account {
  readonly asks: bigint
  readonly shows: bigint
}

/** The account of so many questions with their answers. */
export const accountOf = ({ asking, reward, showing }: Exchange, count: number): Account => ({
  asks: -BigInt(count) * (asking + reward),
  shows: BigInt(count) * (reward - showing),
})

/** The same of a false block with so many chunks, which is removed behind the last answer. */
export function lieOf(fees: Fees, { bond, penalty }: Terms, exchange: Exchange, chunks: number): Account {
  const { asks, shows } = accountOf(exchange, chunks)
  const lost = bond + fees.element
  return { asks: asks + lost - penalty - removalOf(fees), shows: shows - fees.commit - lost }
}

const removalOf = ({ end, verdict, remove }: Fees): bigint => end + verdict + remove

/** Lovelace that questions lock for up to a period. */
export const lockedBy = (questions: number): bigint => BigInt(questions) * questionBond

const { bond: questionBond } = summonsTerms(12n)

/** The loss of one side for each lovelace that the other side loses; undefined if that side loses nothing. */
export function bledBy(attacker: bigint, victim: bigint): number | undefined {
  if (victim >= 0n) return 0
  return attacker < 0n ? Number(victim) / Number(attacker) : undefined
}

/** Of an operator who is silent about a block with honest ones behind it, and of the operators of these. */
export function silence(fees: Fees, { penalty }: Terms, behind: number) {
  const removal = fees.askForChunk + removalOf(fees)
  // An accomplice takes the rest of the bond, and the ada of the block.
  const silent = -(penalty + removal + fees.commit)
  return { silent, others: -(BigInt(behind) * fees.commit + fees.pruneTen) }
}

/** Of an operator who is silent about all of its blocks, and of the watchers who ask about each. */
export function silenceOf(fees: Fees, { penalty }: Terms, blocks: number) {
  const count = BigInt(blocks)
  // As above; all but the first are pruned, and the bonds of their questions reclaimed.
  const silent = -(penalty + removalOf(fees) + count * fees.commit)
  return { silent, watchers: -count * (fees.askForChunk + fees.reclaim) }
}

/** Of an operator who shows some chunks of a block and then none; and of the watchers. */
export function partialSilence(fees: Fees, terms: Terms, shown: number, unanswered: number) {
  const { asks, shows } = accountOf(exchangesOf(fees, terms).full, shown)
  return {
    silent: shows - terms.penalty - removalOf(fees) - fees.commit,
    watchers: asks - BigInt(unanswered) * (fees.askForChunk + fees.reclaimByVerdict),
  }
}

/** Of who takes the bond of an operator who can pay for just so many answers. */
function unanswered({ bond, penalty }: Terms, exchange: Exchange, answers: bigint) {
  const { asks, shows } = accountOf(exchange, Number(answers))
  return { griefer: bond - penalty + asks - exchange.asking, operator: shows - bond }
}

/** Bytes in a block of layer 1, and half of the blocks of an hour. */
const [blockBytes, halfOfHour] = [90_112, 90]

/** The same of an operator whose only process answers in the last hour, with half of layer 1. */
export const inOutage = (terms: Terms, exchange: Exchange) =>
  unanswered(terms, exchange, BigInt(Math.floor(blockBytes / exchange.bytes) * halfOfHour))

/** The same of an operator who has so much ada for answers, with the blocks behind. */
export function withFunds(terms: Terms, exchange: Exchange, funds: bigint) {
  const { griefer, operator } = unanswered(terms, exchange, funds / (exchange.showing - exchange.reward))
  return { griefer, operator: operator - lostBehind }
}
