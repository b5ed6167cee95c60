import { CborReader, CborWriter, fromHex } from '@ratatosk/cbor'
import { type Assets, blake2b256, type OutputReference } from '@ratatosk/ledger'
import {
  bytesOf,
  constr,
  decodePlutusData,
  encodePlutusData,
  integerOf,
  type PlutusData,
  PlutusDataError,
} from '@ratatosk/ledger/plutus-data'
import { Deposit, BridgeDatum as Kind, OutputDatum, Settlement, BridgeSpend as Spend } from '../layout.js'
import { deletionProof } from './deletion-proof.js'
import { reading, serialised } from './serialised.js'

/**
 * The datum that an output of layer 2 gets: none, a Blake2b-256 hash (32 bytes), or inline. `data`: CBOR as
 * `serialiseData` writes it; functions that take it accept any encoding.
 */
export type Layer1Datum =
  | { readonly kind: 'none' }
  | { readonly kind: 'hash'; readonly hash: Uint8Array }
  | { readonly kind: 'inline'; readonly data: Uint8Array }

/** The datum of a deposit: the output at the bridge that holds an event token of its id. */
export interface DepositDatum {
  /** 32 bytes, see {@link depositId}. The layer-2 output is output 0 of a transaction with this id. */
  readonly id: Uint8Array
  /** POSIX milliseconds: the block whose interval has this time credits the deposit. */
  readonly time: bigint
  /** Address on layer 2, 29 or 57 bytes of CIP-19. */
  readonly address: Uint8Array
  readonly datum: Layer1Datum
  /** Blake2b-256 of the layer-2 output, 32 bytes, see {@link depositOutput}. */
  readonly outputHash: Uint8Array
}

/** The datum of a settlement: the output at the bridge that owes what has left layer 2 by one block. */
export interface SettlementDatum {
  /** Root of what is still owed, 32 bytes: output reference CBOR → layer-2 output CBOR. */
  readonly root: Uint8Array
  /** POSIX milliseconds, the block's end: deposits with an earlier time pay for it. */
  readonly time: bigint
}

/** The datum of an output at the bridge; a reserve has none. */
export type BridgeDatum =
  | ({ readonly kind: 'deposit' } & DepositDatum)
  | ({ readonly kind: 'settlement' } & SettlementDatum)

/**
 * The redeemer for spending from the bridge. A settlement leads with `pay`, a confirmed deposit with `tidy`;
 * every other input at the bridge follows, with the leader's index among the transaction's sorted inputs.
 */
export type BridgeSpend =
  | { readonly kind: 'follow'; readonly leader: number }
  | { readonly kind: 'pay'; readonly entries: readonly OwedOutput[] }
  | { readonly kind: 'tidy' }

/** An output that a settlement owes, and output i + 1 pays for entry i. */
interface OwedOutput {
  /** Output reference CBOR. */
  readonly key: Uint8Array
  /** CBOR of the layer-2 output. */
  readonly output: Uint8Array
  /** `proofToCbor` of the proof in the map without the entries before. */
  readonly proof: Uint8Array
  /**
   * Hashes of the children of the last branch on the way to the key, in that map: 16 × 32 bytes, zero where
   * there is none, as in the `MapBranch` of `@ratatosk/trie`. Needed if the last step of the proof is a
   * branch: it shows that the branch stays one without the key.
   */
  readonly children?: Uint8Array
}

/**
 * The CBOR of the datum of an output at the bridge, as `serialiseData` writes it.
 *
 * @throws {PlutusDataError} if an inline datum is not Plutus data
 */
export function encodeBridgeDatum(datum: BridgeDatum): Uint8Array {
  if (datum.kind === 'settlement') return encodePlutusData(constr(Kind.settlement, datum.root, datum.time))
  const { id, time, address, outputHash } = datum
  return encodeConstructor(Kind.deposit, [
    encodePlutusData(id),
    encodePlutusData(time),
    encodePlutusData(address),
    encodeLayer1Datum(datum.datum),
    encodePlutusData(outputHash),
  ])
}

function encodeLayer1Datum(datum: Layer1Datum): Uint8Array {
  if (datum.kind === 'none') return encodePlutusData(constr(OutputDatum.none))
  if (datum.kind === 'hash') return encodePlutusData(constr(OutputDatum.hash, datum.hash))
  return encodeConstructor(OutputDatum.inline, [serialised(datum.data)])
}

const firstTag = 121

/** A constructor from 0 to 6, of fields that are encoded. */
function encodeConstructor(index: number, fields: readonly Uint8Array[]): Uint8Array {
  const writer = new CborWriter().tag(firstTag + index).indefiniteArray()
  for (const field of fields) writer.raw(field)
  return writer.break().toBytes()
}

/** The reverse of {@link encodeConstructor}; without fields, too. */
function readConstructor(cbor: Uint8Array): { readonly index: number; readonly fields: Uint8Array[] } {
  const reader = new CborReader(cbor)
  const index = reader.readTag() - firstTag
  const count = reader.readArray()
  const fields: Uint8Array[] = []
  while (reader.hasNext(count, fields.length)) {
    const start = reader.position
    reader.skip()
    fields.push(reader.since(start))
  }
  return { index, fields }
}

