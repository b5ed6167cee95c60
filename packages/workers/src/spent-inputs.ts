import { toHex } from '@ratatosk/cbor'
import type { Failures } from '@ratatosk/ledger'
import type { LedgerReads } from '@ratatosk/store'
import type { BatchView } from './batch-view.js'
import type { Candidate, NamedOutput } from './examine.js'

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
