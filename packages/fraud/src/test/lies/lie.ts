import type { VerdictPolicyName } from '@ratatosk/contracts'
import type { Committed, Story } from '../lying-blocks.js'

/** The false statement of an operator: one rule that an otherwise honest block breaks. */
export interface Lie {
  readonly what: string
  readonly policy: VerdictPolicyName
  /** The fraud; of the chunks, with the flaw: `wrongChunk: missing`. */
  readonly fraud: string
  /** Whether the transactions do not show it, so that a watcher must ask the operator. */
  readonly isHidden: boolean
  /** The fraud by which it is proven, if that is another. */
  readonly provenAs?: { readonly fraud: string; readonly because: string }
  readonly tell: (story: Story) => Committed
}

/** The parts of a lie that are its own. */
export type Told = Omit<Lie, 'policy' | 'isHidden'> & { readonly isHidden?: boolean }
