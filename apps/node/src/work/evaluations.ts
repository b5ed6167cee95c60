import { createEvaluator } from '@ratatosk/ledger/plutus'
import type { Evaluations } from '@ratatosk/ports'
import { openEvaluations as open } from '@ratatosk/workers'
import type { Node } from '../node.js'

/** Opens evaluations with a thread of their own, so that they take none from validation. */
export function openEvaluations({ network, parameters, clock, onClose, store }: Node): Evaluations {
  const evaluator = createEvaluator({ threads: 1 })
  onClose(() => evaluator.close())
  return open({ store, parameters, networkId: network.id, slots: network.slots, evaluator, now: clock })
}
