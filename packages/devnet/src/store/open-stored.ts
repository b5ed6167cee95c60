import type { ProtocolParameters } from '@ratatosk/ledger'
import { DevnetError } from '../errors.js'
import { defaultParameters, ledgerVersionOf, newestLedgerVersion } from '../genesis/genesis.js'
import type { DevnetStore, StoredChain } from './types.js'

/**
 * Opens the chain in a store, or a new one if it is empty. `given` parameters default to those of the chain's
 * ledger version; a new one has the newest.
 * @throws {DevnetError} (rejects) `DEVNET_CONFIGURATION` if the chain has another genesis or ledger version
 */
export async function openStored(
  store: DevnetStore,
  genesis: string,
  given: ProtocolParameters | undefined,
): Promise<{ readonly chain: StoredChain; readonly parameters: ProtocolParameters }> {
  const major = given?.ledgerVersion.major
  const stored = await store.open(genesis, major ?? Number(newestLedgerVersion))
  if (stored.genesis !== genesis) {
    throw new DevnetError(
      'DEVNET_CONFIGURATION',
      'The stored chain has another genesis: use its genesis and slot length, or empty the store',
    )
  }
  const known = ledgerVersionOf(stored.ledgerVersion)
  const parameters = given ?? (known && defaultParameters(known))
  if (parameters?.ledgerVersion.major === stored.ledgerVersion) return { chain: stored.chain, parameters }
  throw new DevnetError(
    'DEVNET_CONFIGURATION',
    `The stored chain began with ledger version ${stored.ledgerVersion} and keeps it: use that version, ` +
      'or empty the store',
  )
}
