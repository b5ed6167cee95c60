import { equalBytes, toHex } from '@ratatosk/cbor'
import { decodeTransaction, effects, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import {
  administratorAddress,
  holdsVerdict,
  type RegistryElement,
  readRegistry,
  readStateQueue,
  referenceScriptsOf,
  type StateQueue,
  soundRoot,
} from '@ratatosk/protocol'
import type { RecordedTransaction } from '@ratatosk/store'
import type { WatcherContext } from './context.js'

/** Reads the state queue. @throws {ProtocolError} (rejects) `PROTOCOL_BROKEN_QUEUE` */
export async function readQueue({ layer1, contracts, signal }: WatcherContext): Promise<StateQueue> {
  const { policy } = contracts.scripts.queue
  const queue = readStateQueue(contracts, await layer1.utxosByPolicy(policy, { signal }))
  soundRoot(queue)
  return queue
}

/** The outputs that hold a block and the element before it; undefined if the queue does not have it. */
export function elementsOf(
  queue: StateQueue,
  headerHash: Uint8Array,
): { readonly before: Utxo; readonly element: Utxo } | undefined {
  const place = queue.blocks.findIndex((block) => equalBytes(block.headerHash, headerHash))
  const element = queue.blocks[place]
  return element && { before: (queue.blocks[place - 1] ?? soundRoot(queue)).utxo, element: element.utxo }
}

/** Reads the registry of operators. @throws {Error} (rejects) if layer 1 shows none */
export async function readOperators({ layer1, contracts, signal }: WatcherContext): Promise<RegistryElement> {
  const { unit } = contracts.scripts.registry
  const registry = readRegistry(contracts, await layer1.utxosByUnit(unit, { signal }))
  if (registry === undefined) throw new Error('Layer 1 shows no registry of operators')
  return registry
}

export async function readScripts({ layer1, contracts, signal }: WatcherContext): Promise<readonly Utxo[]> {
  return referenceScriptsOf(contracts, await layer1.utxosAt(administratorAddress(contracts), { signal }))
}

/** Verdicts, and parts of proofs of the wallet. Datums of others would each begin a search. */
export async function readHeld(
  context: WatcherContext,
  headerHash: Uint8Array,
  included: readonly RecordedTransaction[],
): Promise<readonly Utxo[]> {
  const { layer1, contracts, wallet, signal } = context
  const isVerdict = (utxo: Utxo): boolean => holdsVerdict(contracts.parameters, utxo, headerHash)
  const kept = await readVerdicts(context, headerHash, included)
  const verdicts = [...kept, ...(await layer1.utxosAt(wallet.address, { signal })).filter(isVerdict)]
  const keys = new Set(verdicts.map(keyOf))
  const made = included
    .flatMap(({ cbor }) => effects(decodeTransaction(cbor)).produced)
    .filter(({ output }) => equalBytes(output.address.bytes, wallet.keys.address.bytes))
    // Layer 1 may not show a verdict at the address yet.
    .filter((utxo) => !keys.has(keyOf(utxo)) && (utxo.output.datum.kind === 'inline' || isVerdict(utxo)))
  if (made.length === 0) return verdicts
  const references = made.map(({ reference }) => reference)
  return [...verdicts, ...(await layer1.utxosByReferences(references, { signal }))]
}

/** The outputs that keep a verdict of the summons against a block, by any asker. */
export async function readVerdicts(
  { layer1, contracts, signal }: WatcherContext,
  headerHash: Uint8Array,
  included: readonly RecordedTransaction[],
): Promise<readonly Utxo[]> {
  const { summons } = contracts
  if (summons === undefined) return []
  const name = toHex(headerHash)
  const shown = await layer1.utxosByUnit(summons.policy + name, { signal })
  if (shown.length > 0) return shown
  // Layer 1 may not show it under its name yet.
  const made = included
    .flatMap(({ cbor }) => effects(decodeTransaction(cbor)).produced)
    .filter(({ output }) => output.value.assets.get(summons.policy)?.has(name))
    .map(({ reference }) => reference)
  return made.length === 0 ? [] : layer1.utxosByReferences(made, { signal })
}

const keyOf = ({ reference }: Utxo): string => outputReferenceKey(reference)
