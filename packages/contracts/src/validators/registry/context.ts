import { Registry } from '../../layout.js'
import { listData, unListData } from '../core/builtins.js'
import { datumOf, outputsOf } from '../core/context.js'
import { at, constr, fieldsOf } from '../core/data.js'
import { continuingOutputRules } from '../core/output-rules.js'
import type { Rules } from '../core/rules.js'
import { bind, type Data, type Int, type List } from '../core/term.js'

/** The parameters of the registry's script, as data, in the blueprint's order. */
export interface RegistryParameters {
  /** Bytes: asset name of the registry's token. */
  readonly tokenName: Data
  /** Bytes: asset name of a queue's root. */
  readonly rootName: Data
  /** `Credential` of the administrator: a verification key or a script. */
  readonly administrator: Data
  /** `OutputReference` that init must spend. */
  readonly deploymentOutput: Data
  /** `Bool`: whether the administrator decides who registers. */
  readonly permissioned: Data
  /** Integer: lovelace that an operator deposits. */
  readonly bond: Data
  /** Integer: length of an operator's turn in milliseconds. */
  readonly turnLength: Data
  /** Integer: milliseconds from the end of an operator's last turn until the bond may be withdrawn. */
  readonly releaseDelay: Data
  /** Integer: upper bound on operators who have not retired. */
  readonly maxOperators: Data
  /** Integer: lovelace of a slashed operator's bond that stays in the registry. */
  readonly slashPenalty: Data
}

/** The facts that the rules of minting and burning the registry's token read. */
export interface MintContext {
  readonly parameters: RegistryParameters
  /** The fields of `TxInfo`. */
  readonly transaction: List
  /** Bytes: the script's own hash. */
  readonly policy: Data
  /** The quantities minted and burned under `policy`, as a value of that policy alone. */
  readonly minted: Data
}

export interface ChangeContext {
  readonly parameters: RegistryParameters
  /** The fields of `TxInfo`. */
  readonly transaction: List
  readonly registry: Data
  /** The first field of the redeemer: an operator's key hash, or whether the queue is to run. */
  readonly argument: Data
  /** The second field of the redeemer; reading it fails where there is none. */
  readonly approach: Data
}

export const registryDatum = (operators: List, queue: Data, running: Data): Data =>
  constr(0, listData(operators), queue, running)

export function* fieldsOfRegistry(registry: Data) {
  const fields = yield* bind(fieldsOf(datumOf(registry)))
  const operators = yield* bind(unListData(at(fields, Registry.operators)))
  const queue = yield* bind(at(fields, Registry.queue))
  const running = yield* bind(at(fields, Registry.running))
  return { operators, queue, running }
}

/** The rules on the registry that a change pays back, by the output's place. */
export const continues = (
  name: string,
  { transaction, registry }: ChangeContext,
  datum: Data,
  leastAda: Int,
  place = 0,
): Rules =>
  continuingOutputRules(`${name}-continues`, at(outputsOf(transaction), place), registry, datum, leastAda)
