import type { RuleContext, Transaction, Verdict } from '@ratatosk/ledger'
import type { Delivery } from '@ratatosk/queue'
import type { AcceptedTransaction, Ledger, LedgerEntry } from '@ratatosk/store'
import { BatchView, type ProvisionalEffects } from './batch-view.js'
import { deadLetterOf } from './dead-letters.js'
import { type Candidate, isCandidate, type NamedOutput } from './examine.js'
import { type JudgedBatch, type Judgement, judgeBatch } from './judge-batch.js'

/** A delivery and the result of phase A: its transaction, or why it does not decode. */
export interface ExaminedDelivery {
  readonly delivery: Delivery
  readonly examined: Candidate | Verdict
}

export interface BatchConditions {
  readonly context: RuleContext
  readonly provisional: ProvisionalEffects
  readonly maxAttempts: number
  /** See `judgeBatch`. */
  verdictOnFew(transaction: Transaction): Verdict | undefined
}

/**
 * Judges deliveries against the ledger and writes the results: accepted transactions and dead letters.
 *
 * @param followers further candidates that have deliveries of their own: those that can be accepted are, the others are left alone
 */
export async function commitBatch(
  ledger: Ledger,
  deliveries: readonly ExaminedDelivery[],
  followers: readonly Candidate[],
  { context, provisional, maxAttempts, verdictOnFew }: BatchConditions,
): Promise<JudgedBatch> {
  const candidates = [...deliveries.map(({ examined }) => examined).filter(isCandidate), ...followers]
  const known = await knownKeys(ledger, candidates)
  const unknown = candidates.filter(({ key }) => !known.has(key))
  const stored = await storedOutputs(ledger, unknown)
  const batch = judgeBatch(candidates, known, new BatchView(stored, provisional), context, verdictOnFew)
  await ledger.apply({ transactions: batch.accepted.map(acceptedTransaction) })
  await ledger.rejections.add(
    deliveries.flatMap(({ delivery, examined }) => {
      const failures = isCandidate(examined)
        ? finalFailures(delivery, batch.judgements.get(examined), maxAttempts)
        : examined
      if (failures === undefined) return []
      return [deadLetterOf(delivery, isCandidate(examined) ? examined.transaction.id : undefined, failures)]
    }),
  )
  return batch
}

/** Why a delivery becomes a dead letter; `undefined` if it does not. */
export function finalFailures(
  { attempt }: Delivery,
  judgement: Judgement | undefined,
  maxAttempts: number,
): Verdict | undefined {
  if (judgement?.kind === 'rejected') return judgement.failures
  if (judgement?.kind === 'retriable' && attempt >= maxAttempts) return judgement.failures
  return undefined
}

async function knownKeys(ledger: Ledger, candidates: readonly Candidate[]): Promise<ReadonlySet<string>> {
  const known = await ledger.known(candidates.map(({ transaction }) => transaction.id))
  return new Set(candidates.filter((_, index) => known[index]).map(({ key }) => key))
}

async function storedOutputs(
  ledger: Ledger,
  candidates: readonly Candidate[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const named = new Map<string, NamedOutput>()
  for (const candidate of candidates) for (const each of candidate.named) named.set(each.key, each)
  // The ledger does not have what the batch itself produces.
  for (const { produced } of candidates) for (const { key } of produced) named.delete(key)
  const outputs = await ledger.outputs(Array.from(named.values(), ({ reference }) => reference))
  const stored = new Map<string, Uint8Array>()
  let index = 0
  for (const key of named.keys()) {
    const output = outputs[index++]
    if (output !== undefined) stored.set(key, output)
  }
  return stored
}

function acceptedTransaction({ transaction, effects }: Candidate): AcceptedTransaction {
  return {
    id: transaction.id,
    cbor: transaction.bytes,
    spent: effects.spent,
    produced: effects.produced.map(({ reference, output }): LedgerEntry => {
      const { address, bytes } = output
      const entry = { reference, output: bytes, address: address.bytes }
      return 'payment' in address ? { ...entry, paymentCredential: address.payment.hash } : entry
    }),
  }
}
