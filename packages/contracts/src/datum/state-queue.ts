import { MalformedData } from '../errors.js'
import {
  QueueAction as Action,
  blockPrefix,
  ConfirmedState as Field,
  hashLength,
  rootLength,
} from '../layout.js'
import { bytesOf, constrOf, fieldsOf, integerOf } from './fields.js'
import { type Header, headerFromData, headerToData } from './header.js'
import { constr, decodePlutusData, encodePlutusData, type PlutusData } from './plutus-data.js'

/** What has been merged so far. */
export interface ConfirmedState {
  /** Of the block merged last; 28 zero bytes before the first. */
  readonly headerHash: Uint8Array
  readonly prevHeaderHash: Uint8Array
  readonly utxoRoot: Uint8Array
  readonly startTime: bigint
  readonly endTime: bigint
  readonly protocolVersion: bigint
}

/** The datum of the root. `link` is the hash of the oldest block's header; absent where the queue is empty. */
export interface RootDatum {
  readonly state: ConfirmedState
  readonly link?: Uint8Array
}

/** The datum of a block. `link` is the hash of the next block's header; absent at the tail. */
export interface BlockDatum {
  readonly header: Header
  readonly link?: Uint8Array
}

/** Why an operator's block is removed, by where the operator stands: kept for fraud proofs, refused until then. */
export type SlashingApproach = 'active' | 'retired' | 'already-slashed'

/** The redeemer of the state queue's policy. */
export type QueueAction =
  | { readonly kind: 'init' | 'deinit' | 'commit' | 'merge' }
  | { readonly kind: 'remove'; readonly headerHash: Uint8Array; readonly approach: SlashingApproach }

const approaches: readonly SlashingApproach[] = ['active', 'retired', 'already-slashed']
const simpleActions = ['init', 'deinit', 'commit', 'merge'] as const

const linkToData = (link: Uint8Array | undefined): PlutusData =>
  link === undefined ? constr(1) : constr(0, link)

function linkFromData(data: PlutusData | undefined): { link?: Uint8Array } {
  const { index, fields } = constrOf(data, 'link')
  if (index === 1 && fields.length === 0) return {}
  if (index === 0 && fields.length === 1) return { link: bytesOf(fields[0], hashLength, 'link') }
  throw new MalformedData('link: neither a hash nor none')
}

export function encodeRootDatum({ state, link }: RootDatum): Uint8Array {
  const { headerHash, prevHeaderHash, utxoRoot, startTime, endTime, protocolVersion } = state
  const content = constr(0, headerHash, prevHeaderHash, utxoRoot, startTime, endTime, protocolVersion)
  return encodePlutusData(constr(0, content, linkToData(link)))
}

/** @throws {MalformedData} */
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
      protocolVersion: integerOf(fields[Field.protocolVersion], 'protocolVersion'),
    },
    ...linkFromData(link),
  }
}

export const encodeBlockDatum = ({ header, link }: BlockDatum): Uint8Array =>
  encodePlutusData(constr(0, headerToData(header), linkToData(link)))

/** @throws {MalformedData} */
export function decodeBlockDatum(cbor: Uint8Array): BlockDatum {
  const [header, link] = fieldsOf(decodePlutusData(cbor), 0, 2, 'block datum')
  return { header: headerFromData(header), ...linkFromData(link) }
}

export function encodeQueueAction(action: QueueAction): Uint8Array {
  const index = Action[action.kind]
  if (action.kind !== 'remove') return encodePlutusData(constr(index))
  return encodePlutusData(constr(index, action.headerHash, constr(approaches.indexOf(action.approach))))
}

/** @throws {MalformedData} */
export function decodeQueueAction(cbor: Uint8Array): QueueAction {
  const { index, fields } = constrOf(decodePlutusData(cbor), 'queue action')
  const kind = simpleActions.find((name) => Action[name] === index)
  if (kind !== undefined && fields.length === 0) return { kind }
  if (index !== Action.remove || fields.length !== 2)
    throw new MalformedData('queue action: none of its kinds')
  const approach = approaches[constrOf(fields[1], 'approach').index]
  if (approach === undefined) throw new MalformedData('approach: none of its kinds')
  return { kind: 'remove', headerHash: bytesOf(fields[0], hashLength, 'headerHash'), approach }
}

/** The redeemer for spending at the state queue, which may be anything: the policy's redeemer says what is done. */
export const encodeQueueSpend = (): Uint8Array => encodePlutusData(constr(0))

/** The datum of the output that gives a merged block's ada back: the hash of its header. */
export const encodeRefundDatum = (headerHash: Uint8Array): Uint8Array => encodePlutusData(headerHash)

/** The asset name of the root: `<protocol>_CONFIRMED_STATE`. */
export const rootTokenName = (protocol: string): Uint8Array =>
  new TextEncoder().encode(`${protocol}_CONFIRMED_STATE`)

/** The asset name of a block's token: `MBLC` and the header's hash. */
export const blockTokenName = (hash: Uint8Array): Uint8Array =>
  new Uint8Array(Buffer.concat([blockPrefix, hash]))

/** The header hash in the asset name of a block's token; undefined where the name is no block's. */
export function headerHashOfToken(assetName: Uint8Array): Uint8Array | undefined {
  const isBlock =
    assetName.length === blockPrefix.length + hashLength &&
    blockPrefix.every((byte, i) => assetName[i] === byte)
  return isBlock ? assetName.subarray(blockPrefix.length) : undefined
}
