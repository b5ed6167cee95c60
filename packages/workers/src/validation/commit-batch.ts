import type { RuleContext, Verdict } from '@ratatosk/ledger'
import type { AcceptedTransaction, Ledger, LedgerEntry } from '@ratatosk/store'
import { rejectionOf } from '../dead-letters/rejection.js'
import { BatchView, type ProvisionalOutput } from './batch-view.js'
import { type JudgedBatch, type Judgement, judgeBatch } from './judge-batch.js'
import { type Candidate, isCandidate, type NamedOutput, type Submission } from './submission.js'

/** One delivery in a batch: its transaction, or why it is none. */
export interface Delivery {
  readonly submission: Submission
  readonly examined: Candidate | Verdict
}

export interface BatchConditions {
  readonly context: RuleContext
  readonly provisional: ReadonlyMap<string, ProvisionalOutput>
  readonly maxAttempts: number
}

/**
 * Judges deliveries against the ledger and writes what follows from it: accepted transactions and dead letters.
 *
 * @param followers further candidates, with deliveries of their own to come: they are accepted if they can be, and
 *   nothing else is done about them
 */
export async function commitBatch(
  ledger: Ledger,
  deliveries: readonly Delivery[],
  followers: readonly Candidate[],
  { context, provisional, maxAttempts }: BatchConditions,
): Promise<JudgedBatch> {
  const candidates = [...deliveries.map(({ examined }) => examined).filter(isCandidate), ...followers]
  const known = await knownKeys(ledger, candidates)
  const judged = candidates.filter(({ key, flaws }) => !known.has(key) && flaws.length === 0)
  const stored = await storedOutputs(ledger, judged)
  const batch = judgeBatch(candidates, known, new BatchView(stored, provisional), context)
  await ledger.apply({ transactions: batch.accepted.map(acceptedTransaction) })
  await ledger.rejections.add(
    deliveries.flatMap(({ submission, examined }) => {
      const failures = isCandidate(examined)
        ? finalFailures(submission, batch.judgements.get(examined), maxAttempts)
        : examined
      if (failures === undefined) return []
      return [rejectionOf(submission, isCandidate(examined) ? examined.transaction.id : undefined, failures)]
    }),
  )
  return batch
}

/** Why a delivery ends in the dead letters; `undefined`: it does not. */
export function finalFailures(
  { attempt }: Submission,
  judgement: Judgement | undefined,
  maxAttempts: number,
): Verdict | undefined {
  if (judgement?.kind === 'rejected') return judgement.failures
  if (judgement?.kind === 'unready' && attempt >= maxAttempts) return judgement.failures
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
  // What the batch itself makes is not in the ledger yet.
  for (const { producedKeys } of candidates) for (const key of producedKeys) named.delete(key)
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
