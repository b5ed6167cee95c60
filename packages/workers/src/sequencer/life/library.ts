import type { Utxo } from '@ratatosk/layer1'
import { toHex } from '@ratatosk/ledger'
import type { Work } from './work.js'

/** The administrator's outputs that hold the protocol's scripts, so that transactions refer to them. */
export async function libraryOf(work: Work): Promise<readonly Utxo[]> {
  const { layer1, administrator, contracts, memory, signal } = work
  if (memory.library !== undefined) return memory.library
  const wanted = new Set([contracts.queue, contracts.registry].map(({ script }) => toHex(script.hash)))
  const utxos = await layer1.utxosAt(administrator.address, { signal })
  const library = utxos.filter(({ output: { referenceScript } }) =>
    referenceScript ? wanted.has(toHex(referenceScript.hash)) : false,
  )
  memory.library = library
  return library
}
