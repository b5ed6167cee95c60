import {
  operatorRegistryScript,
  type PlutusScript,
  registryTokenName,
  rootTokenName,
  scriptAddress,
  stateQueueScript,
} from '@ratatosk/contracts'
import { decodeAddress, encodeBech32Address, toHex } from '@ratatosk/ledger'
import { byReference } from '../transaction/plan.js'
import type { DraftOutput, TransactionDraft } from '../transaction/types.js'
import type { Utxo } from '../types.js'

/** What makes one rollup's contracts differ from another's. */
export interface ContractParameters {
  /** `<PROTOCOL>`: names the root and the registry. */
  readonly protocol: string
  /** Key hash of the administrator, 28 bytes. */
  readonly administrator: Uint8Array
  /** Milliseconds from a block's end until it may be merged. */
  readonly maturityWindow: bigint
  /** Milliseconds of an operator's turn. */
  readonly turnLength: bigint
  /** Lovelace that an operator leaves with the registry. */
  readonly bond: bigint
  /** Milliseconds from retirement until the bond may be taken. */
  readonly releaseDelay: bigint
  readonly maxOperators: bigint
}

/** A script that is policy and validator in one. */
export interface Contract {
  readonly script: PlutusScript
  /** 56 hex digits. */
  readonly policy: string
  /** The bytes of CIP-19. */
  readonly address: Uint8Array
  /** Bech32: where `Layer1.utxosAt` finds its outputs. */
  readonly addressText: string
  /** Policy and asset name in hex, joined: of the queue's root, of the registry. */
  readonly unit: string
}

/** Both contracts of a rollup on one network. */
export interface Contracts {
  readonly parameters: ContractParameters
  readonly networkId: 0 | 1
  readonly queue: Contract
  readonly registry: Contract
}

/**
 * The contracts of a rollup.
 *
 * @throws ContractsError on parameters that no contract takes
 */
export function openContracts(parameters: ContractParameters, networkId: 0 | 1): Contracts {
  const registry = operatorRegistryScript(parameters)
  const queue = stateQueueScript({ ...parameters, registryPolicy: registry.hash })
  return {
    parameters,
    networkId,
    queue: contract(queue, rootTokenName(parameters.protocol), networkId),
    registry: contract(registry, registryTokenName(parameters.protocol), networkId),
  }
}

/** Pays both scripts to an address, one output each, for transactions to refer to instead of carrying them. */
export function publishScripts(
  { queue, registry }: Contracts,
  address: string | Uint8Array,
): TransactionDraft {
  const output = ({ script }: Contract): DraftOutput => ({ address, referenceScript: script })
  return { outputs: [output(queue), output(registry)] }
}

/** How a draft brings a contract's script: by reference where one of the outputs holds it, otherwise in its witnesses. */
export function bringScript(
  { script }: Contract,
  library: readonly Utxo[],
): Pick<TransactionDraft, 'referenceInputs' | 'scripts'> {
  const hash = toHex(script.hash)
  const found = library.find(
    ({ output }) => output.referenceScript && toHex(output.referenceScript.hash) === hash,
  )
  return found === undefined ? { scripts: [script] } : { referenceInputs: [found] }
}

/** Inputs in the ledger's order: what is spent comes out the same however it was found. */
export function inOrder(utxos: readonly Utxo[]): readonly Utxo[] {
  return [...utxos].sort((a, b) => byReference(a.reference, b.reference))
}

function contract(script: PlutusScript, name: Uint8Array, networkId: 0 | 1): Contract {
  const address = decodeAddress(scriptAddress(script.hash, networkId))
  if (address.kind === 'byron') throw new TypeError('a script has no address of Byron')
  const policy = toHex(script.hash)
  return {
    script,
    policy,
    address: address.bytes,
    addressText: encodeBech32Address(address),
    unit: policy + toHex(name),
  }
}
