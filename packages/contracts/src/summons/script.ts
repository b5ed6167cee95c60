import { ContractsError } from '../errors.js'
import { applyParameters, compiledCode, type PlutusScript } from '../script/apply.js'

/** The parameters of the summons. Each set of parameters gives another script hash. */
export interface SummonsParameters {
  /** Least lovelace in a question: the largest reward, and ada for the output that returns the rest. */
  readonly bond: bigint
  /** Lovelace that an answer takes from it. */
  readonly reward: bigint
  /** Lovelace that it takes for each byte of its redeemer. */
  readonly byteReward: bigint
  /** Milliseconds in which a question is to be answered; at least 1. */
  readonly period: bigint
  /** As in `QueueParameters`; at least two periods, or no one could ask. */
  readonly maturityWindow: bigint
}

/** Bytes of the longest transaction of layer 1. */
const longestRedeemer = 16_384n
/** Lovelace for the output that returns a bond: layer 1 asks for less, at mainnet's prices. */
const refundMinimum = 1_500_000n

/**
 * The script of the summons: the policy of questions and verdicts, and the validator of its address.
 *
 * @throws {ContractsError} `CONTRACTS_INVALID_PARAMETER`
 */
export function summonsScript({
  bond,
  reward,
  byteReward,
  period,
  maturityWindow,
}: SummonsParameters): PlutusScript {
  if (reward < 0n) throw invalid('reward', 'at least 0')
  if (byteReward < 0n) throw invalid('byteReward', 'at least 0')
  const most = reward + byteReward * longestRedeemer
  if (bond < most + refundMinimum) throw invalid('bond', `at least the reward, ${most}, and ${refundMinimum}`)
  if (period < 1n) throw invalid('period', 'at least 1')
  if (maturityWindow < 2n * period) throw invalid('maturityWindow', 'at least two periods')
  return applyParameters(compiledCode('summons'), [bond, reward, byteReward, period, maturityWindow])
}

const invalid = (name: string, rule: string) =>
  new ContractsError('CONTRACTS_INVALID_PARAMETER', `${name} must be ${rule}`)
