import { longestChunk, maxChunkLength, maxChunks } from '@ratatosk/block'
import { encodeChunkAnswer } from '@ratatosk/fraud'
import { decodeTransactionOutput, minimumLovelace } from '@ratatosk/ledger'
import { buildTransaction, toOutput } from '@ratatosk/ledger/builder'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { answersPerHour, summonsTerms } from '@ratatosk/protocol'
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
  /** A question without an answer, with the ada that its verdict locks; and the removal behind it. */
  readonly end: bigint
  readonly verdict: bigint
  readonly remove: bigint
  readonly commit: bigint
  /** Ten blocks at once, and the ada in the element of one. */
  readonly pruneTen: bigint
  readonly element: bigint
}

const feeOf = (transaction: TestTransaction): bigint => complete(transaction, engines.cek).fee
const leastOf = (output: TestOutput): bigint =>
  minimumLovelace(decodeTransactionOutput(encodeOutput(output)), parameters)

/** Measures what COSTS.md has, by the same transactions. */
export async function measureFees(): Promise<Fees> {
  const world = createWorld()
  const fees = new Map(summonsTransactions(world).map(([what, transaction]) => [what, feeOf(transaction)]))
  const of = (what: string): bigint => {
    const fee = fees.get(what)
    if (fee === undefined) throw new RangeError(`There is no transaction: ${what}`)
    return fee
  }
  const half = onlyChunk(maxChunkLength / 2)
  return {
    askForChunk: of('ask for a chunk'),
    askForNode: of('ask for a subtree below 12 branches'),
    showChunk: of('answer with a chunk of 12,288 B'),
    showHalf: feeOf(answerBy(world, half.asked, half.redeemer)),
    showLongest: await longestFee(world),
    showNode: of('answer with a full subtree below 12 branches'),
    showLeaf: of('answer with a leaf'),
    end: of('end a question with a verdict'),
    verdict: leastOf(verdictOutput(world, verdictOf(world, chunkQuestion(0)))),
    remove: feeOf(removeByHeldVerdict(world)),
    commit: feeOf(commitSecond(world)),
    pruneTen: feeOf(pruneBlocks(world, chain(10))),
    element: leastOf(blockOutput(world, firstHeader, secondHeader)),
  }
}

/** A chunk of the longest transaction: its end is in a datum, which a transaction of its own pays. */
async function longestFee(world: World): Promise<bigint> {
  const whole = new Uint8Array(longestChunk)
  const { asked } = onlyChunk(whole.length)
  const parts = [whole.subarray(0, maxChunkLength), 0]
  const redeemer = encodeChunkAnswer(0, { entry: chunkEntryOf(whole), proof: [], parts })
  const data = encodePlutusData(whole.subarray(maxChunkLength))
  const answer = answerBy(world, asked, redeemer)
  const holder = { id: 100, output: { ...wallet(ada(60)), datum: data } }
  const shown = feeOf({ ...answer, referenceInputs: [holder, ...answer.referenceInputs] })
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
  return shown + held.fee
}

const slots = { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 }

/** The terms of a deployment, in lovelace. */
export interface Terms {
  readonly bond: bigint
  readonly penalty: bigint
  readonly reward: bigint
}

/** Gains of each side in lovelace; losses are negative. */
export interface Accounts {
  /** Of who asks for every chunk of an honest block, and its operator's; of the longest chunks. */
  readonly griefing: { readonly griefer: bigint; readonly operator: bigint; readonly longest: bigint }
  /** Of who hides a valid block and shows every chunk, of full and half full chunks; of all watchers. */
  readonly hiding: { readonly watchers: bigint; readonly full: bigint; readonly half: bigint }
  /** The same of a false block: it is removed behind the last answer. */
  readonly lying: { readonly watchers: bigint; readonly full: bigint; readonly half: bigint }
  /** Lovelace that is locked in questions for up to a period. */
  readonly locked: bigint
}

/** The arithmetic of a block of so many chunks. */
export function accountsOf(fees: Fees, { reward, bond, penalty }: Terms, chunks: number): Accounts {
  const count = BigInt(chunks)
  const asking = -count * (fees.askForChunk + reward)
  const shown = (fee: bigint) => count * (reward - fee)
  const removal = fees.end + fees.verdict + fees.remove
  const full = shown(fees.showChunk) - fees.commit
  const half = shown(fees.showHalf) - fees.commit
  const lost = bond + fees.element
  return {
    griefing: { griefer: asking, operator: shown(fees.showChunk), longest: shown(fees.showLongest) },
    hiding: { watchers: asking, full, half },
    lying: { watchers: asking + lost - penalty - removal, full: full - lost, half: half - lost },
    locked: count * questionBond,
  }
}

const { bond: questionBond } = summonsTerms(12n)

/** The loss of one side for each lovelace that the other side loses; undefined if that side loses nothing. */
export function bledBy(attacker: bigint, victim: bigint): number | undefined {
  if (victim >= 0n) return 0
  return attacker < 0n ? Number(victim) / Number(attacker) : undefined
}

/** Of an operator who is silent about a block with honest ones behind it, and of the operators of these. */
export function silence(fees: Fees, { penalty }: Terms, behind: number) {
  const removal = fees.askForChunk + fees.end + fees.verdict + fees.remove
  // An accomplice takes the rest of the bond, and the ada of the block.
  const silent = -(penalty + removal + fees.commit)
  return { silent, others: -(BigInt(behind) * fees.commit + fees.pruneTen) }
}

/**
 * The price of the bond of an operator whose only process answers in the last hour of the period: all but one
 * of the answers for which half of layer 1 has room are paid.
 */
export function outageCost(fees: Fees, { reward, bond, penalty }: Terms) {
  const answers = answersPerHour
  const griefer = bond - penalty - answers * (fees.askForChunk + reward) - fees.askForChunk
  return { answers, griefer, operator: answers * (reward - fees.showChunk) - bond }
}
