import { toHex } from '@ratatosk/cbor'
import {
  decodeTransactionOutput,
  type Failures,
  type TransactionOutput,
  type UtxoView,
} from '@ratatosk/ledger'
import type { LedgerReads } from '@ratatosk/store'
import type { Candidate, NamedOutput } from './examine.js'

/** An output that exists only if `owner`, a transaction that is not decided yet, is accepted. */
export interface ProvisionalOutput {
  readonly output: TransactionOutput
  readonly owner: Candidate
  /** Whether the owner waits for an undecided output itself, or for its signatures. */
  readonly ownerWaits: boolean
}

/** The pending effects of undecided transactions on the ledger, by `outputReferenceKey`. */
export interface ProvisionalEffects {
  readonly outputs: ReadonlyMap<string, ProvisionalOutput>
  /** The undecided transaction that spends an output. */
  readonly spenders: ReadonlyMap<string, Candidate>
}

/** The unspent outputs within a batch: the ledger's, minus spent ones, plus produced ones. */
export class BatchView implements UtxoView {
  readonly #stored: ReadonlyMap<string, Uint8Array>
  readonly #provisional: Map<string, ProvisionalOutput>
  readonly #spenders: Map<string, Candidate>
  /** Outputs that were decoded or produced; `undefined` if the batch has spent them. */
  readonly #outputs = new Map<string, TransactionOutput | undefined>()
  readonly #spentBy: Map<string, string>

  /** `stored`: CBOR by `outputReferenceKey`; `spentBy`: hex ids of the spenders of missing outputs. */
  constructor(
    stored: ReadonlyMap<string, Uint8Array>,
    provisional?: ProvisionalEffects,
    spentBy?: ReadonlyMap<string, string>,
  ) {
    this.#stored = stored
    this.#spentBy = new Map(spentBy)
    this.#provisional = new Map(provisional?.outputs)
    this.#spenders = new Map(provisional?.spenders)
  }

  get(key: string): TransactionOutput | undefined {
    if (this.#outputs.has(key)) return this.#outputs.get(key)
    const stored = this.#stored.get(key)
    if (stored === undefined) return this.#provisional.get(key)?.output
    const output = decodeTransactionOutput(stored)
    this.#outputs.set(key, output)
    return output
  }

  /** Hex id of the accepted transaction that spent an output, if it is known. */
  spenderOf(key: string): string | undefined {
    return this.#spentBy.get(key)
  }

  /** The undecided candidates that must be accepted for the outputs that this candidate names to exist. */
  ownersOf({ named }: Candidate): readonly Candidate[] {
    return distinct(named.map(({ key }) => this.#provisionalOutput(key)?.owner))
  }

  /** The undecided candidates that spend the same output. */
  rivalsOf({ spentKeys }: Candidate): readonly Candidate[] {
    return distinct(spentKeys.map((key) => this.#spenders.get(key)))
  }

  /** Undecided candidates to decide before this one: its rivals, and owners that wait themselves. */
  blockersOf(candidate: Candidate): readonly Candidate[] {
    const waiting = candidate.named.map(({ key }) => {
      const output = this.#provisionalOutput(key)
      return output?.ownerWaits ? output.owner : undefined
    })
    return distinct([...this.rivalsOf(candidate), ...waiting])
  }

  apply(candidate: Candidate): void {
    for (const key of candidate.spentKeys) {
      this.#outputs.set(key, undefined)
      this.#spentBy.set(key, candidate.key)
    }
    for (const { key, output } of candidate.produced) this.#outputs.set(key, output)
  }

  /** @param ownerWaits see {@link ProvisionalOutput}; its own inputs are not taken yet */
  applyProvisionally(owner: Candidate, ownerWaits: boolean): void {
    if (!ownerWaits) for (const key of owner.spentKeys) this.#spenders.set(key, owner)
    for (const { key, output } of owner.produced) {
      // Another delivery of the same transaction may be further.
      if (ownerWaits && this.#provisional.has(key)) continue
      this.#provisional.set(key, { output, owner, ownerWaits })
    }
  }

  #provisionalOutput(key: string): ProvisionalOutput | undefined {
    return this.#stored.has(key) || this.#outputs.has(key) ? undefined : this.#provisional.get(key)
  }
}

function distinct(candidates: readonly (Candidate | undefined)[]): readonly Candidate[] {
  return [...new Set(candidates.filter((candidate) => candidate !== undefined))]
}

/** The most missing outputs of a transaction whose spenders are looked up and named. */
const maxSpenders = 8

/** The ledger's outputs and spenders for some candidates. */
interface ReadLedger {
  /** Whether an output is there, by `outputReferenceKey`. */
  has(key: string): boolean
  /** Hex ids of the candidates that are accepted already. */
  readonly known: ReadonlySet<string>
}

/** Hex ids of the spenders of missing outputs, by `outputReferenceKey`; one query at most. */
export async function spendersOfMissing(
  ledger: Pick<LedgerReads, 'spenders'>,
  candidates: readonly Candidate[],
  { has, known }: ReadLedger,
): Promise<ReadonlyMap<string, string>> {
  // Accepted or invalid transactions produce nothing in this batch.
  const producers = candidates.filter(({ key, flaws }) => flaws.length === 0 && !known.has(key))
  const produced = new Set(producers.flatMap((candidate) => candidate.produced.map(({ key }) => key)))
  const missing = new Map<string, NamedOutput>()
  // Invalid transactions need no spender, and accepted ones have spent their inputs themselves.
  for (const { named } of producers) {
    const own = named.filter((output) => !has(output.key) && !produced.has(output.key))
    for (const output of own.slice(0, maxSpenders)) missing.set(output.key, output)
  }
  const found = new Map<string, string>()
  if (missing.size === 0) return found
  const spenders = await ledger.spenders(Array.from(missing.values(), ({ reference }) => reference))
  for (const [position, key] of [...missing.keys()].entries()) {
    const spender = spenders[position]
    if (spender !== undefined) found.set(key, toHex(spender))
  }
  return found
}

/** The spent outputs that a candidate names, as far as their spenders are known, with these in hex. */
export function spentInputs({ key: own, named }: Candidate, view: BatchView): ReadonlyMap<string, string> {
  const spent = new Map<string, string>()
  for (const { key } of named) {
    const spender = view.get(key) === undefined ? view.spenderOf(key) : undefined
    // Accepted by another worker meanwhile, a transaction does not conflict with itself.
    if (spender === undefined || spender === own) continue
    spent.set(key, spender)
    if (spent.size === maxSpenders) break
  }
  return spent
}

/** Has the failure about inputs name the transactions that spent them. */
export function nameSpenders(failures: Failures, spent: ReadonlyMap<string, string>): Failures {
  const [first] = spent
  if (first === undefined) return failures
  const [input, spender] = first
  return failures.map((failure) =>
    failure.predicate === 'BadInputsUTxO'
      ? {
          ...failure,
          message: `${failure.message}: ${input} was spent by transaction ${spender}`,
          details: { ...failure.details, spentBy: Object.fromEntries(spent) },
        }
      : failure,
  )
}
