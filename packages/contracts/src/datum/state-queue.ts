import { type Header, hashLength, headerFromData, headerToData, rootLength } from '@ratatosk/block'
import {
  bytesOf,
  constr,
  constrOf,
  decodePlutusData,
  encodePlutusData,
  fieldsOf,
  integerOf,
  listOf,
  type PlutusData,
  PlutusDataError,
} from '@ratatosk/ledger/plutus-data'
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
