import { blockVersion } from '@ratatosk/block'
import { BytesSet, equalBytes, toHex } from '@ratatosk/cbor'
import {
  bridgeScript,
  eventsScript,
  isRenounced,
  operatorRegistryScript,
  type PlutusScript,
  registryTokenName,
  rootTokenName,
  type SummonsParameters,
  stateQueueScript,
  summonsScript,
} from '@ratatosk/contracts'
import {
  byReference,
  type Credential,
  encodeBech32Address,
  keyAddress,
  type OutputReference,
  scriptAddress,
  type Utxo,
} from '@ratatosk/ledger'
import type { TransactionDraft } from '@ratatosk/ledger/builder'
import { ProtocolError } from './errors.js'

/** The parameters that distinguish one rollup's contracts from another's. */
export interface ContractParameters {
  /** `<PROTOCOL>`: the prefix of the names of the root token and the registry token. */
  readonly protocol: string
  /**
   * Who initialises and ends the registry and the queue, removes blocks without a verdict, and admits and
   * retires operators: a verification key, a script such as a native multi-signature, or
   * `renouncedAdministrator` of `@ratatosk/contracts`.
   */
  readonly administrator: Credential
  /**
   * The unspent output that `initRegistry` spends. It makes the deployment unique: there is one registry and
   * one queue.
   */
  readonly deploymentOutput: OutputReference
  /** Whether operators register only with the administrator's authority. */
  readonly permissioned: boolean
  /** Milliseconds from a block's end time until it may be merged. */
  readonly maturityWindow: bigint
  /** Milliseconds of an operator's turn. */
  readonly turnLength: bigint
  /**
   * Milliseconds: when the last block ended so long ago, operators who are not in turn may commit, and their
   * commits are valid for no longer. A quarter of a turn by default.
   */
  readonly takeOverAfter?: bigint
  /** Lovelace that an operator deposits with the registry. */
  readonly bond: bigint
  /** Milliseconds from the end of an operator's last turn until the bond may be withdrawn. */
  readonly releaseDelay: bigint
  /** Upper bound on operators who have not retired. */
  readonly maxOperators: bigint
  /**
   * Policies whose tokens are verdicts against blocks; none by default: only the administrator removes
   * blocks.
   */
  readonly verdictPolicies?: readonly PlutusScript[]
  /**
   * The summons, one more verdict policy: who commits must answer questions about its blocks. None by
   * default.
   */
  readonly summons?: Omit<SummonsParameters, 'maturityWindow'>
  /** The bridge, over which deposits come and withdrawals go. None by default. */
  readonly bridge?: BridgeTerms
  /**
   * Lovelace of a slashed operator's bond that stays in the registry; the prover takes the rest. 0 by
   * default.
   */
  readonly slashPenalty?: bigint
}

/** The terms of a bridge. */
export interface BridgeTerms {
  /** Milliseconds from the end of a deposit's validity until a block credits it. */
  readonly eventWait: bigint
  /** Policies of the assets that may be deposited and withdrawn besides ada: 28 bytes each, ascending. */
  readonly bridged: readonly Uint8Array[]
  /** Lovelace that each output of the treasury holds at least but for the first of a transaction. */
  readonly reserveMin: bigint
  /** Lovelace of a withdrawal that its payer keeps. */
  readonly payoutFee: bigint
}

/** A script that is minting policy and spending validator in one. */
export interface ScriptPlace {
  readonly script: PlutusScript
  /** 56 hex digits. */
  readonly policy: string
  /** The bytes of CIP-19. */
  readonly address: Uint8Array
  /** Bech32, as `Layer1.utxosAt` takes it. */
  readonly addressText: string
}

/** A script that is minting policy and spending validator in one, with a unique token. */
export interface Contract extends ScriptPlace {
  /** Policy and asset name of the script's unique token in hex, joined: the queue's root, the registry. */
  readonly unit: string
}

/** The scripts of the bridge. */
export interface Bridge {
  readonly terms: BridgeTerms
  /** Where deposits, reserves and settlements lie; its policy is that of settlements. */
  readonly place: ScriptPlace
  /** The policy of deposits. Nothing lies at its address. */
  readonly events: ScriptPlace
}

/** The scripts of the protocol by name. */
export type ContractName = keyof typeof definitions

