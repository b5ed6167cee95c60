import { type Header, headerHash } from '@ratatosk/block'
import { blockOf, type Committed, type Story } from '../../../../fraud/dist/test/lying-blocks.js'
import type { InvalidBlock } from '../../index.js'

export { largeLie, ofLie } from '../../../../fraud/dist/test/lies/index.js'

export const honest = ({ transactions }: Story): Committed => blockOf(transactions)

/** A block as a follower gives it to a watcher. */
export function invalidBlock(
  { roots: _, after: _after, outputs: _outputs, ...block }: Committed,
  header: Header,
): InvalidBlock {
  const error = Object.assign(new Error('It breaks a rule'), { code: 'BLOCK_INVALID', position: 0 })
  return {
    ...block,
    headerHash: headerHash(header),
    height: 1n,
    header,
    error: error as unknown as InvalidBlock['error'],
    outputBefore: (key) => block.outputBefore?.(key),
  }
}
