import { ContractsError } from '../errors.js'
import { applyParameters, compiledCode, type PlutusScript } from '../script/apply.js'

/** The parameters of the summons. Each set of parameters gives another script hash. */
export interface SummonsParameters {
  /** Least lovelace in a question: reward, and enough ada for the output that returns the rest. */
  readonly bond: bigint
  /** Lovelace that the answerer takes from it. */
  readonly reward: bigint
  /** Milliseconds in which a question is to be answered; at least 1. */
  readonly period: bigint
  /** As in `QueueParameters`; at least two periods, or no one could ask. */
  readonly maturityWindow: bigint
}

/** Lovelace for the output that returns a bond: layer 1 asks for less, at mainnet's prices. */
const refundMinimum = 1_500_000n

/**
 * The script of the summons: the policy of questions and verdicts, and the validator of its address.
 *
 * @throws {ContractsError} `CONTRACTS_INVALID_PARAMETER`
 */
export function summonsScript({ bond, reward, period, maturityWindow }: SummonsParameters): PlutusScript {
  if (reward < 0n) throw invalid('reward', 'at least 0')
  if (bond < reward + refundMinimum) throw invalid('bond', `at least the reward and ${refundMinimum}`)
  if (period < 1n) throw invalid('period', 'at least 1')
  if (maturityWindow < 2n * period) throw invalid('maturityWindow', 'at least two periods')
  return applyParameters(compiledCode('summons'), [bond, reward, period, maturityWindow])
}

const invalid = (name: string, rule: string) =>
  new ContractsError('CONTRACTS_INVALID_PARAMETER', `${name} must be ${rule}`)
