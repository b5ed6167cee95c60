import type { VerdictPolicyName } from '@ratatosk/contracts'
import type { Committed, Story } from '../lying-blocks.js'

/** What an operator lies about: one rule that an otherwise honest block breaks. */
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

/** What of a lie is its own. */
export type Told = Omit<Lie, 'policy' | 'isHidden'> & { readonly isHidden?: boolean }
