import type { LongLists } from '../long-lists.js'
import type { ChainView } from '../view/chain-view.js'

/** The source of all answers. */
export interface BlockfrostSource {
  readonly chain: ChainView
  /** The most outputs that a response may add up, and the most entries of a list that is read whole. */
  readonly maxOutputs: number
  readonly lists: LongLists
}
