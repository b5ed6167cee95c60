import { toHex } from '@ratatosk/cbor'
import { encodeChunkAnswer, encodeNodeAnswer } from '@ratatosk/fraud'
import { decodeTransaction, effects, encodeOutputReference, type Utxo } from '@ratatosk/ledger'
import type { BuiltTransaction, TransactionDraft } from '@ratatosk/ledger/builder'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { answerQuestion } from '@ratatosk/protocol'
import type { AnswerStage, AnswerTransaction } from '@ratatosk/store'
import { readReferenceScripts } from '../blocks/queue-elements.js'
import type { Shown } from '../roots/index.js'
import type { OwnQuestion } from './questions.js'
import { type AnswerContext, sendAnswer } from './send-answer.js'

/** Bytes of a chunk that a redeemer holds beside the rest of an answer. */
const maxRedeemerBytes = 13_000
/** Bytes of a longer chunk that stay in the redeemer: bytes in a datum take ada. */
const keptBytes = 12_288

/**
 * Builds, records and sends an answer. The rest of a chunk that is too long for a redeemer goes into the
 * datum of an output, whose transaction (`held`, if recorded) is sent before.
 * @throws {WalletError}
 */
export async function buildAnswer(
  context: AnswerContext,
  asked: OwnQuestion,
  shown: Exclude<Shown, { kind: 'nothing' }>,
  slot: bigint,
  held: AnswerTransaction | undefined,
): Promise<BuiltTransaction> {
  const holders: Utxo[] = []
  if (shown.kind === 'chunk' && shown.bytes.length > maxRedeemerBytes) {
    const datum = encodePlutusData(shown.bytes.subarray(keptBytes))
    const known = held && (await holderOf(context, held))
    holders.push(known ?? (await payHolder(context, asked, datum, slot)))
  }
  const redeemer = (indexes: readonly number[]) => redeemerOf(asked, shown, indexes)
  const scripts = await readReferenceScripts(context)
  const draft = answerQuestion(context.contracts, { asked, redeemer, holders }, scripts)
  return recordAndSend(context, asked, 'answer', draft, slot, holders)
}

function redeemerOf(
  { question }: OwnQuestion,
  shown: Exclude<Shown, { kind: 'nothing' }>,
  indexes: readonly number[],
): Uint8Array {
  if (shown.kind === 'node') return encodeNodeAnswer(0, question.key, shown.node)
  if (shown.kind === 'no chunk') return encodeChunkAnswer(0, shown)
  const { entry, proof, bytes } = shown
  const parts = indexes.length === 0 ? [bytes] : [bytes.subarray(0, keptBytes), ...indexes]
  return encodeChunkAnswer(0, { entry, proof, parts })
}

/** The output that a recorded transaction pays; undefined if it is spent. */
async function holderOf(
  { layer1, answers, signal }: AnswerContext,
  held: AnswerTransaction,
): Promise<Utxo | undefined> {
  const [output] = effects(decodeTransaction(held.cbor)).produced
  if (output === undefined || answers.wallet.isInFlight(held.id)) return output
  const [unspent] = await layer1.utxosByReferences([output.reference], { signal })
  return unspent
}

async function payHolder(
  context: AnswerContext,
  asked: OwnQuestion,
  data: Uint8Array,
  slot: bigint,
): Promise<Utxo> {
  const { address } = context.answers.wallet
  const draft = { outputs: [{ address, datum: { kind: 'inline', data } as const }] }
  const { produced } = await recordAndSend(context, asked, 'datum', draft, slot)
  return produced[0] as Utxo
}

async function recordAndSend(
  context: AnswerContext,
  { utxo }: OwnQuestion,
  stage: AnswerStage,
  draft: TransactionDraft,
  slot: bigint,
  spared: readonly Utxo[] = [],
): Promise<BuiltTransaction> {
  const { store, signal, slots, options } = context
  const { wallet } = context.answers
  const validUntil = slot + BigInt(Math.ceil(options.blockValidityMs / slots.slotLength))
  const built = await wallet.build({ ...draft, validUntil }, { signal, spared })
  const question = encodeOutputReference(utxo.reference)
  const recorded = { question, stage, id: built.id, cbor: built.bytes }
  try {
    await store.answers.record(recorded, context.lease)
  } catch (error) {
    wallet.release(built.id)
    throw error
  }
  context.step('answer-recorded')
  if (!(await sendAnswer(context, recorded, slot)))
    throw new Error(`Layer 1 refused transaction ${toHex(built.id)}`)
  return built
}
