import { type Header, hashLength, headerFromData, headerToData, rootLength } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import {
  bytesOf,
  constr,
  constrOf,
  decodePlutusData,
  encodePlutusData,
  fieldsOf,
  integerOf,
  isPlutusDataError,
  listOf,
  type PlutusData,
  PlutusDataError,
} from '@ratatosk/ledger/plutus-data'
import { ContractsError } from '../errors.js'
import { QueueAction as Action, Approach, blockPrefix, ConfirmedState as Field } from '../layout.js'

/** The confirmed state: what the newest merged block says. */
export interface ConfirmedState {
  /** Header hash of the newest merged block, 28 bytes; zero bytes before the first merge. */
  readonly headerHash: Uint8Array
  /** Header hash of the block before that one, 28 bytes. */
  readonly prevHeaderHash: Uint8Array
  /** Root of the confirmed ledger, 32 bytes. */
  readonly utxoRoot: Uint8Array
  /** POSIX milliseconds: where the newest merged block begins. */
  readonly startTime: bigint
  /** POSIX milliseconds: where it ends and the next block begins. */
  readonly endTime: bigint
  /** From 0 to 2^32 − 1. */
  readonly blockVersion: bigint
}

/**
 * The datum of the root. `link` is the header hash of the oldest block, 28 bytes; absent if the queue has no
 * block.
 */
export interface RootDatum {
  readonly state: ConfirmedState
  readonly link?: Uint8Array
}

/** The datum of a block. `link` is the header hash of the next block, 28 bytes; absent in the last one. */
export interface BlockDatum {
  readonly header: Header
  readonly link?: Uint8Array
}

/** How an operator is slashed: who serves, or who has retired and whose bond is still locked. */
export type SlashingApproach = 'active' | 'retired'

/**
 * The consequence for the operator of a removed block. With a verdict: slashed, or no longer in the registry.
 * `by-administrator` needs no verdict and does not slash.
 */
export type RemovalApproach = SlashingApproach | 'already-slashed' | 'by-administrator'

/**
 * The redeemer of the state queue's policy. The `positions` of `prune` are the places of a genuine element
 * and of the blocks to prune behind it, in the order of the list, among the outputs that the transaction
 * spends from the queue, in the ledger's order.
 */
export type QueueAction =
  | { readonly kind: 'init' | 'deinit' | 'commit' | 'merge' }
  | { readonly kind: 'remove'; readonly headerHash: Uint8Array; readonly approach: RemovalApproach }
  | { readonly kind: 'prune'; readonly positions: readonly number[] }

const approaches: readonly RemovalApproach[] = ['active', 'retired', 'already-slashed', 'by-administrator']
const simpleActions = ['init', 'deinit', 'commit', 'merge'] as const

const linkToData = (link: Uint8Array | undefined): PlutusData =>
  link === undefined ? constr(1) : constr(0, link)

function linkFromData(data: PlutusData | undefined): { link?: Uint8Array } {
  const { index, fields } = constrOf(data, 'link')
  if (index === 1 && fields.length === 0) return {}
  if (index === 0 && fields.length === 1) return { link: bytesOf(fields[0], hashLength, 'link') }
  throw new PlutusDataError('link: expected Some(hash) or None')
}

/** The CBOR of a root's datum, as `serialiseData` writes it. */
export function encodeRootDatum({ state, link }: RootDatum): Uint8Array {
  const { headerHash, prevHeaderHash, utxoRoot, startTime, endTime, blockVersion } = state
  const content = constr(0, headerHash, prevHeaderHash, utxoRoot, startTime, endTime, blockVersion)
  return encodePlutusData(constr(0, content, linkToData(link)))
}

/**
 * Decodes the datum of a root.
 *
 * @throws {PlutusDataError} if the bytes are not the datum of a root
 */
export function decodeRootDatum(cbor: Uint8Array): RootDatum {
  const [content, link] = fieldsOf(decodePlutusData(cbor), 0, 2, 'root datum')
  const fields = fieldsOf(content, 0, Field.size, 'confirmed state')
  return {
    state: {
      headerHash: bytesOf(fields[Field.headerHash], hashLength, 'headerHash'),
      prevHeaderHash: bytesOf(fields[Field.prevHeaderHash], hashLength, 'prevHeaderHash'),
      utxoRoot: bytesOf(fields[Field.utxoRoot], rootLength, 'utxoRoot'),
      startTime: integerOf(fields[Field.startTime], 'startTime'),
      endTime: integerOf(fields[Field.endTime], 'endTime'),
      blockVersion: integerOf(fields[Field.blockVersion], 'blockVersion'),
    },
    ...linkFromData(link),
  }
}

