import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { hashLength } from '@ratatosk/block'
import { compareBytes, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256, type Credential, type OutputReference, scriptHash } from '@ratatosk/ledger'
import { constr, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'
import { registryTokenName } from './datum/registry.js'
import { rootTokenName } from './datum/state-queue.js'
import { ContractsError } from './errors.js'

/** A Plutus V3 script for a witness set or a reference script. */
export interface PlutusScript {
  readonly language: 'PlutusV3'
  /** A CBOR byte string that holds the flat program: the content of the byte string in a witness set. */
  readonly bytes: Uint8Array
  /** 28 bytes: payment credential and policy id. */
  readonly hash: Uint8Array
}

type Uplc = Pick<typeof import('@lucid-evolution/uplc'), 'apply_params_to_script'>

/** The scripts that were applied last, by code and parameters, the oldest first. */
const applied = new Map<string, PlutusScript>()
const mostApplied = 32

/**
 * Applies a script of the blueprint to its parameters, and keeps the result: each application takes 80 ms and
 * about a megabyte of WebAssembly, which is never given back. The first one compiles the WebAssembly.
 */
export function applyParameters(compiledCode: Uint8Array, parameters: readonly PlutusData[]): PlutusScript {
  const data = encodePlutusData(parameters)
  const name = `${toHex(blake2b256(compiledCode))} ${toHex(data)}`
  const kept = applied.get(name)
  if (kept !== undefined) return kept
  const uplc: Uplc = createRequire(import.meta.url)('@lucid-evolution/uplc')
  const bytes = uplc.apply_params_to_script(data, compiledCode)
  const script: PlutusScript = { language: 'PlutusV3', bytes, hash: scriptHash('PlutusV3', bytes) }
  applied.set(name, script)
  const [oldest] = applied.keys()
  if (applied.size > mostApplied && oldest !== undefined) applied.delete(oldest)
  return script
}

/** The fields that this package reads of its CIP-57 blueprint. */
interface Blueprint {
  readonly validators: readonly { readonly title: string; readonly compiledCode: string }[]
}

const blueprint: Blueprint = JSON.parse(readFileSync(new URL('../plutus.json', import.meta.url), 'utf8'))

export type ValidatorTitle =
  | 'state_queue'
  | 'operator_registry'
  | 'ledger_fraud'
  | 'transaction_fraud'
  | 'transaction_fraud_11'
  | 'witness_fraud'
  | 'summons'
  | 'bridge'
  | 'events'

/** A CBOR byte string that holds the flat program, not yet applied to its parameters. */
export function compiledCode(validator: ValidatorTitle): Uint8Array {
  const found = blueprint.validators.find(({ title }) => title === `${validator}.mint`)
  if (found === undefined) throw new ReferenceError(`The blueprint has no ${validator}`)
  return fromHex(found.compiledCode)
}

/** The least ledger version of a layer 1 that runs the scripts: they use `case` on constants. */
export const layer1LedgerVersion = 11

/** The parameters of the state queue's script. Each set of parameters gives another script hash. */
export interface QueueParameters {
  /**
   * `<PROTOCOL>` in the root's asset name: 1 to 16 characters A–Z, 0–9 and `_`; does not start with `MBLC`.
   */
  readonly protocol: string
  /**
   * Who starts and ends the queue and removes blocks without a verdict: a verification key, which signs, or a
   * script such as a native multi-signature, of which the transaction spends an output; or
   * {@link renouncedAdministrator}.
   */
  readonly administrator: Credential
  /** Milliseconds from the end of a block until it may be merged. */
  readonly maturityWindow: bigint
  /** Script hash of the operator registry, 28 bytes. */
  readonly registryPolicy: Uint8Array
  /**
   * Length of an operator's turn in milliseconds. A block lies within one turn, so a turn is longer than a
   * block.
   */
  readonly turnLength: bigint
  /**
   * Milliseconds: when the last block ended so long ago, operators who are not in turn may commit, and their
   * commits are valid for no longer.
   */
  readonly takeOverAfter: bigint
  /** From 0 to 2^32 − 1: the version that every block's header states. */
  readonly blockVersion: bigint
  /**
   * Policies whose tokens are verdicts, 28 bytes each: a token that has a header hash as its name shows that
   * this block is invalid. Without a policy, only the administrator removes blocks.
   */
  readonly verdictPolicies: readonly Uint8Array[]
  /**
   * Hash of the bridge's script, 28 bytes. Without it there is no bridge: blocks have no deposits, and no
   * output leaves layer 2.
   */
  readonly bridge?: Uint8Array
}

/** The parameters of the operator registry's script. Each set of parameters gives another script hash. */
export interface RegistryParameters {
  /** As in {@link QueueParameters}. */
  readonly protocol: string
  /**
   * Who starts and ends the registry and, if it is permissioned, admits and retires operators; or
   * {@link renouncedAdministrator}, and then the registry must be open.
   */
  readonly administrator: Credential
  /**
   * The unspent output that init of the registry spends. It makes the registry, and so the deployment,
   * unique.
   */
  readonly deploymentOutput: OutputReference
  /**
   * Whether operators register only with the administrator, who may also retire them. `false` opens the
   * registry to anyone.
   */
  readonly permissioned: boolean
  /** Lovelace that an operator deposits. */
  readonly bond: bigint
  /** Length of an operator's turn in milliseconds, as in {@link QueueParameters}. */
  readonly turnLength: bigint
  /**
   * Milliseconds from the end of an operator's last turn until the bond may be withdrawn; at least maturity
   * window plus turn length.
   */
  readonly releaseDelay: bigint
  /** Upper bound on operators who have not retired, 1–100. The datum holds at most twice as many entries. */
  readonly maxOperators: bigint
  /**
   * Lovelace of a slashed operator's bond that stays in the registry; the prover takes the rest. At most the
   * bond. Above 0 an operator who proves their own fraud loses something.
   */
  readonly slashPenalty: bigint
}

/** The parameters of the bridge's script. Each set of parameters gives another script hash. */
export interface BridgeParameters {
  /** As in {@link QueueParameters}. */
  readonly protocol: string
  /** Script hash of the operator registry, 28 bytes. It names the state queue whose merges are settled. */
  readonly registryPolicy: Uint8Array
  /** Policies whose tokens may enter and leave layer 2, 28 bytes each, ascending; at most 8. */
  readonly bridged: readonly Uint8Array[]
  /** Least lovelace of a reserve that a payout or a tidying makes, at least 1,000,000. */
  readonly reserveMin: bigint
  /** Lovelace of a withdrawal that its payer may keep. */
  readonly payoutFee: bigint
}

/** The parameters of the script of events. Each set of parameters gives another script hash. */
export interface EventsParameters {
  /** Script hash of the bridge, 28 bytes. */
  readonly bridge: Uint8Array
  /** Milliseconds from the upper validity bound of a deposit until its time. */
  readonly eventWait: bigint
  /** The network of addresses on layer 2. */
  readonly networkId: 0 | 1
  /** As in {@link BridgeParameters}. */
  readonly bridged: readonly Uint8Array[]
}

/** 28 zero bytes in place of a hash: there is no administrator, and nothing needs one. */
export const renouncedAdministrator: Credential = { kind: 'key', hash: new Uint8Array(hashLength) }

/** Whether a credential is renounced: its hash is 28 zero bytes. */
export const isRenounced = ({ hash }: Credential): boolean => hash.every((byte) => byte === 0)

/**
 * The state queue's script: its minting policy and the validator of its address.
 *
 * @throws {ContractsError} `CONTRACTS_INVALID_PARAMETER`
 * @example
 * const registry = operatorRegistryScript({ protocol, administrator, deploymentOutput, permissioned: true,
 * bond, turnLength,
 *   releaseDelay: maturityWindow + turnLength, maxOperators: 100n, slashPenalty: 0n })
 * const queue = stateQueueScript({ protocol, administrator, maturityWindow, turnLength, takeOverAfter,
 *   blockVersion: 1n, verdictPolicies: [], registryPolicy: registry.hash })
 */
export function stateQueueScript(parameters: QueueParameters): PlutusScript {
  assertProtocol(parameters.protocol)
  assertHash('administrator', parameters.administrator.hash)
  assertHash('registryPolicy', parameters.registryPolicy)
  assertAtLeast('maturityWindow', parameters.maturityWindow, 0n)
  assertAtLeast('turnLength', parameters.turnLength, 1n)
  assertAtLeast('takeOverAfter', parameters.takeOverAfter, 1n)
  assertAtLeast('blockVersion', parameters.blockVersion, 0n)
  if (parameters.blockVersion >= 2n ** 32n) throw invalid('blockVersion', 'less than 2^32')
  for (const policy of parameters.verdictPolicies) assertHash('verdictPolicies', policy)
  if (parameters.bridge) assertHash('bridge', parameters.bridge)
  return applyParameters(compiledCode('state_queue'), [
    rootTokenName(parameters.protocol),
    credentialData(parameters.administrator),
    parameters.maturityWindow,
    parameters.registryPolicy,
    parameters.turnLength,
    parameters.takeOverAfter,
    parameters.blockVersion,
    parameters.verdictPolicies,
    parameters.bridge ?? new Uint8Array(),
  ])
}

/**
 * The operator registry's script: its minting policy and the validator of its address.
 *
 * @throws {ContractsError} `CONTRACTS_INVALID_PARAMETER`
 */
export function operatorRegistryScript(parameters: RegistryParameters): PlutusScript {
  assertProtocol(parameters.protocol)
  assertHash('administrator', parameters.administrator.hash)
  const { transactionId, index } = parameters.deploymentOutput
  if (transactionId.length !== 32 || index < 0)
    throw invalid('deploymentOutput', 'a transaction id of 32 bytes and an index')
  assertAtLeast('bond', parameters.bond, 0n)
  assertAtLeast('turnLength', parameters.turnLength, 1n)
  assertAtLeast('releaseDelay', parameters.releaseDelay, parameters.turnLength)
  assertAtLeast('maxOperators', parameters.maxOperators, 1n)
  if (parameters.maxOperators > 100n) throw invalid('maxOperators', 'at most 100')
  assertAtLeast('slashPenalty', parameters.slashPenalty, 0n)
  if (parameters.slashPenalty > parameters.bond) throw invalid('slashPenalty', 'at most the bond')
  if (parameters.permissioned && isRenounced(parameters.administrator))
    throw invalid('permissioned', 'false if the administrator is renounced: no operator could register')
  return applyParameters(compiledCode('operator_registry'), [
    registryTokenName(parameters.protocol),
    rootTokenName(parameters.protocol),
    credentialData(parameters.administrator),
    constr(0, transactionId, BigInt(index)),
    constr(parameters.permissioned ? 1 : 0),
    parameters.bond,
    parameters.turnLength,
    parameters.releaseDelay,
    parameters.maxOperators,
    parameters.slashPenalty,
  ])
}

/**
 * The bridge's script: the policy of settlements, and the validator of the address of the treasury.
 *
 * @throws {ContractsError} `CONTRACTS_INVALID_PARAMETER`
 */
export function bridgeScript(parameters: BridgeParameters): PlutusScript {
  const { protocol, registryPolicy, bridged, reserveMin, payoutFee } = parameters
  assertProtocol(protocol)
  assertHash('registryPolicy', registryPolicy)
  assertBridged(bridged)
  assertAtLeast('reserveMin', reserveMin, leastReserve)
  assertAtLeast('payoutFee', payoutFee, 0n)
  return applyParameters(compiledCode('bridge'), [
    registryPolicy,
    rootTokenName(protocol),
    bridged,
    reserveMin,
    payoutFee,
  ])
}

/**
 * The script of events: the policy of the tokens that show deposits.
 *
 * @throws {ContractsError} `CONTRACTS_INVALID_PARAMETER`
 */
export function eventsScript({ bridge, eventWait, networkId, bridged }: EventsParameters): PlutusScript {
  assertHash('bridge', bridge)
  assertAtLeast('eventWait', eventWait, 0n)
  assertBridged(bridged)
  return applyParameters(compiledCode('events'), [bridge, eventWait, BigInt(networkId), bridged])
}

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

/** Layer 1 asks for less in an output with ada only, at mainnet's prices. */
const leastReserve = 1_000_000n
const mostBridged = 8

function assertBridged(policies: readonly Uint8Array[]): void {
  for (const policy of policies) assertHash('bridged', policy)
  if (policies.length > mostBridged) throw invalid('bridged', `at most ${mostBridged} policies`)
  const isAscending = policies.every((policy, place) => {
    const before = policies[place - 1]
    return before === undefined || compareBytes(before, policy) < 0
  })
  if (!isAscending) throw invalid('bridged', 'in ascending order')
}

const credentialData = ({ kind, hash }: Credential) => constr(kind === 'key' ? 0 : 1, hash)

function assertProtocol(protocol: string): void {
  // The name of such a root could have the 32 bytes of a block's.
  if (protocol.startsWith('MBLC')) throw invalid('protocol', 'a name that does not start with MBLC')
  if (!/^[A-Z0-9_]{1,16}$/.test(protocol)) throw invalid('protocol', '1 to 16 characters A–Z, 0–9 and _')
}

function assertHash(name: string, value: Uint8Array): void {
  if (value.length !== hashLength) throw invalid(name, `${hashLength} bytes`)
}

function assertAtLeast(name: string, value: bigint, least: bigint): void {
  if (value < least) throw invalid(name, `at least ${least}`)
}

const invalid = (name: string, rule: string) =>
  new ContractsError('CONTRACTS_INVALID_PARAMETER', `${name} must be ${rule}`)
