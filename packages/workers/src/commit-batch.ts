import { fromHex, toHex } from '@ratatosk/cbor'
import { appliedTransaction, type Failures, type OutputReference, type Transaction } from '@ratatosk/ledger'
import type { Delivery } from '@ratatosk/queue'
import type { Ledger, LedgerReads, NewRejection, UnlockedLedger } from '@ratatosk/store'
import { BatchView, type ProvisionalEffects, spendersOfMissing } from './batch-view.js'
import { deadLetterOf } from './dead-letters.js'
import { type Candidate, isCandidate, type Leaving, type NamedOutput } from './examine.js'
import { type BatchContext, type Decision, type ValidatedBatch, validateBatch } from './validate-batch.js'

/** A delivery and the result of phase A: its transaction, or why it does not decode. */
export interface ExaminedDelivery {
  readonly delivery: Delivery
  readonly examined: Candidate | Failures
}

interface BatchConditions {
  readonly context: BatchContext
  readonly provisional: ProvisionalEffects
  readonly maxAttempts: number
  readonly leaving: Leaving | undefined
  verifyFew(transaction: Transaction): Failures | undefined
}

/** Validates deliveries and writes the results. Of `followers`, only acceptable ones are written. */
export async function commitBatch(
  ledger: Ledger,
  deliveries: readonly ExaminedDelivery[],
  followers: readonly Candidate[],
  conditions: BatchConditions,
): Promise<ValidatedBatch> {
  const batch = await validateDeliveries(ledger, deliveries, followers, conditions)
  await write(ledger, batch, deadLettersOf(deliveries, batch, conditions), conditions)
  return batch
}

/**
 * As {@link commitBatch}, but validates before the lock; undefined, and nothing written, if ledger or time
 * changed.
 * @throws StoreError `STORE_CONFLICT` if an output that the batch spends was spent since
 */
export async function commitUnlockedBatch(
  unlocked: UnlockedLedger,
  deliveries: readonly ExaminedDelivery[],
  followers: readonly Candidate[],
  conditions: BatchConditions,
  isCurrent: () => boolean,
): Promise<ValidatedBatch | undefined> {
  const batch = await validateDeliveries(unlocked, deliveries, followers, conditions)
  // Another worker may have accepted the one after the outputs were read, and the other may wait for what it
  // produces.
  const kinds = new Set(Array.from(batch.decisions.values(), ({ kind }) => kind))
  if (kinds.has('known') && kinds.has('retriable')) return undefined
  const deadLetters = deadLettersOf(deliveries, batch, conditions)
  const ledger = await unlocked.lock()
  if (!isCurrent()) return undefined
  const kept = await ledger.outputs(keptOutputs(batch.accepted))
  if (kept.includes(undefined)) return undefined
  if (!(await stillHold(ledger, deadLetters, batch))) return undefined
  await write(ledger, batch, deadLetters, conditions)
  return batch
}

/** Whether dead letters are still not accepted, and the transactions that they lost against still are. */
async function stillHold(
  ledger: Ledger,
  deadLetters: readonly NewRejection[],
  { accepted }: ValidatedBatch,
): Promise<boolean> {
  const own = new Set(accepted.map(({ key }) => key))
  const rejected = deadLetters.flatMap(({ transactionId }) => transactionId ?? [])
  const spenders = deadLetters.flatMap(({ spentBy }) =>
    spentBy === undefined || own.has(toHex(spentBy)) ? [] : [spentBy],
  )
  const known = await ledger.known([...rejected, ...spenders])
  return known.every((isKnown, position) => isKnown === position >= rejected.length)
}

// The outputs first. Without the lock, another worker may accept a delivery of the same transaction between
// the two reads: it must count as known, and not as one whose inputs are spent.
async function validateDeliveries(
  ledger: LedgerReads,
  deliveries: readonly ExaminedDelivery[],
  followers: readonly Candidate[],
  { context, provisional, verifyFew }: BatchConditions,
): Promise<ValidatedBatch> {
  const candidates = [...deliveries.map(({ examined }) => examined).filter(isCandidate), ...followers]
  const stored = await storedOutputs(ledger, candidates)
  const known = await knownKeys(ledger, candidates)
  const has = (key: string) => stored.has(key) || provisional.outputs.has(key)
  const spenders = await spendersOfMissing(ledger, candidates, { has, known })
  const view = new BatchView(stored, provisional, spenders)
  return validateBatch(candidates, known, view, context, verifyFew)
}

async function write(
  ledger: Ledger,
  { accepted }: ValidatedBatch,
  deadLetters: readonly NewRejection[],
  { leaving }: Pick<BatchConditions, 'leaving'>,
): Promise<void> {
  await ledger.apply({
    transactions: accepted.map(({ transaction, effects }) =>
      appliedTransaction(transaction, leaving?.leaves, effects),
    ),
  })
  await ledger.rejections.add(deadLetters)
}

function deadLettersOf(
  deliveries: readonly ExaminedDelivery[],
  { decisions }: ValidatedBatch,
  { maxAttempts }: BatchConditions,
): readonly NewRejection[] {
  return deliveries.flatMap(({ delivery, examined }) => {
    if (!isCandidate(examined)) return [deadLetterOf(delivery, undefined, examined)]
    const decision = decisions.get(examined)
    const failures = finalFailures(delivery, decision, maxAttempts)
    if (failures === undefined) return []
    const letter = deadLetterOf(delivery, examined.transaction.id, failures)
    const spentBy = decision?.kind === 'rejected' ? decision.spentBy : undefined
    return [{ ...letter, ...(spentBy !== undefined && { spentBy: fromHex(spentBy) }) }]
  })
}

/** Outputs that accepted transactions name and leave unspent. `Ledger.apply` checks the spent ones. */
function keptOutputs(accepted: readonly Candidate[]): readonly OutputReference[] {
  const own = new Set(
    accepted.flatMap(({ spentKeys, produced }) => [...spentKeys, ...produced.map(({ key }) => key)]),
  )
  return accepted.flatMap(({ named }) =>
    named.flatMap(({ key, reference }) => (own.has(key) ? [] : [reference])),
  )
}

/** Why a delivery becomes a dead letter; `undefined` if it does not. */
export function finalFailures(
  { attempt }: Delivery,
  decision: Decision | undefined,
  maxAttempts: number,
): Failures | undefined {
  if (decision?.kind === 'rejected') return decision.failures
  if (decision?.kind === 'retriable' && attempt >= maxAttempts) return decision.failures
  return undefined
}

async function knownKeys(
  ledger: LedgerReads,
  candidates: readonly Candidate[],
): Promise<ReadonlySet<string>> {
  const known = await ledger.known(candidates.map(({ transaction }) => transaction.id))
  return new Set(candidates.filter((_, index) => known[index]).map(({ key }) => key))
}

async function storedOutputs(
  ledger: LedgerReads,
  candidates: readonly Candidate[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const named = new Map<string, NamedOutput>()
  for (const candidate of candidates) for (const each of candidate.named) named.set(each.key, each)
  const outputs = await ledger.outputs(Array.from(named.values(), ({ reference }) => reference))
  const stored = new Map<string, Uint8Array>()
  let index = 0
  for (const key of named.keys()) {
    const output = outputs[index++]
    if (output !== undefined) stored.set(key, output)
  }
  return stored
}
