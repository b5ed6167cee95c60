import { fromHex, toHex } from '@ratatosk/cbor'
import {
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
import type { DraftMint, TransactionDraft } from '@ratatosk/ledger/builder'
import { invalidDraft } from '@ratatosk/ledger/builder'
import { constr, decodeAnyData, encodeAnyData, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { type Contracts, inOrder, provideScripts, type ScriptPlace } from './contracts.js'
import type { OpenQuestion } from './open-questions.js'
import { firstSlotFrom } from './slots.js'

/** The inputs of questions about a block. */
export interface Asking<Each extends Omit<SummonsQuestion, 'deadline'>> {
  /** Without their deadline, which is a period after the validity interval. */
  readonly questions: readonly Each[]
  /** `encodeAsk` of `@ratatosk/fraud`, for the questions in the order of their tokens. */
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
  /** `encodeNodeAnswer` or `encodeChunkAnswer` of `@ratatosk/fraud`, with 0 as the refund's place. */
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
 * @param redeemer `encodeExpiry` of `@ratatosk/fraud`, with 0 as the refund's place
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
  /** `encodeReclaim` of `@ratatosk/fraud`. */
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
