import type { WatcherContext } from './context.js'

/** Questions about chunks, but the first of a block, that may wait before any of them is answered. */
const firstWave = 448
/** Answers for which one question more may wait. */
const answersForOne = 3

/**
 * How much more may be asked about blocks without bodies. An operator who is silent loses one bond, however
 * much was asked, and a watcher half an ada for each question: so most are asked once others are answered,
 * which costs the operator as well. The first one about a block costs the operator its commit.
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
 * Questions about chunks that may wait, by the numbers of chunks that are shown, and shown to be absent: that
 * costs an operator next to nothing.
 */
export const waveOf = (shown: number, absent = 0): number =>
  firstWave + Math.floor(shown / answersForOne) - absent

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
