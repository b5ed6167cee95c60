import { createEvaluator } from '@ratatosk/ledger/plutus'
import type { Evaluations } from '@ratatosk/ports'
import { openEvaluations as open, openTurns } from '@ratatosk/workers'
import type { NodeContext } from '../context.js'
import type { ClientScripts, Node } from '../node.js'
import { leavingBy } from './validation.js'

/** Opens it with a thread of its own, so that it takes none from validation. */
export function openClientScripts({ onClose }: NodeContext): ClientScripts {
  const evaluator = createEvaluator({ threads: 1 })
  onClose(() => evaluator.close())
  return { evaluator, turns: openTurns() }
}

export function openEvaluations(node: Node): Evaluations {
  const { network, parameters, clock, reads: store, scripts, settlement, settings } = node
  const leaving = settlement && leavingBy(settlement.contracts, parameters)
  const { id: networkId, slots } = network
  const maxAttempts = settings.SUBMIT_MAX_ATTEMPTS
  return open({ store, parameters, networkId, slots, leaving, maxAttempts, ...scripts, now: clock })
}
