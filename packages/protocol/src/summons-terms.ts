import type { SummonsParameters } from '@ratatosk/contracts'

/** Lovelace that the answerer takes: the largest answer in one transaction costs 880,000. */
const answerReward = 900_000n
/** Lovelace in a question: the reward, and an output that returns the rest. */
const questionBond = 3_000_000n

/**
 * Milliseconds to answer a question: a twelfth of the maturity window, so that several questions, a claim and
 * a removal fit into it; more in a short window, but never too much for one.
 */
function answerPeriod(maturityWindow: bigint): bigint {
  const [twelfth, quarter] = [maturityWindow / 12n, maturityWindow / 4n]
  const short = quarter < 10_000n ? quarter : 10_000n
  return twelfth > short ? twelfth : short
}

/** The terms of a summons with a maturity window; there is no time for answers if the period is 0. */
export function summonsTerms(maturityWindow: bigint): Omit<SummonsParameters, 'maturityWindow'> {
  return { bond: questionBond, reward: answerReward, period: answerPeriod(maturityWindow) }
}

/** Lovelace that it costs at least to ask, besides the reward. */
const askingFee = 270_000n
/** Largest answers in half of layer 1: a block of 90,112 B has room for five, and there are 180 an hour. */
export const answersPerHour = 450n
const hourMs = 3_600_000n

/**
 * The lovelace that a stranger pays to ask more, in the time for an answer, than half of layer 1 can carry
 * answers to. It has to be more than a bond: more answers than layer 1 carries could not be given in time.
 */
export function outAskingPrice(maturityWindow: bigint): bigint {
  return ((answerReward + askingFee) * answersPerHour * answerPeriod(maturityWindow)) / hourMs
}