/** The contracts of one rollup on one network. */
export interface Contracts {
  readonly parameters: ContractParameters
  readonly networkId: 0 | 1
  /** Deployment, publication and lookups iterate this record. */
  readonly scripts: Readonly<Record<ContractName, Contract>>
  /** Undefined if the deployment has none. */
  readonly summons: ScriptPlace | undefined
  /** Undefined if the deployment has none. */
  readonly bridge: Bridge | undefined
}

type Scripts = Partial<Record<ContractName, Contract>>

interface Definition {
  /** Applies the parameters; `earlier` holds the scripts of the entries above. */
  script(parameters: ContractParameters, earlier: Scripts): PlutusScript
  /** Name of the script's unique token. */
  tokenName(protocol: string): Uint8Array
}

/** One entry a script. A script may refer to those above it. */
const definitions = {
  registry: {
    script: (parameters: ContractParameters) =>
      operatorRegistryScript({ ...parameters, slashPenalty: slashPenaltyOf(parameters) }),
    tokenName: registryTokenName,
  },
  queue: {
    script: (parameters: ContractParameters, { registry }: { registry?: Contract }) => {
      if (registry === undefined) throw new TypeError('the registry is defined before the queue')
      const { bridge: _terms, ...others } = parameters
      const bridge = bridgeOf(parameters, registry.script)
      return stateQueueScript({
        ...others,
        ...(bridge && { bridge: bridge.hash }),
        takeOverAfter: takeOverAfterOf(parameters),
        blockVersion,
        verdictPolicies: verdictPoliciesOf(parameters).map(({ hash }) => hash),
        registryPolicy: registry.script.hash,
      })
    },
    tokenName: rootTokenName,
  },
} as const satisfies Record<string, unknown>

/** Milliseconds after the end of the last block from which on operators who are not in turn may commit. */
export const takeOverAfterOf = ({ takeOverAfter, turnLength }: ContractParameters): bigint =>
  takeOverAfter ?? (turnLength < 4n ? 1n : turnLength / 4n)

/** Lovelace of a slashed operator's bond that stays in the registry. */
export const slashPenaltyOf = ({ slashPenalty = 0n }: ContractParameters): bigint => slashPenalty

/** The policies whose tokens are verdicts. */
export function verdictPoliciesOf(parameters: ContractParameters): readonly PlutusScript[] {
  const { verdictPolicies = [] } = parameters
  const summons = summonsOf(parameters)
  return summons === undefined ? verdictPolicies : [...verdictPolicies, summons]
}

const summonsOf = ({ summons, maturityWindow }: ContractParameters): PlutusScript | undefined =>
  summons && summonsScript({ ...summons, maturityWindow })

/** The script of the bridge, to which the registry shows the queue. */
const bridgeOf = (parameters: ContractParameters, registry: PlutusScript): PlutusScript | undefined =>
  parameters.bridge &&
  bridgeScript({ ...parameters.bridge, protocol: parameters.protocol, registryPolicy: registry.hash })

function openBridge(
  parameters: ContractParameters,
  registry: PlutusScript,
  networkId: 0 | 1,
): Bridge | undefined {
  const { bridge: terms } = parameters
  const script = bridgeOf(parameters, registry)
  if (terms === undefined || script === undefined) return undefined
  const events = eventsScript({ ...terms, bridge: script.hash, networkId })
  return { terms, place: placeOf(script, networkId), events: placeOf(events, networkId) }
}

/**
 * Applies the parameters of a rollup to every script of the protocol.
 *
 * @throws ContractsError on parameters that a script does not accept
 */
export function openContracts(parameters: ContractParameters, networkId: 0 | 1): Contracts {
  const scripts: Scripts = {}
  for (const [name, { script, tokenName }] of Object.entries<Definition>(definitions)) {
    const applied = script(parameters, scripts)
    scripts[name as ContractName] = contract(applied, tokenName(parameters.protocol), networkId)
  }
  const summons = summonsOf(parameters)
  const all = scripts as Contracts['scripts']
  return {
    parameters,
    networkId,
    scripts: all,
    summons: summons && placeOf(summons, networkId),
    bridge: openBridge(parameters, all.registry.script, networkId),
  }
}

/**
 * Bech32 address of the administrator's credential without a stake part. It follows from the parameters, so
 * the reference scripts are found there from these alone.
 */
