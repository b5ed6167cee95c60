import { createPauses } from '@ratatosk/block'
import { BytesMap, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import {
  decodeQuestion,
  encodeQuestion,
  SummonsAction,
  type SummonsParameters,
  type SummonsQuestion,
} from '@ratatosk/contracts'
import {
  blake2b256,
  keyAddress,
  outputReferenceKey,
  type SlotConfig,
  slotToTime,
  type Utxo,
} from '@ratatosk/ledger'
import { type DraftMint, invalidDraft, type TransactionDraft } from '@ratatosk/ledger/builder'
import {
  constr,
  decodeAnyData,
  encodeAnyData,
  encodePlutusData,
  PlutusDataError,
} from '@ratatosk/ledger/plutus-data'
import { type Contracts, inOrder, provideScripts, type ScriptPlace } from './contracts.js'
import { firstSlotFrom } from './slots.js'

/** A question that waits for its answer. */
export interface OpenQuestion {
  readonly utxo: Utxo
  /** Name of its token: 64 hex digits. */
  readonly name: string
  readonly question: SummonsQuestion
}

/** Hex digits of the names of a question and a verdict. */
const [nameDigits, verdictDigits] = [64, 56]

/**
 * The questions among outputs, as `layer1.utxosAt(addressText, { policy })` returns them for the summons.
 * Verdicts, and outputs without a question's token, which anyone can leave at the address, are left out.
 */
export function readQuestions({ summons }: Contracts, utxos: readonly Utxo[]): readonly OpenQuestion[] {
  return summons === undefined ? [] : utxos.flatMap((utxo) => questionOf(summons, utxo) ?? [])
}

/** The questions and verdicts among outputs, and what holds a question's token and is not read as one. */
export interface QuestionSurvey {
  readonly questions: readonly OpenQuestion[]
  /** Outputs that hold a verdict, by header hash. */
  readonly verdicts: BytesMap<Utxo>
  /** No node answers these. Verdicts, which anyone may leave there, are not among them. */
  readonly unread: readonly Utxo[]
}

/**
 * Reads outputs as {@link readQuestions} does, with pauses: anyone can ask thousands.
 *
 * @param utxos as for {@link readQuestions}
 */
export async function surveyQuestions(
  { summons }: Contracts,
  utxos: readonly Utxo[],
): Promise<QuestionSurvey> {
  const questions: OpenQuestion[] = []
  const verdicts = new BytesMap<Utxo>()
  const unread: Utxo[] = []
  if (summons === undefined) return { questions, verdicts, unread }
  const pauseIfDue = createPauses()
  for (const utxo of utxos) {
    await pauseIfDue()
    const asked = questionOf(summons, utxo)
    if (asked !== undefined) questions.push(asked)
    for (const name of namesAt(summons, utxo))
      if (name.length === verdictDigits) verdicts.set(fromHex(name), utxo)
      else if (asked === undefined && name.length === nameDigits && unread.at(-1) !== utxo) unread.push(utxo)
  }
  return { questions, verdicts, unread }
}

/** Names of the tokens of an output at the script's address. */
const namesAt = ({ policy, address }: ScriptPlace, { output }: Utxo): readonly string[] =>
  equalBytes(output.address.bytes, address) ? [...(output.value.assets.get(policy)?.keys() ?? [])] : []

/** The summons names a question by the bytes of `serialiseData`, in whatever encoding its datum is. */
function questionOf({ policy, address }: ScriptPlace, utxo: Utxo): OpenQuestion | undefined {
  const { datum, value, address: at } = utxo.output
  if (datum.kind !== 'inline' || !equalBytes(at.bytes, address)) return undefined
  const names = value.assets.get(policy)
  if (names === undefined) return undefined
  try {
    const question = decodeQuestion(datum.data)
    const name = toHex(blake2b256(encodeQuestion(question)))
    return names.has(name) ? { utxo, name, question } : undefined
  } catch (error) {
    if (error instanceof PlutusDataError) return undefined
    throw error
  }
}

/** A line for logs and clients about {@link QuestionSurvey.unread} outputs; undefined if there are none. */
export function unreadLine(unread: readonly Utxo[]): string | undefined {
  const [first] = unread
  return (
    first &&
    `Layer 1 has questions that this program does not read, so it neither answers nor uses them: ` +
      `${unread.length}; the first is ${outputReferenceKey(first.reference)}. A newer version may read them`
  )
}

/** The inputs of questions about a block. */
export interface Asking<Each extends Omit<SummonsQuestion, 'deadline'>> {
  /** Without their deadline, which is a period after the validity interval. */
  readonly questions: readonly Each[]
  /** `encodeAsk` of `./fraud`, for the questions in the order of their tokens. */
  redeemer(questions: readonly Each[]): Uint8Array
  /** First slot in which the questions can no longer be included; not before the block's end. */
  readonly validUntil: bigint
  readonly slots: SlotConfig
}

/** Most questions in a transaction of layer 1, whose size is the limit. */
export const mostInAsking = 30

/** Asks questions; the wallet pays the bonds. */
export function askQuestions<Each extends Omit<SummonsQuestion, 'deadline'>>(
  contracts: Contracts,
  { questions, redeemer, validUntil, slots }: Asking<Each>,
  referenceScripts: readonly Utxo[] = [],
): TransactionDraft {
  const { summons, terms } = summonsOf(contracts)
  const deadline = slotToTime(slots, validUntil) + terms.period
  const asked = questions
    .map((question) => {
      const data = encodeQuestion({ ...question, deadline })
      return { question, data, name: toHex(blake2b256(data)) }
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
  return {
    ...provideScripts([summons], referenceScripts),
    mint: [
      {
        policy: summons.policy,
        assets: new Map(asked.map(({ name }) => [name, 1n])),
        redeemer: redeemer(asked.map(({ question }) => question)),
      },
    ],
    outputs: asked.map(({ name, data }) => ({
      address: summons.address,
      lovelace: terms.bond,
      assets: new Map([[summons.policy, new Map([[name, 1n]])]]),
      datum: { kind: 'inline', data },
    })),
    validUntil,
  }
}

/** The inputs of an answer. */
export interface Answering {
  readonly asked: OpenQuestion
  /** `encodeNodeAnswer` or `encodeChunkAnswer` of `./fraud`, with 0 as the refund's place. */
  redeemer(indexes: readonly number[]): Uint8Array
  /** Outputs whose datums are parts of the answer: the redeemer takes their places. */
  readonly holders?: readonly Utxo[]
}

/** Answers a question: the bond less the reward returns to the asker. No signature is needed. */
export function answerQuestion(
  contracts: Contracts,
  { asked, redeemer, holders = [] }: Answering,
  referenceScripts: readonly Utxo[] = [],
): TransactionDraft {
  const { summons, terms } = summonsOf(contracts)
  const provided = provideScripts([summons], referenceScripts)
  const referenceInputs = [...provided.referenceInputs, ...holders]
  const keys = inOrder(referenceInputs).map(({ reference }) => outputReferenceKey(reference))
  const indexes = holders.map(({ reference }) => keys.indexOf(outputReferenceKey(reference)))
  const answer = redeemer(indexes)
  return {
    ...provided,
    referenceInputs,
    inputs: [{ utxo: asked.utxo, redeemer: answer }],
    mint: [burn(summons, [asked])],
    outputs: [refund(contracts, asked, rewardOf(terms, answer))],
    // Strangers' tokens at the wallet must not take its ada with them into change.
    paidByAda: true,
  }
}

/** Lovelace that an answer keeps, by its redeemer as `serialiseData` writes it. */
export const rewardOf = (
  { reward, byteReward }: Pick<SummonsParameters, 'reward' | 'byteReward'>,
  redeemer: Uint8Array,
): bigint => reward + byteReward * BigInt(encodeAnyData(decodeAnyData(redeemer)).length)

/**
 * Ends a question without an answer: the bond returns to the asker, and the summons keeps a verdict against
 * the header. Nothing spends that output, and every removal may refer to it.
 *
 * @param redeemer `encodeExpiry` of `./fraud`, with 0 as the refund's place
 */
export function endQuestion(
  contracts: Contracts,
  asked: OpenQuestion,
  redeemer: Uint8Array,
  slots: SlotConfig,
  referenceScripts: readonly Utxo[] = [],
): TransactionDraft {
  const { summons } = summonsOf(contracts)
  const { assets, ...burned } = burn(summons, [asked])
  const verdict = new Map([[toHex(asked.question.headerHash), 1n]])
  return {
    ...provideScripts([summons], referenceScripts),
    inputs: [{ utxo: asked.utxo, redeemer }],
    mint: [{ ...burned, assets: new Map([...assets, ...verdict]) }],
    outputs: [
      refund(contracts, asked, 0n),
      { address: summons.address, assets: new Map([[summons.policy, verdict]]) },
    ],
    validFrom: firstSlotFrom(slots, asked.question.deadline),
  }
}

/** The inputs of a reclaim. */
export interface Reclaiming {
  /** About one block; at most {@link mostInReclaim}. */
  readonly asked: readonly OpenQuestion[]
  /** `encodeReclaim` of `./fraud`. */
  redeemer(refund: number): Uint8Array
  readonly slots: SlotConfig
  /** An output that holds a verdict of the summons against the block. */
  readonly verdict?: Utxo | undefined
}

/** Most bonds that one transaction reclaims: layer 1 bounds the memory of its scripts. */
export const mostInReclaim = 15

/**
 * Returns the bonds of questions whose block has left the queue, without a verdict of their own: beside one
 * against the block, or from {@link staleFrom} on. No signature is needed.
 */
export function reclaimQuestions(
  contracts: Contracts,
  { asked, redeemer, slots, verdict }: Reclaiming,
  referenceScripts: readonly Utxo[] = [],
): TransactionDraft {
  const { summons } = summonsOf(contracts)
  const provided = provideScripts([summons], referenceScripts)
  const stale = asked.map((each) => firstSlotFrom(slots, staleFrom(contracts, each)))
  const latest = stale.toSorted((one, other) => (one < other ? 1 : -1))[0] ?? 0n
  return {
    ...provided,
    inputs: asked.map(({ utxo }, place) => ({ utxo, redeemer: redeemer(place) })),
    mint: [burn(summons, asked)],
    outputs: asked.map((each) => refund(contracts, each, 0n)),
    ...(verdict === undefined
      ? { validFrom: latest }
      : { referenceInputs: [...provided.referenceInputs, verdict] }),
  }
}

/** When no verdict of a question is of use any more, in POSIX milliseconds. */
export const staleFrom = ({ parameters }: Contracts, { question }: OpenQuestion): bigint =>
  question.deadline + parameters.maturityWindow

function summonsOf({ summons, parameters }: Contracts) {
  if (summons === undefined || parameters.summons === undefined)
    throw invalidDraft('these contracts have no summons')
  return { summons, terms: parameters.summons }
}

/** The rules of spending the question say what is burned and minted; the policy's redeemer is not read. */
const burn = ({ policy }: ScriptPlace, asked: readonly OpenQuestion[]): DraftMint => ({
  policy,
  assets: new Map(asked.map(({ name }) => [name, -1n])),
  redeemer: encodePlutusData(constr(SummonsAction.expire, 0n)),
})

const refund = ({ networkId }: Contracts, { utxo, name, question }: OpenQuestion, kept: bigint) =>
  ({
    address: keyAddress(question.refund, networkId).bytes,
    lovelace: utxo.output.value.lovelace - kept,
    datum: { kind: 'inline', data: encodePlutusData(fromHex(name)) },
  }) as const

/**
 * Lovelace that an answer takes, and for each byte of its redeemer: less than it costs, 0.27 ada and 46 for a
 * byte, so that no one gains by hiding; and enough for a question without need to cost more than half of its
 * answer.
 */
const [reward, byteReward] = [100_000n, 33n]
/** Lovelace in a question: the largest reward, and an output that returns the rest. */
const questionBond = 2_500_000n

/**
 * Milliseconds to answer a question: a fourteenth of the maturity window, half a day of a week, so that eight
 * questions in a row, a claim and a removal fit into it; more in a short window, but never too much for one.
 */
function answerPeriod(maturityWindow: bigint): bigint {
  const [share, quarter] = [maturityWindow / 14n, maturityWindow / 4n]
  const short = quarter < 10_000n ? quarter : 10_000n
  return share > short ? share : short
}

/**
 * Milliseconds behind the end of a block in which peers may be without its body, before its operator is
 * asked: a sixtieth of the maturity window; in a short one, up to a minute.
 */
export function patienceOf(maturityWindow: bigint): bigint {
  const [sixtieth, tenth] = [maturityWindow / 60n, maturityWindow / 10n]
  const short = tenth < 60_000n ? tenth : 60_000n
  return sixtieth > short ? sixtieth : short
}

/** The terms of a summons with a maturity window; there is no time for answers if the period is 0. */
export function summonsTerms(maturityWindow: bigint): Omit<SummonsParameters, 'maturityWindow'> {
  return { bond: questionBond, reward, byteReward, period: answerPeriod(maturityWindow) }
}

/** Lovelace that a question costs beside its reward: with others in a transaction. */
const askingFee = 25_000n
/** Lovelace that the longest answer costs, in two transactions, and the bytes of its redeemer. */
const [longestFee, longestRedeemer] = [1_220_000n, 12_700n]
/** Lovelace of both sides for the longest answer, the dearest one for who answers. */
const asked = askingFee + reward + byteReward * longestRedeemer
const answered = longestFee - reward - byteReward * longestRedeemer

/** Longest answers in half of layer 1: a block of 90,112 B has room for five, and there are 180 an hour. */
export const answersPerHour = 450n
/**
 * Lovelace that the questions of an hour cost the asker, and their answers the operator. If the operator
 * answers nothing before the last hour of the period, one question more takes the bond.
 */
const [hourAsked, hourAnswered] = [answersPerHour * asked, answersPerHour * answered]

/** The largest bond, in lovelace and whole ada, for which there is a {@link leastPenalty}. */
export const largestBond = ((2n * hourAsked - hourAnswered) / 1_000_000n) * 1_000_000n

/**
 * Lovelace that a removal costs honest operators: commit and pruning of each block that is behind the oldest
 * that can be asked for, with one in five minutes of a week.
 */
export const lostBehind = 1_728n * 357_000n

/**
 * Lovelace for answers that an operator keeps, so that a griefer who takes the bond once it is spent on the
 * longest answers pays at least half of what operators lose.
 */
export const leastReserve = (bond: bigint, penalty: bigint): bigint =>
  ((bond + lostBehind + 2n * (bond - penalty)) * answered) / (2n * asked - answered)

/**
 * The least part of a bond, in lovelace, that the registry has to keep, so that a griefer who takes the bond
 * in an outage pays at least half of what the operator loses.
 */
export function leastPenalty(bond: bigint): bigint {
  const penalty = bond - hourAsked + (bond + hourAnswered + 1n) / 2n
  return penalty > 0n ? penalty : 0n
}
