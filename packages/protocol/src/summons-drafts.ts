import { fromHex, toHex } from '@ratatosk/cbor'
import { encodeQuestion, SummonsAction, type SummonsQuestion } from '@ratatosk/contracts'
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
import { constr, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { type Contracts, inOrder, provideScripts, type ScriptPlace } from './contracts.js'
import type { OpenQuestion } from './open-questions.js'
import { firstSlotFrom } from './slots.js'

/** The inputs of a question. */
export interface Asking {
  /** Without its deadline, which is a period after the validity interval. */
  readonly question: Omit<SummonsQuestion, 'deadline'>
  /** `encodeAsk` of `@ratatosk/fraud`. */
  readonly redeemer: Uint8Array
  /** First slot in which the question can no longer be included; not before the block's end. */
  readonly validUntil: bigint
  readonly slots: SlotConfig
}

/** Asks a question; the wallet pays the bond. */
export function askQuestion(
  contracts: Contracts,
  { question, redeemer, validUntil, slots }: Asking,
  referenceScripts: readonly Utxo[] = [],
): TransactionDraft {
  const { summons, terms } = summonsOf(contracts)
  const deadline = slotToTime(slots, validUntil) + terms.period
  const data = encodeQuestion({ ...question, deadline })
  const assets = new Map([[toHex(blake2b256(data)), 1n]])
  return {
    ...provideScripts([summons], referenceScripts),
    mint: [{ policy: summons.policy, assets, redeemer }],
    outputs: [
      {
        address: summons.address,
        lovelace: terms.bond,
        assets: new Map([[summons.policy, assets]]),
        datum: { kind: 'inline', data },
      },
    ],
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
  /** Bytes of the chunk in the redeemer; undefined if it shows none. */
  readonly shown?: number | undefined
}

/** Answers a question: the bond less the reward returns to the asker. No signature is needed. */
export function answerQuestion(
  contracts: Contracts,
  { asked, redeemer, holders = [], shown }: Answering,
  referenceScripts: readonly Utxo[] = [],
): TransactionDraft {
  const { summons, terms } = summonsOf(contracts)
  const provided = provideScripts([summons], referenceScripts)
  const referenceInputs = [...provided.referenceInputs, ...holders]
  const keys = inOrder(referenceInputs).map(({ reference }) => outputReferenceKey(reference))
  const indexes = holders.map(({ reference }) => keys.indexOf(outputReferenceKey(reference)))
  return {
    ...provided,
    referenceInputs,
    inputs: [{ utxo: asked.utxo, redeemer: redeemer(indexes) }],
    mint: [burn(summons, asked)],
    outputs: [
      refund(contracts, asked, shown === undefined ? terms.reward : terms.byteReward * BigInt(shown)),
    ],
    // Strangers' tokens at the wallet must not take its ada with them into change.
    paidByAda: true,
  }
}

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
  const { assets, ...burned } = burn(summons, asked)
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
  readonly asked: OpenQuestion
  /** `encodeReclaim` of `@ratatosk/fraud`, with 0 as the refund's place. */
  readonly redeemer: Uint8Array
  readonly slots: SlotConfig
  /** An output that holds a verdict of the summons against the block. */
  readonly verdict?: Utxo | undefined
}

/**
 * Returns the bond of a question whose block has left the queue, without a verdict of its own: beside one
 * against the block, or from {@link staleFrom} on. No signature is needed.
 */
export function reclaimQuestion(
  contracts: Contracts,
  { asked, redeemer, slots, verdict }: Reclaiming,
  referenceScripts: readonly Utxo[] = [],
): TransactionDraft {
  const { summons } = summonsOf(contracts)
  const provided = provideScripts([summons], referenceScripts)
  return {
    ...provided,
    inputs: [{ utxo: asked.utxo, redeemer }],
    mint: [burn(summons, asked)],
    outputs: [refund(contracts, asked, 0n)],
    ...(verdict === undefined
      ? { validFrom: firstSlotFrom(slots, staleFrom(contracts, asked)) }
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
const burn = ({ policy }: ScriptPlace, { name }: OpenQuestion): DraftMint => ({
  policy,
  assets: new Map([[name, -1n]]),
  redeemer: encodePlutusData(constr(SummonsAction.expire, 0n)),
})

const refund = ({ networkId }: Contracts, { utxo, name, question }: OpenQuestion, kept: bigint) =>
  ({
    address: keyAddress(question.refund, networkId).bytes,
    lovelace: utxo.output.value.lovelace - kept,
    datum: { kind: 'inline', data: encodePlutusData(fromHex(name)) },
  }) as const