export function administratorAddress({ parameters: { administrator }, networkId }: Contracts): string {
  const addressOf = administrator.kind === 'key' ? keyAddress : scriptAddress
  return encodeBech32Address(addressOf(administrator.hash, networkId))
}

/**
 * Pays scripts to the administrator, one output each, so that transactions can refer to them as reference
 * scripts. Anyone may pay for it; only the administrator can spend the outputs.
 *
 * @param scripts no more than fit into a transaction: one group of {@link scriptsToPublish}; by default the
 *   registry and the queue
 */
export function publishScripts(
  contracts: Contracts,
  scripts: readonly PlutusScript[] = Object.values(contracts.scripts).map(({ script }) => script),
): TransactionDraft {
  const address = administratorAddress(contracts)
  return { outputs: scripts.map((script) => ({ address, referenceScript: script })) }
}

/** The bytes of scripts that fit into a transaction beside its inputs, change and signatures. */
const publishedAtOnce = 15_200

/**
 * The scripts of a deployment that no output holds yet, its bridge and verdict policies included, in groups
 * that fit into a transaction each.
 *
 * @param published outputs that may hold scripts
 */
export function scriptsToPublish(contracts: Contracts, published: readonly Utxo[] = []): PlutusScript[][] {
  const found = new BytesSet(published.flatMap(({ output }) => output.referenceScript?.hash ?? []))
  const groups: PlutusScript[][] = []
  let room = 0
  for (const script of scriptsOf(contracts)) {
    if (found.has(script.hash)) continue
    room -= script.bytes.length
    if (room < 0) {
      groups.push([])
      room = publishedAtOnce - script.bytes.length
    }
    groups.at(-1)?.push(script)
  }
  return groups
}

const scriptsOf = ({ scripts, bridge, parameters }: Contracts): readonly PlutusScript[] => [
  ...Object.values(scripts).map(({ script }) => script),
  ...(bridge ? [bridge.place.script, bridge.events.script] : []),
  ...verdictPoliciesOf(parameters),
]

/**
 * The outputs among `utxos` that hold a script of these contracts, of their bridge or one of their verdict
 * policies.
 */
export function referenceScriptsOf(contracts: Contracts, utxos: readonly Utxo[]): readonly Utxo[] {
  const hashes = new BytesSet(scriptsOf(contracts).map(({ hash }) => hash))
  return utxos.filter(({ output }) => output.referenceScript && hashes.has(output.referenceScript.hash))
}

/** How a draft provides scripts: each by reference where an output holds it, otherwise in the witness set. */
export function provideScripts(
  contracts: readonly Pick<Contract, 'script'>[],
  referenceScripts: readonly Utxo[],
): { readonly referenceInputs: readonly Utxo[]; readonly scripts: readonly PlutusScript[] } {
  const referenceInputs: Utxo[] = []
  const scripts: PlutusScript[] = []
  for (const { script } of contracts) {
    const found = referenceScripts.find(
      ({ output }) => output.referenceScript && equalBytes(output.referenceScript.hash, script.hash),
    )
    if (found === undefined) scripts.push(script)
    else referenceInputs.push(found)
  }
  return { referenceInputs, scripts }
}

/**
 * Signers of an administrator's draft; a script needs an input that it locks.
 * @throws {ProtocolError} `PROTOCOL_ADMINISTRATOR_RENOUNCED`
 */
export function administratorSigners({ administrator }: ContractParameters): readonly Uint8Array[] {
  if (isRenounced(administrator))
    throw new ProtocolError('PROTOCOL_ADMINISTRATOR_RENOUNCED', 'These contracts have no administrator')
  return administrator.kind === 'key' ? [administrator.hash] : []
}

/** Sorted as the ledger sorts inputs. */
export function inOrder(utxos: readonly Utxo[]): readonly Utxo[] {
  return [...utxos].sort((a, b) => byReference(a.reference, b.reference))
}

function contract(script: PlutusScript, name: Uint8Array, networkId: 0 | 1): Contract {
  const place = placeOf(script, networkId)
  return { ...place, unit: place.policy + toHex(name) }
}

function placeOf(script: PlutusScript, networkId: 0 | 1): ScriptPlace {
  const address = scriptAddress(script.hash, networkId)
  const addressText = encodeBech32Address(address)
  return { script, policy: toHex(script.hash), address: address.bytes, addressText }
}
