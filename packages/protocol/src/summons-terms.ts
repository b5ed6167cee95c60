import type { SummonsParameters } from '@ratatosk/contracts'

/**
 * Lovelace that an answer takes, and for each byte of its redeemer: less than it costs, 0.27 ada and 46 for a
 * byte, so that no one gains by hiding; and enough for a question without need to cost more than half of its
 * answer.
 */
const [reward, byteReward] = [100_000n, 33n]
/** Lovelace in a question: the largest reward, and an output that returns the rest. */
const questionBond = 2_500_000n

/**
 * Milliseconds to answer a question: a fourteenth of the maturity window, half a day of a week, so that eight
 * questions in a row, a claim and a removal fit into it; more in a short window, but never too much for one.
 */
function answerPeriod(maturityWindow: bigint): bigint {
  const [share, quarter] = [maturityWindow / 14n, maturityWindow / 4n]
  const short = quarter < 10_000n ? quarter : 10_000n
  return share > short ? share : short
}

/**
 * Milliseconds behind the end of a block in which peers may be without its body, before its operator is
 * asked: a sixtieth of the maturity window; in a short one, up to a minute.
 */
export function patienceOf(maturityWindow: bigint): bigint {
  const [sixtieth, tenth] = [maturityWindow / 60n, maturityWindow / 10n]
  const short = tenth < 60_000n ? tenth : 60_000n
  return sixtieth > short ? sixtieth : short
}

/** The terms of a summons with a maturity window; there is no time for answers if the period is 0. */
export function summonsTerms(maturityWindow: bigint): Omit<SummonsParameters, 'maturityWindow'> {
  return { bond: questionBond, reward, byteReward, period: answerPeriod(maturityWindow) }
}

/** Lovelace that a question costs beside its reward: with others in a transaction. */
const askingFee = 25_000n
/** Lovelace that the longest answer costs, in two transactions, and the bytes of its redeemer. */
const [longestFee, longestRedeemer] = [1_220_000n, 12_700n]
/** Lovelace of both sides for the longest answer, the dearest one for who answers. */
const asked = askingFee + reward + byteReward * longestRedeemer
const answered = longestFee - reward - byteReward * longestRedeemer

/** Longest answers in half of layer 1: a block of 90,112 B has room for five, and there are 180 an hour. */
export const answersPerHour = 450n
/**
 * Lovelace that the questions of an hour cost the asker, and their answers the operator. If the operator
 * answers nothing before the last hour of the period, one question more takes the bond.
 */
const [hourAsked, hourAnswered] = [answersPerHour * asked, answersPerHour * answered]

/** The largest bond, in lovelace and whole ada, for which there is a {@link leastPenalty}. */
export const largestBond = ((2n * hourAsked - hourAnswered) / 1_000_000n) * 1_000_000n

/**
 * Lovelace that a removal costs honest operators: commit and pruning of each block that is behind the oldest
 * that can be asked for, with one in five minutes of a week.
 */
export const lostBehind = 1_728n * 357_000n

/**
 * Lovelace for answers that an operator keeps, so that a griefer who takes the bond once it is spent on the
 * longest answers pays at least half of what operators lose.
 */
export const leastReserve = (bond: bigint, penalty: bigint): bigint =>
  ((bond + lostBehind + 2n * (bond - penalty)) * answered) / (2n * asked - answered)

/**
 * The least part of a bond, in lovelace, that the registry has to keep, so that a griefer who takes the bond
 * in an outage pays at least half of what the operator loses.
 */
export function leastPenalty(bond: bigint): bigint {
  const penalty = bond - hourAsked + (bond + hourAnswered + 1n) / 2n
  return penalty > 0n ? penalty : 0n
}
