import { equalBytes, toHex } from '@ratatosk/cbor'
import type { Layer1 } from '@ratatosk/layer1'
import { type Contracts, readRegistry } from '@ratatosk/protocol'

type Reads = Pick<Layer1, 'utxosByUnit'>

export const registryIn = async (contracts: Contracts, layer1: Reads) =>
  readRegistry(contracts, await layer1.utxosByUnit(contracts.scripts.registry.unit))

/** Why a process with this operator would commit nothing; undefined if it is registered, or before init. */
export async function unregisteredLine(
  contracts: Contracts,
  layer1: Reads,
  keyHash: Uint8Array,
): Promise<string | undefined> {
  const entries = (await registryIn(contracts, layer1))?.datum.operators
  if (entries === undefined || entries.some(({ vkey }) => equalBytes(vkey, keyHash))) return undefined
  return (
    `the operator's key ${toHex(keyHash)} is not in the registry, so this node commits no block: once it ` +
    'is the active one, run `ratatosk operator register`, or correct OPERATOR_SEED_PHRASE if another key ' +
    'is registered.'
  )
}
