import { equalBytes } from '@ratatosk/cbor'
import { operatorInTurn, type RegistryDatum } from '@ratatosk/contracts'
import { createForwarder, type Forwarder } from '@ratatosk/follower/forwarder'
import { readRegistry } from '@ratatosk/protocol'
import type { Sequencer } from '@ratatosk/sequencer'
import { type NodeContext, present } from '../context.js'
import type { Settlement } from '../layer1/settlement.js'
import type { Storage } from '../storage/open-storage.js'

/** Upper bound of the time between two reads of the registry, in milliseconds. */
const maxReadEveryMs = 60_000

/** Starts to forward the mempool to the nodes of other operators, outside the turns of its own operator. */
export function startForwarder(
  context: NodeContext,
  { store }: Storage,
  settlement: Settlement,
  sequencer: Sequencer,
): Forwarder | undefined {
  const { settings, log, onClose } = context
  if (settings.OPERATOR_PEERS === undefined) return undefined
  const isInTurn = turnOf(context, settlement)
  const forwarder = createForwarder({
    mempool: store.blocks,
    peers: settings.OPERATOR_PEERS,
    // Of the processes on one store, one forwards. With a fault, nothing is committed here.
    isNeeded: async () => sequencer.active && (sequencer.snapshot().fault !== null || !(await isInTurn())),
    log,
  })
  onClose(() => forwarder.close())
  return forwarder
}

/** Whether this operator is in turn. A registry holds for two turns, so it is read once in each. */
function turnOf(
  { keys, clock }: NodeContext,
  { layer1, contracts }: Pick<Settlement, 'layer1' | 'contracts'>,
): () => Promise<boolean> {
  const { turnLength } = contracts.parameters
  const own = present(keys.operator, 'operator').payment.hash
  const readEveryMs = Math.min(Number(turnLength), maxReadEveryMs)
  let registry: RegistryDatum | undefined
  let readAt = 0
  return async () => {
    if (performance.now() >= readAt) {
      readAt = performance.now() + readEveryMs
      try {
        const outputs = await layer1.utxosByUnit(contracts.scripts.registry.unit)
        registry = readRegistry(contracts, outputs)?.datum
      } catch {
        // Layer 1 is unavailable, of which the sequencer warns. To forward in the own turn does no harm.
      }
    }
    const scheduled = registry && operatorInTurn(registry, BigInt(Math.floor(clock())), turnLength)
    return scheduled !== undefined && equalBytes(scheduled.vkey, own)
  }
}
