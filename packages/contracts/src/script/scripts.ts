import { registryTokenName } from '../datum/registry.js'
import { rootTokenName } from '../datum/state-queue.js'
import { ContractsError } from '../errors.js'
import { hashLength } from '../layout.js'
import { applyParameters, type PlutusScript } from './apply.js'
import { compiledCode } from './blueprint.js'

/** What makes one state queue differ from another. */
export interface QueueParameters {
  /** `<PROTOCOL>` of the root's asset name: 1 to 16 characters A to Z, 0 to 9 and `_`, not beginning with `MBLC`. */
  readonly protocol: string
  /** Blake2b-224 of the verification key that may begin and end queues. */
  readonly administrator: Uint8Array
  /** Milliseconds from a block's end until it may be merged. */
  readonly maturityWindow: bigint
  /** The hash of the operator registry's script. */
  readonly registryPolicy: Uint8Array
  /** Milliseconds of an operator's turn. No block is longer than a turn, so a turn is longer than the time between blocks. */
  readonly turnLength: bigint
}

export interface RegistryParameters {
  /** As the state queue's. */
  readonly protocol: string
  /** Blake2b-224 of the verification key that may begin and end a registry. */
  readonly administrator: Uint8Array
  /** Lovelace that an operator leaves with the registry. */
  readonly bond: bigint
  /** Milliseconds from retirement until the bond may be taken: no less than maturity window and turn together. */
  readonly releaseDelay: bigint
  /** The most operators, active and retired; 100 are a datum of about 4,000 bytes, and 100 is the most allowed. */
  readonly maxOperators: bigint
}

/**
 * The state queue's script, which is its policy and guards its address.
 *
 * @throws {ContractsError} `invalid-parameter`
 * @example
 * const registry = operatorRegistryScript({ protocol, administrator, bond, releaseDelay, maxOperators: 100n })
 * const queue = stateQueueScript({ protocol, administrator, maturityWindow, turnLength, registryPolicy: registry.hash })
 */
export function stateQueueScript(parameters: QueueParameters): PlutusScript {
  assertProtocol(parameters.protocol)
  assertHash('administrator', parameters.administrator)
  assertHash('registryPolicy', parameters.registryPolicy)
  assertAtLeast('maturityWindow', parameters.maturityWindow, 0n)
  assertAtLeast('turnLength', parameters.turnLength, 1n)
  return applyParameters(compiledCode('state_queue'), [
    rootTokenName(parameters.protocol),
    parameters.administrator,
    parameters.maturityWindow,
    parameters.registryPolicy,
    parameters.turnLength,
  ])
}

/**
 * The operator registry's script, which is its policy and guards its address.
 *
 * @throws {ContractsError} `invalid-parameter`
 */
export function operatorRegistryScript(parameters: RegistryParameters): PlutusScript {
  assertProtocol(parameters.protocol)
  assertHash('administrator', parameters.administrator)
  assertAtLeast('bond', parameters.bond, 0n)
  assertAtLeast('releaseDelay', parameters.releaseDelay, 0n)
  assertAtLeast('maxOperators', parameters.maxOperators, 1n)
  if (parameters.maxOperators > 100n) throw invalid('maxOperators', 'at most 100')
  return applyParameters(compiledCode('operator_registry'), [
    registryTokenName(parameters.protocol),
    parameters.administrator,
    parameters.bond,
    parameters.releaseDelay,
    parameters.maxOperators,
  ])
}

/** The CIP-19 address of a script, without staking part: 29 bytes. */
export function scriptAddress(hash: Uint8Array, networkId: 0 | 1): Uint8Array {
  return Uint8Array.of(0x70 | networkId, ...hash)
}

function assertProtocol(protocol: string): void {
  // With sixteen characters, a root named so would read as a block.
  if (protocol.startsWith('MBLC')) throw invalid('protocol', 'another than what blocks are named by')
  if (!/^[A-Z0-9_]{1,16}$/.test(protocol))
    throw invalid('protocol', '1 to 16 characters A to Z, 0 to 9 and _')
}

function assertHash(name: string, value: Uint8Array): void {
  if (value.length !== hashLength) throw invalid(name, `${hashLength} bytes`)
}

function assertAtLeast(name: string, value: bigint, least: bigint): void {
  if (value < least) throw invalid(name, `at least ${least}`)
}

const invalid = (name: string, rule: string) =>
  new ContractsError('invalid-parameter', `${name} must be ${rule}`)
