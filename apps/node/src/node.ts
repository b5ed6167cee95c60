import type { LedgerIndex } from '@ratatosk/layer2/ledger-index'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import type { Turns } from '@ratatosk/ports'
import type { QueueBackend, SubmissionQueue } from '@ratatosk/queue'
import type { Store } from '@ratatosk/store'
import type { NodeContext } from './context.js'
import type { Settlement } from './layer1/settlement.js'
import type { Replica } from './storage/replica.js'
import type { Work } from './work/start-work.js'

/** Runs scripts for clients that pay no fee for it; what serves them takes turns. */
export interface ClientScripts {
  readonly evaluator: Evaluator
  readonly turns: Turns
}

/** A node whose parts are open. The options of its plugins come from here. */
export interface Node extends NodeContext, Work {
  readonly store: Store
  /** Clients read the ledger here: the replica's store if there is one, otherwise the same. */
  readonly reads: Store
  readonly replica: Replica | undefined
  readonly queue: QueueBackend
  /** The queue as clients use it, with the limits of the settings. */
  readonly submissions: SubmissionQueue
  /** Runs scripts of transactions that are evaluated. */
  readonly scripts: ClientScripts
  /** Undefined for a role that does not serve the APIs of layer 2. */
  readonly index: LedgerIndex | undefined
  /** Undefined for a role that does not use layer 1. */
  readonly settlement: Settlement | undefined
}
