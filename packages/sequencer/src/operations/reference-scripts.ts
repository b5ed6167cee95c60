import type { Utxo } from '@ratatosk/ledger'
import { administratorAddress, referenceScriptsOf } from '@ratatosk/protocol'
import type { SequencerContext } from '../context.js'

/** The outputs at the administrator's address that hold the protocol's scripts, for transactions to refer to. */
export async function readReferenceScripts(context: SequencerContext): Promise<readonly Utxo[]> {
  const { layer1, contracts, memory, signal } = context
  memory.referenceScripts ??= referenceScriptsOf(
    contracts,
    await layer1.utxosAt(administratorAddress(contracts), { signal }),
  )
  return memory.referenceScripts
}
