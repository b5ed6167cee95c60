import { equalBytes, toHex } from '@ratatosk/ledger'
import { BrokenQueue } from '../errors.js'
import {
  type BlockDatum,
  decodeBlockDatum,
  decodeRootDatum,
  headerHashOfToken,
  type RootDatum,
} from './state-queue.js'

/** An output that holds a token of the state queue's policy, with whatever else is known of it. */
export interface QueueOutput {
  /** Asset name of the token. */
  readonly tokenName: Uint8Array
  /** CBOR of the inline datum. */
  readonly datum: Uint8Array
}

/** The state queue in its order. */
export interface OrderedQueue<Output extends QueueOutput> {
  readonly root: { readonly output: Output; readonly datum: RootDatum }
  /** Oldest first. */
  readonly blocks: readonly {
    readonly output: Output
    readonly datum: BlockDatum
    readonly headerHash: Uint8Array
  }[]
}

/**
 * Puts the outputs of a state queue, in any order, into the order of its links.
 *
 * @throws {BrokenQueue} where there is not exactly one root, a link names a block that is not there, or a block is there
 *   that no link leads to: after two inits, or where the outputs were not read at one moment
 * @throws {MalformedData} where a datum is not what its token promises
 * @example
 * const { root, blocks } = orderQueue(outputs, rootTokenName('RATATOSK'))
 * const tail = blocks.at(-1) ?? root // what the next commit spends
 */
export function orderQueue<Output extends QueueOutput>(
  outputs: Iterable<Output>,
  rootName: Uint8Array,
): OrderedQueue<Output> {
  const roots: Output[] = []
  const waiting = new Map<string, { output: Output; headerHash: Uint8Array }>()
  for (const output of outputs) {
    const headerHash = headerHashOfToken(output.tokenName)
    if (equalBytes(output.tokenName, rootName)) roots.push(output)
    else if (headerHash === undefined) throw new BrokenQueue(`A token of no kind: ${toHex(output.tokenName)}`)
    else if (waiting.has(toHex(headerHash))) throw new BrokenQueue(`Block ${toHex(headerHash)} twice`)
    else waiting.set(toHex(headerHash), { output, headerHash })
  }
  const [root] = roots
  if (root === undefined || roots.length > 1) throw new BrokenQueue(`${roots.length} roots`)

  const datum = decodeRootDatum(root.datum)
  const blocks: { output: Output; datum: BlockDatum; headerHash: Uint8Array }[] = []
  let next = datum.link
  while (next !== undefined) {
    const link = toHex(next)
    const found = waiting.get(link)
    if (found === undefined) throw new BrokenQueue(`A link to ${link}, which is not there`)
    waiting.delete(link)
    const block = { ...found, datum: decodeBlockDatum(found.output.datum) }
    blocks.push(block)
    next = block.datum.link
  }
  if (waiting.size > 0) throw new BrokenQueue(`${waiting.size} blocks that no link leads to`)
  return { root: { output: root, datum }, blocks }
}
