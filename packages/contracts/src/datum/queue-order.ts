import { equalBytes, toHex } from '@ratatosk/ledger'
import { BrokenQueue, MalformedData } from '../errors.js'
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
  /** CBOR of the inline datum; undefined where the output has none. */
  readonly datum?: Uint8Array | undefined
}

export interface QueueRoot<Output extends QueueOutput> {
  readonly output: Output
  readonly datum: RootDatum
}

export interface QueueBlock<Output extends QueueOutput> {
  readonly output: Output
  readonly datum: BlockDatum
  readonly headerHash: Uint8Array
}

/** The state queue in its order. */
export interface OrderedQueue<Output extends QueueOutput> {
  readonly root: QueueRoot<Output>
  /** Oldest first. */
  readonly blocks: readonly QueueBlock<Output>[]
}

/** What there is of a state queue, sound or not: each output is in one of the three lists. */
export interface QueueSurvey<Output extends QueueOutput> {
  /** One in a sound queue. */
  readonly roots: readonly QueueRoot<Output>[]
  /** From the root along the links as far as they lead, the oldest first; empty where there is not exactly one root. */
  readonly blocks: readonly QueueBlock<Output>[]
  /** What is neither a root nor in the list. */
  readonly strays: readonly Output[]
  /** What keeps the queue from being sound; undefined where it is. */
  readonly fault: BrokenQueue | MalformedData | undefined
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
  const { roots, blocks, fault } = surveyQueue(outputs, rootName)
  const [root] = roots
  if (fault || root === undefined) throw fault ?? new BrokenQueue('0 roots')
  return { root, blocks }
}

/**
 * The same for diagnostics and repair: what `orderQueue` refuses is described.
 *
 * @example
 * const { roots, strays, fault } = surveyQueue(outputs, rootTokenName('RATATOSK'))
 * if (fault) console.log(`${fault.message}; ${strays.length} outputs out of the list`)
 */
export function surveyQueue<Output extends QueueOutput>(
  outputs: Iterable<Output>,
  rootName: Uint8Array,
): QueueSurvey<Output> {
  const roots: QueueRoot<Output>[] = []
  const waiting = new Map<string, QueueBlock<Output>>()
  const strays: Output[] = []
  const faults: (BrokenQueue | MalformedData)[] = []
  const stray = (output: Output, fault: BrokenQueue | MalformedData): void => {
    strays.push(output)
    faults.push(fault)
  }
  for (const output of outputs) {
    const headerHash = headerHashOfToken(output.tokenName)
    const key = headerHash && toHex(headerHash)
    if (equalBytes(output.tokenName, rootName)) {
      const datum = read(output, decodeRootDatum)
      if (datum instanceof MalformedData) stray(output, datum)
      else roots.push({ output, datum })
    } else if (headerHash === undefined || key === undefined) {
      stray(output, new BrokenQueue(`A token of no kind: ${toHex(output.tokenName)}`))
    } else {
      const datum = read(output, decodeBlockDatum)
      if (datum instanceof MalformedData) stray(output, datum)
      else if (waiting.has(key)) stray(output, new BrokenQueue(`Block ${key} twice`))
      else waiting.set(key, { output, datum, headerHash })
    }
  }
  if (roots.length !== 1) faults.push(new BrokenQueue(`${roots.length} roots`))

  const blocks: QueueBlock<Output>[] = []
  let next = roots.length === 1 ? roots[0]?.datum.link : undefined
  while (next !== undefined) {
    const link = toHex(next)
    const block = waiting.get(link)
    if (block === undefined) {
      faults.push(new BrokenQueue(`A link to ${link}, which is not there`))
      break
    }
    waiting.delete(link)
    blocks.push(block)
    next = block.datum.link
  }
  if (waiting.size > 0) faults.push(new BrokenQueue(`${waiting.size} blocks that no link leads to`))
  for (const { output } of waiting.values()) strays.push(output)
  return { roots, blocks, strays, fault: faults[0] }
}

function read<Datum>({ datum }: QueueOutput, decode: (cbor: Uint8Array) => Datum): Datum | MalformedData {
  if (datum === undefined) return new MalformedData('An element of the queue without an inline datum')
  try {
    return decode(datum)
  } catch (error) {
    if (error instanceof MalformedData) return error
    throw error
  }
}
