import type { BlockRules } from '@ratatosk/block'

/**
 * The rules of a layer 2 that policies of fraud proofs have as parameters: those by which its blocks are
 * judged.
 */
export type ProvableRules = Pick<BlockRules, 'parameters' | 'networkId' | 'slots'>
