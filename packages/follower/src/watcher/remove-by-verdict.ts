import { toHex } from '@ratatosk/cbor'
import type { Utxo } from '@ratatosk/ledger'
import { removeInvalidBlock, type StateQueue } from '@ratatosk/protocol'
import { silence } from './ask.js'
import type { WatcherContext } from './context.js'
import { readOperators, readScripts } from './read-layer1.js'
import { buildAndSend } from './send.js'

/** Removes a block by a verdict of the summons, if an output holds one; returns whether one does. */
export async function removeByVerdict(
  context: WatcherContext,
  headerHash: Uint8Array,
  queue: StateQueue,
  held: readonly Utxo[],
  slot: bigint,
): Promise<boolean> {
  const { contracts } = context
  const name = toHex(headerHash)
  const policy = contracts.summons?.policy ?? ''
  const utxo = held.find(({ output }) => output.value.assets.get(policy)?.has(name))
  if (utxo === undefined) return false
  const registry = await readOperators(context)
  const draft = removeInvalidBlock(contracts, {
    queue,
    registry,
    headerHash,
    verdict: { kind: 'held', utxo },
    referenceScripts: await readScripts(context),
  })
  await buildAndSend(context, { headerHash, stage: 'removal', draft, proof: silence }, slot)
  return true
}
