import type { WatcherContext } from './context.js'
import type { QuestionBook } from './question-book.js'

/** Questions about chunks, but the first of a block, that may wait before any of them is answered. */
const firstWave = 2_048

/**
 * How much more may be asked about blocks without bodies. An operator who is silent loses one bond, however
 * much was asked, and a watcher 0.08 ada for each question. So two blocks of the longest may be asked for
 * before anything is shown, and one chunk more for each that is, which costs the operator as well. The first
 * one about a block costs the operator its commit.
 */
export interface Allowance {
  /** Questions about chunks that are not the first of their block. */
  chunks: number
  /** Own questions that wait about blocks behind the oldest. */
  behind: number
  /** Lovelace of the wallet, read when it is needed first. */
  spendable?: bigint
}

/**
 * Questions about chunks that may wait, by the number of chunks that are shown. Absences do not count: they
 * cost an operator next to nothing, and a stranger may ask for any number of chunks that no block has.
 */
export const waveOf = (shown: number): number => firstWave + shown

/** The {@link Allowance} at the beginning of a read, by the answers about all such blocks. */
export function openAllowance(books: readonly Pick<QuestionBook, 'chunks'>[]): Allowance {
  const shown = books.flatMap(({ chunks }) => [...chunks.values()]).filter(({ kind }) => kind !== 'absent')
  return { chunks: waveOf(shown.length), behind: 0 }
}

/**
 * Takes the ada for a question about a block behind the oldest, if as much is left as such questions lock:
 * their bonds return late if the oldest is removed.
 */
export async function takeBehind(
  { wallet, contracts, signal }: WatcherContext,
  allowance: Allowance,
): Promise<boolean> {
  const { bond = 0n } = contracts.parameters.summons ?? {}
  allowance.spendable ??= await wallet.spendable({}, { signal })
  if (allowance.spendable < BigInt(allowance.behind + 1) * bond) return false
  allowance.behind++
  allowance.spendable -= bond
  return true
}