/** The CBOR of a block's datum, as `serialiseData` writes it. */
export const encodeBlockDatum = ({ header, link }: BlockDatum): Uint8Array =>
  encodePlutusData(constr(0, headerToData(header), linkToData(link)))

/**
 * Decodes the datum of a block.
 *
 * @throws {PlutusDataError} if the bytes are not the datum of a block
 */
export function decodeBlockDatum(cbor: Uint8Array): BlockDatum {
  const [header, link] = fieldsOf(decodePlutusData(cbor), 0, 2, 'block datum')
  return { header: headerFromData(header), ...linkFromData(link) }
}

/** The CBOR of the redeemer under which the state queue mints and burns. */
export function encodeQueueAction(action: QueueAction): Uint8Array {
  const index = Action[action.kind]
  switch (action.kind) {
    case 'remove':
      return encodePlutusData(constr(index, action.headerHash, constr(Approach[action.approach])))
    case 'prune':
      return encodePlutusData(constr(index, action.positions.map(BigInt)))
    default:
      return encodePlutusData(constr(index))
  }
}

/**
 * Decodes the redeemer under which the state queue mints and burns.
 *
 * @throws {PlutusDataError} if the bytes are not a {@link QueueAction}
 */
export function decodeQueueAction(cbor: Uint8Array): QueueAction {
  const { index, fields } = constrOf(decodePlutusData(cbor), 'queue action')
  const kind = simpleActions.find((name) => Action[name] === index)
  if (kind !== undefined && fields.length === 0) return { kind }
  if (index === Action.prune && fields.length === 1) {
    const positions = listOf(fields[0], 'positions').map((each) => Number(integerOf(each, 'position')))
    return { kind: 'prune', positions }
  }
  if (index !== Action.remove || fields.length !== 2)
    throw new PlutusDataError(`queue action: unknown constructor ${index} with ${fields.length} fields`)
  const headerHash = bytesOf(fields[0], hashLength, 'headerHash')
  return { kind: 'remove', headerHash, approach: approachFromData(fields[1]) }
}

/** @throws {PlutusDataError} */
export function approachFromData(data: PlutusData | undefined): RemovalApproach {
  const approach = approaches.find((name) => Approach[name] === constrOf(data, 'approach').index)
  if (approach === undefined) throw new PlutusDataError('approach: unknown constructor')
  return approach
}

/**
 * The redeemer for spending from the state queue. The redeemer of the policy names the action; this one only
 * makes it cheap to spend many elements at once.
 *
 * @param leastIndex a lower bound on the index of the element among the transaction's sorted inputs
 */
export const encodeQueueSpend = (leastIndex = 0): Uint8Array => encodePlutusData(BigInt(leastIndex))

/**
 * The datum of the output that returns a merged or pruned block's ada to its operator: the block's header
 * hash, 28 bytes.
 */
export const encodeRefundDatum = (headerHash: Uint8Array): Uint8Array => encodePlutusData(headerHash)

/** Asset name of the root: `<protocol>_CONFIRMED_STATE`. */
export const rootTokenName = (protocol: string): Uint8Array =>
  new TextEncoder().encode(`${protocol}_CONFIRMED_STATE`)

/** Asset name of a block's token, 32 bytes: `MBLC` and the header hash. */
export const blockTokenName = (hash: Uint8Array): Uint8Array =>
  new Uint8Array(Buffer.concat([blockPrefix, hash]))

/** The header hash in the asset name of a block's token; undefined for any other name. */
export function headerHashOfToken(assetName: Uint8Array): Uint8Array | undefined {
  const isBlock =
    assetName.length === blockPrefix.length + hashLength &&
    blockPrefix.every((byte, i) => assetName[i] === byte)
  return isBlock ? assetName.subarray(blockPrefix.length) : undefined
}

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