/**
 * Decodes the datum of an output at the bridge, in every encoding that the ledger accepts. Anyone can pay an
 * output with such a datum to the bridge: a token shows that it is a deposit or a settlement.
 *
 * @throws {PlutusDataError} if the bytes are not a {@link BridgeDatum}
 */
export const decodeBridgeDatum = (cbor: Uint8Array): BridgeDatum =>
  reading(() => {
    const { index, fields } = readConstructor(serialised(cbor))
    const field = (place: number): PlutusData => decodePlutusData(fields[place] ?? new Uint8Array())
    if (index === Kind.settlement && fields.length === Settlement.size)
      return {
        kind: 'settlement',
        root: bytesOf(field(Settlement.root), hashLength, 'root'),
        time: integerOf(field(Settlement.time), 'time'),
      }
    if (index !== Kind.deposit || fields.length !== Deposit.size)
      throw new PlutusDataError(`bridge datum: constructor ${index} with ${fields.length} fields`)
    return {
      kind: 'deposit',
      id: bytesOf(field(Deposit.id), hashLength, 'id'),
      time: integerOf(field(Deposit.time), 'time'),
      address: addressOf(field(Deposit.address)),
      datum: decodeLayer1Datum(fields[Deposit.datum] ?? new Uint8Array()),
      outputHash: bytesOf(field(Deposit.outputHash), hashLength, 'outputHash'),
    }
  })

const hashLength = 32

function addressOf(data: PlutusData): Uint8Array {
  if (data instanceof Uint8Array && (data.length === 29 || data.length === 57)) return data
  throw new PlutusDataError('address: 29 or 57 bytes are missing')
}

function decodeLayer1Datum(cbor: Uint8Array): Layer1Datum {
  const { index, fields } = readConstructor(cbor)
  const [content] = fields
  if (index === OutputDatum.none && content === undefined) return { kind: 'none' }
  if (content !== undefined && fields.length === 1) {
    if (index === OutputDatum.hash)
      return { kind: 'hash', hash: bytesOf(decodePlutusData(content), hashLength, 'datum hash') }
    if (index === OutputDatum.inline) return { kind: 'inline', data: Uint8Array.from(content) }
  }
  throw new PlutusDataError(`datum of a deposit: constructor ${index} with ${fields.length} fields`)
}

/**
 * The id of the deposit that a transaction makes: Blake2b-256 of `serialiseData` of the reference.
 *
 * @param firstInput the first of the transaction's inputs, sorted by transaction id and index
 * @returns 32 bytes
 */
export const depositId = ({ transactionId, index }: OutputReference): Uint8Array =>
  blake2b256(encodePlutusData(constr(0, transactionId, BigInt(index))))

/**
 * The CBOR of the layer-2 output that a deposit becomes: the bytes that the script of events hashes.
 *
 * @param parts `assets` without the event token; no policy in it may be empty
 * @throws {PlutusDataError} if an inline datum is not Plutus data
 */
export function depositOutput(parts: {
  readonly address: Uint8Array
  readonly lovelace: bigint
  readonly assets: Assets
  readonly datum: Layer1Datum
}): Uint8Array {
  const { address, lovelace, assets, datum } = parts
  const writer = new CborWriter()
    .map(datum.kind === 'none' ? 2 : 3)
    .uint(0)
    .bytes(address)
    .uint(1)
  if (assets.size === 0) writer.uint(lovelace)
  else writeAssets(writer.array(2).uint(lovelace), assets)
  if (datum.kind === 'hash') writer.uint(2).array(2).uint(0).bytes(datum.hash)
  if (datum.kind === 'inline') writer.uint(2).array(2).uint(1).tag(24).bytes(serialised(datum.data))
  return writer.toBytes()
}

/** Writes policies and names in the order of a script's context: by bytes, a shorter name first. */
function writeAssets(writer: CborWriter, assets: Assets): void {
  writer.map(assets.size)
  for (const [policy, names] of inOrder(assets)) {
    writer.bytes(fromHex(policy)).map(names.size)
    for (const [name, quantity] of inOrder(names)) writer.bytes(fromHex(name)).uint(quantity)
  }
}

const inOrder = <T>(entries: ReadonlyMap<string, T>): [string, T][] =>
  [...entries].sort(([a], [b]) => (a < b ? -1 : 1))

/**
 * The CBOR of the redeemer for spending from the bridge.
 *
 * @throws {PlutusDataError} if a proof is malformed
 * @throws RangeError if the children of a proof's last branch are needed and missing
 */
export function encodeBridgeSpend(spend: BridgeSpend): Uint8Array {
  const index = Spend[spend.kind]
  switch (spend.kind) {
    case 'follow':
      return encodePlutusData(constr(index, BigInt(spend.leader)))
    case 'pay':
      return encodePlutusData(
        constr(
          index,
          spend.entries.map(({ key, output, proof, children }) => [
            key,
            output,
            deletionProof(proof, children),
          ]),
        ),
      )
    case 'tidy':
      return encodePlutusData(constr(index))
  }
}

/** The CBOR of the redeemer under which the bridge makes and burns the tokens of settlements. */
export const encodeSettle = (): Uint8Array => encodePlutusData(constr(0))

/** The CBOR of the redeemer under which event tokens are minted and burned. */
export const encodeEventAction = (): Uint8Array => encodePlutusData(constr(0))
