import { toHex } from '@ratatosk/cbor'
import { decodeTransaction, effects, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import {
  administratorAddress,
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

/** Reads the registry of operators. */
export async function findRegistry({
  layer1,
  contracts,
  signal,
}: WatcherContext): Promise<RegistryElement | undefined> {
  const { unit } = contracts.scripts.registry
  return readRegistry(contracts, await layer1.utxosByUnit(unit, { signal }))
}

/** Reads the outputs that hold the contracts' scripts. */
export async function readScripts({ layer1, contracts, signal }: WatcherContext): Promise<readonly Utxo[]> {
  return referenceScriptsOf(contracts, await layer1.utxosAt(administratorAddress(contracts), { signal }))
}

/**
 * The wallet's outputs that hold parts of proofs, or verdicts against a block: those that layer 1 shows at
 * its address, and those of included transactions that it does not show there yet.
 *
 * @param headerHash 56 hex digits
 */
export async function readHeld(
  { layer1, wallet, signal }: WatcherContext,
  headerHash: string,
  included: readonly RecordedTransaction[],
): Promise<readonly Utxo[]> {
  const isHeld = ({ output: { datum, value } }: Utxo): boolean =>
    datum.kind === 'inline' || [...value.assets.values()].some((names) => names.has(headerHash))
  const shown = (await layer1.utxosAt(wallet.address, { signal })).filter(isHeld)
  const keys = new Set(shown.map(keyOf))
  const own = toHex(wallet.keys.address.bytes)
  const expected = included
    .flatMap(({ cbor }) => effects(decodeTransaction(cbor)).produced)
    .filter((utxo) => toHex(utxo.output.address.bytes) === own && isHeld(utxo) && !keys.has(keyOf(utxo)))
  if (expected.length === 0) return shown
  const references = expected.map(({ reference }) => reference)
  return [...shown, ...(await layer1.utxosByReferences(references, { signal }))]
}

const keyOf = ({ reference }: Utxo): string => outputReferenceKey(reference)
