import {
  bigintOf,
  CborReader,
  CborWriter,
  concatBytes,
  equalBytes,
  fromHex,
  isDecodeError,
  Major,
} from '@ratatosk/cbor'
import { type Assets, blake2b256, type OutputReference } from '@ratatosk/ledger'
import {
  bytesOf,
  constr,
  constrOf,
  decodePlutusData,
  encodePlutusData,
  integerOf,
  listOf,
  type PlutusData,
  PlutusDataError,
} from '@ratatosk/ledger/plutus-data'
import { Deposit, BridgeDatum as Kind, OutputDatum, Settlement, BridgeSpend as Spend } from '../layout.js'

const hashLength = 32

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

const levels = 4
const childCount = 2 ** levels
/** Constructor of a proof's step past a branch that has two or more other children. */
const branchStep = 0

/** The hash of a subtree of 2^level children of a branch that are not there. */
export const emptySubtrees: readonly Uint8Array[] = Array.from({ length: levels }).reduce<Uint8Array[]>(
  (hashes) => {
    const below = hashes.at(-1)
    return [...hashes, below ? blake2b256(concatBytes(below, below)) : new Uint8Array(hashLength)]
  },
  [],
)

const partAt = (hashes: Uint8Array, place: number): Uint8Array =>
  hashes.subarray(place * hashLength, (place + 1) * hashLength)

/** Whether two of a child's siblings, highest level first, have children. */
const hasTwo = (siblings: Uint8Array): boolean =>
  emptySubtrees.filter((empty, level) => !equalBytes(partAt(siblings, levels - 1 - level), empty)).length > 1

/**
 * The proof by which the bridge deletes a key: where the siblings of its last branch do not show that two
 * children are left, it names another child whose siblings do.
 *
 * @param proof CBOR as `proofToCbor` of `@ratatosk/trie` writes it
 * @param children of the last branch, 16 × 32 bytes
 * @throws RangeError if they are needed and missing
 * @throws {PlutusDataError} if the bytes are not a proof
 */
function deletionProof(proof: Uint8Array, children: Uint8Array | undefined): PlutusData {
  const steps = listOf(decodePlutusData(proof), 'proof')
  const last = steps.at(-1)
  if (last === undefined) return steps
  const { index, fields } = constrOf(last, 'step')
  const [, siblings] = fields
  if (index !== branchStep || !(siblings instanceof Uint8Array) || hasTwo(siblings)) return steps
  if (children?.length !== childCount * hashLength)
    throw new RangeError('The children of the last branch of the proof are missing')
  return [...steps.slice(0, -1), constr(index, ...fields, otherChild(children))]
}

/** `[nibble, hash, siblings]` of a child whose siblings show two others: one of three children is such. */
function otherChild(children: Uint8Array): PlutusData {
  const subtrees = [children]
  for (let level = 1; level < levels; level++) {
    const below = subtrees[level - 1] ?? children
    const pairs = Array.from({ length: below.length / (2 * hashLength) }, (_, place) =>
      blake2b256(below.subarray(2 * place * hashLength, 2 * (place + 1) * hashLength)),
    )
    subtrees.push(concatBytes(...pairs))
  }
  for (let nibble = 0; nibble < childCount; nibble++) {
    const child = partAt(children, nibble)
    const siblings = concatBytes(
      ...subtrees.map((hashes, level) => partAt(hashes, (nibble >> level) ^ 1)).reverse(),
    )
    if (child.some((byte) => byte !== 0) && hasTwo(siblings)) return [BigInt(nibble), child, siblings]
  }
  throw new RangeError('The branch has fewer than three children')
}

/** CBOR tags of the constructors 0 to 6, 7 to 127, and of the general form `[index, fields]`. */
const compactTags = [
  { first: 121, last: 127 },
  { first: 1280, last: 1400 },
] as const
const generalTag = 102
const generalTagIndex = 128n
/** Initial bytes of bignums. */
const positive = 0xc2
const negative = 0xc3

/**
 * Any Plutus data as the builtin `serialiseData` writes it, so that hashes equal those that validators
 * compute. It may be nested up to 1,024 levels of CBOR.
 *
 * @param cbor in any encoding that the ledger accepts
 * @throws {PlutusDataError} if the bytes are not Plutus data
 */
export const serialised = (cbor: Uint8Array): Uint8Array =>
  reading(() => {
    // Checks the depth first, which limits the recursion below.
    new CborReader(cbor).skip()
    const reader = new CborReader(cbor)
    const writer = new CborWriter(cbor.length + 64)
    copy(reader, writer)
    reader.assertEnd()
    return writer.toBytes()
  })

/** @throws {PlutusDataError} instead of the reader's error */
function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new PlutusDataError(error.message, { cause: error })
  }
}

function copy(reader: CborReader, writer: CborWriter): void {
  switch (reader.peekMajor()) {
    case Major.unsigned:
    case Major.negative:
      writer.int(reader.readInt())
      return
    case Major.bytes:
      writer.boundedBytes(readChunks(reader))
      return
    case Major.array:
      copyList(reader, writer)
      return
    case Major.map:
      copyMap(reader, writer)
      return
    case Major.tag:
      copyTagged(reader, writer)
      return
    default:
      throw reader.unexpected('Plutus data')
  }
}

function copyList(reader: CborReader, writer: CborWriter): void {
  const count = reader.readArray()
  if (!reader.hasNext(count, 0)) {
    writer.array(0)
    return
  }
  writer.indefiniteArray()
  let copied = 0
  do copy(reader, writer)
  while (reader.hasNext(count, ++copied))
  writer.break()
}

function copyMap(reader: CborReader, writer: CborWriter): void {
  const count = reader.readMap()
  const entries = new CborWriter()
  let copied = 0
  for (; reader.hasNext(count, copied); copied++) {
    copy(reader, entries)
    copy(reader, entries)
  }
  writer.map(copied).raw(entries.toBytes())
}

function copyTagged(reader: CborReader, writer: CborWriter): void {
  const start = reader.position
  const initial = reader.peek()
  const tag = reader.readTag()
  if (initial === positive || initial === negative) {
    const magnitude = bigintOf(readChunks(reader))
    writer.int(initial === positive ? magnitude : -1n - magnitude)
  } else if (tag === generalTag) {
    const arrayStart = reader.position
    const count = reader.readArray()
    const index = reader.readUint64()
    if (index < generalTagIndex) writer.tag(index < 7n ? 121 + Number(index) : 1280 + Number(index) - 7)
    else writer.tag(generalTag).array(2).uint(index)
    copyList(reader, writer)
    reader.leaveArray(count, 2, arrayStart)
  } else if (compactTags.some(({ first, last }) => tag >= first && tag <= last)) {
    writer.tag(tag)
    copyList(reader, writer)
  } else throw reader.error('CBOR_UNEXPECTED_TAG', `tag ${tag} in Plutus data`, start)
}

function readChunks(reader: CborReader): Uint8Array {
  if (!reader.tryIndefinite(Major.bytes)) return reader.readBytes()
  const chunks: Uint8Array[] = []
  while (reader.hasNext(-1, chunks.length)) chunks.push(reader.readBytes())
  return concatBytes(...chunks)
}
