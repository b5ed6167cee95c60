import { equalBytes, toHex } from '@ratatosk/cbor'
import { isPlutusDataError, PlutusDataError } from '@ratatosk/ledger/plutus-data'
import { ContractsError } from '../errors.js'
import {
  type BlockDatum,
  decodeBlockDatum,
  decodeRootDatum,
  headerHashOfToken,
  type RootDatum,
} from './state-queue.js'

/** An output that holds a token of the state queue's policy. Callers may add fields of their own. */
export interface QueueOutput {
  /** Asset name of the token. */
  readonly tokenName: Uint8Array
  /** CBOR of the inline datum; undefined if the output has none. */
  readonly datum?: Uint8Array | undefined
}

/** The root of the queue: an output and its decoded datum. */
export interface QueueRoot<Output extends QueueOutput> {
  readonly output: Output
  readonly datum: RootDatum
}

/**
 * A block of the queue: an output, its decoded datum, and the header hash from its token's name (28 bytes).
 */
export interface QueueBlock<Output extends QueueOutput> {
  readonly output: Output
  readonly datum: BlockDatum
  readonly headerHash: Uint8Array
}

/** A state queue, sound or not. Each output is in exactly one of the three lists. */
export interface QueueSurvey<Root, Block, Stray> {
  /** Exactly one in a sound queue. */
  readonly roots: readonly Root[]
  /**
   * The blocks in list order, oldest first, to the end of the links; empty unless there is exactly one root.
   */
  readonly blocks: readonly Block[]
  /** Outputs that are neither a root nor in the list. */
  readonly strays: readonly Stray[]
  /**
   * Why the queue is not sound: `CONTRACTS_BROKEN_QUEUE`, or a datum that does not decode; absent if it is
   * sound.
   */
  readonly fault?: ContractsError | PlutusDataError
}

/**
 * Orders the outputs of a state queue by their links, and describes what is wrong where they are not a sound
 * queue: several roots or none, a link to a block that is missing, a block that no link leads to, or a datum
 * that does not decode.
 *
 * @param outputs in any order
 * @param rootName asset name of the root: `rootTokenName(protocol)`
 * @example
 * const { roots, blocks, strays, fault } = surveyQueue(outputs, rootTokenName('RATATOSK'))
 * if (fault) console.log(`${fault.message}; ${strays.length} outputs are not in the list`)
 * const tail = blocks.at(-1) ?? roots[0] // what the next commit spends
 */
export function surveyQueue<Output extends QueueOutput>(
  outputs: Iterable<Output>,
  rootName: Uint8Array,
): QueueSurvey<QueueRoot<Output>, QueueBlock<Output>, Output> {
  const roots: QueueRoot<Output>[] = []
  const unlinked = new Map<string, QueueBlock<Output>>()
  const strays: Output[] = []
  const faults: (ContractsError | PlutusDataError)[] = []
  const addStray = (output: Output, fault: ContractsError | PlutusDataError): void => {
    strays.push(output)
    faults.push(fault)
  }
  for (const output of outputs) {
    const headerHash = headerHashOfToken(output.tokenName)
    const key = headerHash && toHex(headerHash)
    if (equalBytes(output.tokenName, rootName)) {
      const datum = read(output, decodeRootDatum)
      if (isPlutusDataError(datum)) addStray(output, datum)
      else roots.push({ output, datum })
    } else if (headerHash === undefined || key === undefined) {
      addStray(output, broken(`token ${toHex(output.tokenName)} names neither the root nor a block`))
    } else {
      const datum = read(output, decodeBlockDatum)
      if (isPlutusDataError(datum)) addStray(output, datum)
      else if (unlinked.has(key)) addStray(output, broken(`block ${key} exists twice`))
      else unlinked.set(key, { output, datum, headerHash })
    }
  }
  if (roots.length !== 1) faults.push(broken(`${roots.length} roots instead of 1`))

  const blocks: QueueBlock<Output>[] = []
  let next = roots.length === 1 ? roots[0]?.datum.link : undefined
  while (next !== undefined) {
    const link = toHex(next)
    const block = unlinked.get(link)
    if (block === undefined) {
      faults.push(broken(`block ${link} is linked to but missing`))
      break
    }
    unlinked.delete(link)
    blocks.push(block)
    next = block.datum.link
  }
  if (unlinked.size > 0) faults.push(broken(`no link leads to ${unlinked.size} of the blocks`))
  for (const { output } of unlinked.values()) strays.push(output)
  const [fault] = faults
  return { roots, blocks, strays, ...(fault && { fault }) }
}

const broken = (reason: string) => new ContractsError('CONTRACTS_BROKEN_QUEUE', reason)

function read<Datum>({ datum }: QueueOutput, decode: (cbor: Uint8Array) => Datum): Datum | PlutusDataError {
  if (datum === undefined) return new PlutusDataError('An element of the state queue has no inline datum')
  try {
    return decode(datum)
  } catch (error) {
    if (isPlutusDataError(error)) return error
    throw error
  }
}
