import { equalBytes } from '@ratatosk/cbor'
import { encodeQueueAction } from '@ratatosk/contracts'
import { splitUnit, type Utxo } from '@ratatosk/ledger'
import { invalidDraft, type TransactionDraft } from '@ratatosk/ledger/builder'
import { administratorSigners, type Contracts, inOrder, provideScripts } from './contracts.js'
import { ProtocolError } from './errors.js'
import { type RegistryElement, setQueue } from './registry-drafts.js'
import { spendElement } from './state-queue.js'

/** Maximum number of elements that one transaction burns, the dust that it sweeps included. */
export const maxBurnedElements = 100

/**
 * The outputs at the queue's address that hold only ada, which anyone can leave there. The script
 * releases them only to {@link burnElements}. Leaves out those that would make a transaction costly: with
 * other tokens, a script or the hash of a datum.
 *
 * @param utxos of `layer1.utxosAt(contracts.scripts.queue.addressText)`
 */
export const dustOf = ({ scripts: { queue } }: Contracts, utxos: readonly Utxo[]): readonly Utxo[] =>
  utxos.filter(
    ({ output: { address, value, datum, referenceScript } }) =>
      equalBytes(address.bytes, queue.address) &&
      value.assets.size === 0 &&
      datum.kind !== 'hash' &&
      referenceScript === undefined,
  )

/**
 * Burns elements of the queue and returns their ada to the wallet: to repair and to reset, all of them. When
 * the root is burned, the registry notes that the queue no longer runs. The administrator signs.
 *
 * @param registry needed if the root is among the elements
 * @param dust of {@link dustOf}: spent as well, and counted like elements
 * @throws {ProtocolError} `PROTOCOL_TOO_MANY_ELEMENTS` beyond {@link maxBurnedElements};
 *   `PROTOCOL_ADMINISTRATOR_RENOUNCED`
 * @throws {WalletError} `WALLET_INVALID_DRAFT` when there is nothing to burn, or the registry is missing
 */
export function burnElements(
  contracts: Contracts,
  elements: readonly Utxo[],
  registry: RegistryElement | undefined,
  referenceScripts: readonly Utxo[] = [],
  dust: readonly Utxo[] = [],
): TransactionDraft {
  const { scripts, parameters } = contracts
  const { queue } = scripts
  const count = elements.length + dust.length
  if (count > maxBurnedElements)
    throw new ProtocolError(
      'PROTOCOL_TOO_MANY_ELEMENTS',
      `${count} elements and dust outputs to spend; one transaction spends at most ${maxBurnedElements}`,
    )
  const burned = new Map<string, bigint>()
  for (const { output } of elements) {
    for (const [name, quantity] of output.value.assets.get(queue.policy) ?? []) {
      burned.set(name, (burned.get(name) ?? 0n) - quantity)
    }
  }
  if (burned.size === 0) throw invalidDraft('no element to burn')
  const burnsRoot = burned.has(splitUnit(queue.unit).name)
  if (burnsRoot && registry === undefined) throw invalidDraft('the registry is needed to burn the root')
  const unbinding = burnsRoot && registry ? setQueue(contracts, registry, false) : undefined
  // Further inputs only move an element further back, so its place among these is a lower bound.
  const inputs = inOrder([...elements, ...dust]).map((utxo, place) => spendElement(utxo, place))
  return {
    ...provideScripts(unbinding ? [queue, scripts.registry] : [queue], referenceScripts),
    inputs: unbinding ? [...inputs, unbinding.input] : inputs,
    mint: [{ policy: queue.policy, assets: burned, redeemer: encodeQueueAction({ kind: 'deinit' }) }],
    outputs: unbinding ? [unbinding.output] : [],
    requiredSigners: administratorSigners(parameters),
  }
}
