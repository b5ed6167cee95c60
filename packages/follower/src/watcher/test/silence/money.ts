import { longestChunk, maxChunkLength, maxChunks } from '@ratatosk/block'
import { decodeTransactionOutput, minimumLovelace } from '@ratatosk/ledger'
import { buildTransaction, toOutput } from '@ratatosk/ledger/builder'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { lostBehind, summonsTerms } from '@ratatosk/protocol'
import { encodeChunkAnswer } from '@ratatosk/protocol/fraud'
import { complete, engines, parameters } from '../../../../../contracts/dist/test/evaluate.js'
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

/** The answers of each kind. */
const kinds = ['full', 'half', 'longest', 'least', 'absent', 'subtree', 'leaf', 'entry'] as const
type Kind = (typeof kinds)[number]

/** Lovelace that the transactions of a summons cost, as COSTS.md has them. */
export interface Fees {
  /** One question, and thirty at once. */
  readonly askForChunk: bigint
  readonly askForThirty: bigint
  readonly askForNode: bigint
  /** More than for a chunk, of each. */
  readonly moreForEntry: bigint
  /**
   * Of a full chunk; of one of half the size, as all may be on average; of the longest, in two transactions;
   * of few bytes; that there is none, where hashes were ground; and of nodes.
   */
  readonly answers: { readonly [kind in Kind]: Cost }
  /** A question without an answer, with the ada that its verdict locks; and the removal behind it. */
  readonly end: bigint
  readonly verdict: bigint
  readonly remove: bigint
  /** Of fifteen questions about a block that is gone, beside a verdict against one of its kind. */
  readonly reclaimFifteen: bigint
  readonly commit: bigint
  /** Ten blocks at once, and the ada in the element of one. */
  readonly pruneTen: bigint
  readonly element: bigint
}

/** Bytes of a chunk with one payment. */
const leastChunk = 300

/** The fees and the size of transactions that belong together, and the bytes of the redeemer of an answer. */
interface Cost {
  readonly fee: bigint
  readonly size: number
  readonly redeemer: number
}

function costOf(transaction: TestTransaction): Cost {
  const { fee, bytes } = complete(transaction, engines.cek)
  const lengths = transaction.inputs.map(({ redeemer }) => redeemer?.length ?? 0)
  return { fee, size: bytes.length, redeemer: Math.max(...lengths) }
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
  const short = (length: number): Cost => {
    const { asked, redeemer } = onlyChunk(length)
    return costOf(answerBy(world, asked, redeemer))
  }
  return {
    askForChunk: of('ask for a chunk'),
    askForThirty: of('ask for 30 chunks at once'),
    askForNode: of('ask for a subtree below 12 branches'),
    moreForEntry: of('ask for an entry') - of('ask for a chunk'),
    answers: {
      full: cost('answer with a chunk of 12,288 B'),
      half: short(maxChunkLength / 2),
      longest: await longestCost(world),
      least: short(leastChunk),
      absent: cost('answer that there is no chunk, below 12 branches'),
      subtree: cost('answer with a full subtree below 12 branches'),
      leaf: cost('answer with a leaf'),
      entry: cost('answer with an entry below 62 branches'),
    },
    end: of('end a question with a verdict'),
    verdict: leastOf(verdictOutput(world, verdictOf(world, chunkQuestion(0)))),
    remove: feeOf(removeByHeldVerdict(world)),
    reclaimFifteen: of('reclaim 15 beside a verdict'),
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
  return { ...shown, fee: shown.fee + held.fee, size: shown.size + held.bytes.length }
}

const slots = { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 }

/** The terms of a deployment, in lovelace. */
export interface Terms {
  readonly bond: bigint
  readonly penalty: bigint
  readonly reward: bigint
  readonly byteReward: bigint
}

/** The reward of an answer, and the fees and bytes of it. */
export interface Exchange {
  /** Lovelace that so many questions cost, beside their rewards. */
  asking(count: number): bigint
  readonly reward: bigint
  readonly showing: bigint
  readonly bytes: number
}

/** Lovelace that it costs to ask for so many chunks: thirty in a transaction. */
function askingFees({ askForChunk, askForThirty }: Fees, count: number): bigint {
  const [full, rest] = [BigInt(Math.floor(count / 30)), BigInt(count % 30)]
  const more = (askForThirty - askForChunk) / 29n
  return full * askForThirty + (rest > 0n ? askForChunk + (rest - 1n) * more : 0n)
}

/** Lovelace that the bonds of so many questions cost: fifteen in a transaction. */
const reclaimFees = ({ reclaimFifteen }: Fees, count: number): bigint =>
  BigInt(Math.ceil(count / 15)) * reclaimFifteen

/** Questions of each kind, by what is shown. */
export function exchangesOf(
  fees: Fees,
  { reward, byteReward }: Terms,
): readonly (readonly [kind: Kind, exchange: Exchange])[] {
  return kinds.map((kind) => {
    const { fee, size, redeemer } = fees.answers[kind]
    // From the root, which costs who asks the least.
    const more = ['subtree', 'leaf', 'entry'].includes(kind) ? fees.moreForEntry : 0n
    const exchange: Exchange = {
      asking: (count) => askingFees(fees, count) + BigInt(count) * more,
      reward: reward + byteReward * BigInt(redeemer),
      showing: fee,
      bytes: size,
    }
    return [kind, exchange] as const
  })
}

/** The exchange of a kind. */
export const exchangeOf = (fees: Fees, terms: Terms, kind: Kind): Exchange =>
  new Map(exchangesOf(fees, terms)).get(kind)!

/** Gains of both sides in lovelace; losses are negative. */
export interface Account {
  readonly asks: bigint
  readonly shows: bigint
}

/** The account of so many questions with their answers. */
export const accountOf = ({ asking, reward, showing }: Exchange, count: number): Account => ({
  asks: -asking(count) - BigInt(count) * reward,
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
  // A question is in a transaction with others about its block only.
  return { silent, watchers: -count * fees.askForChunk - reclaimFees(fees, blocks) }
}

/** Of an operator who shows some chunks of a block and then none; and of the watchers. */
export function partialSilence(fees: Fees, terms: Terms, shown: number, unanswered: number) {
  const { reward, showing } = exchangeOf(fees, terms, 'full')
  const exchanged = BigInt(shown)
  return {
    silent: exchanged * (reward - showing) - terms.penalty - removalOf(fees) - fees.commit,
    watchers: -exchanged * reward - askingFees(fees, shown + unanswered) - reclaimFees(fees, unanswered),
  }
}

/** Of who takes the bond of an operator who can pay for just so many answers. */
function unanswered({ bond, penalty }: Terms, exchange: Exchange, answers: bigint) {
  const { asks, shows } = accountOf(exchange, Number(answers))
  return { griefer: bond - penalty + asks, operator: shows - bond }
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
