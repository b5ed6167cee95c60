import type { SummonsParameters } from '@ratatosk/contracts'

/** Lovelace that the largest answer in one transaction costs. */
const answeringFee = 880_000n
/** Lovelace that it costs at least to ask, besides the reward. */
const askingFee = 270_000n
/**
 * Lovelace that an answer without a chunk takes: less than it costs, so that no one gains by hiding a map,
 * and enough for a question without need to cost more than half of its answer.
 */
const nodeReward = 260_000n
/** Lovelace for each byte of a chunk in the redeemer, by the same rule: a byte costs about 48. */
const byteReward = 30n
/** Lovelace in a question: the largest reward, and an output that returns the rest. */
const questionBond = 3_000_000n

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
  return { bond: questionBond, reward: nodeReward, byteReward, period: answerPeriod(maturityWindow) }
}

/** Largest answers in half of layer 1: a block of 90,112 B has room for five, and there are 180 an hour. */
export const answersPerHour = 450n
/**
 * Lovelace that the questions of an hour cost the asker, and their answers the operator, of the kind whose
 * reward is the least for its answer: entries. If the operator answers nothing before the last hour of the
 * period, one question more takes the bond.
 */
const [hourAsked, hourAnswered] = [
  answersPerHour * (nodeReward + askingFee),
  answersPerHour * (answeringFee - nodeReward),
]

/** The largest bond, in lovelace, for which there is a {@link leastPenalty}. */
export const largestBond = 2n * hourAsked - hourAnswered

/** Lovelace that the longest answer costs, in two transactions, and bytes of its chunk with a reward. */
const [longestFee, rewardedBytes] = [1_250_000n, 12_288n]
/**
 * Lovelace that a removal costs honest operators: commit and pruning of each block that is behind the oldest
 * that can be asked for, with one in five minutes of a week.
 */
export const lostBehind = 1_728n * 357_000n

/**
 * Lovelace for answers that an operator keeps, so that a griefer who takes the bond once it is spent on the
 * longest answers pays at least half of what operators lose.
 */
export function leastReserve(bond: bigint, penalty: bigint): bigint {
  const reward = rewardedBytes * byteReward
  const [asked, answered] = [askingFee + reward, longestFee - reward]
  return ((bond + lostBehind + 2n * (bond - penalty)) * answered) / (2n * asked - answered)
}

/**
 * The least part of a bond, in lovelace, that the registry has to keep, so that a griefer who takes the bond
 * in an outage pays at least half of what the operator loses.
 */
export function leastPenalty(bond: bigint): bigint {
  const penalty = bond - hourAsked + (bond + hourAnswered + 1n) / 2n
  return penalty > 0n ? penalty : 0n
}
