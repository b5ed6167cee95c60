import { hashLength } from '@ratatosk/block'
import {
  bytesOf,
  constr,
  constrOf,
  decodePlutusData,
  encodePlutusData,
  integerOf,
  PlutusDataError,
} from '@ratatosk/ledger/plutus-data'
import { Question as Field, QuestionKind } from '../layout.js'

/** A question about what a header commits to: the datum of the output that holds its token. */
export interface SummonsQuestion {
  /** A chunk of the transactions; a node of a map with its children; any leaf below a node; an entry. */
  readonly kind: keyof typeof QuestionKind
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** Index of the field of the header that commits to the map: 2 for a chunk, 1 to 4 for a node. */
  readonly root: number
  /**
   * The number of a chunk, 4 bytes; or a path, 32 bytes, and one byte with the number of its nibbles above
   * the node. An entry is the one at this path. Any leaf is not, unless it is the node itself.
   */
  readonly key: Uint8Array
  /**
   * Hash of the node; for a chunk, the transactions root. 32 bytes, and of any length about a header that no
   * queue takes.
   */
  readonly hash: Uint8Array
  /** POSIX milliseconds: from then on, no answer means a verdict. */
  readonly deadline: bigint
  /** Verification key hash to which the bond returns, 28 bytes. */
  readonly refund: Uint8Array
}

const kinds = Object.keys(QuestionKind) as readonly SummonsQuestion['kind'][]

/** The CBOR of a question, as `serialiseData` writes it. Its Blake2b-256 is the name of its token. */
export function encodeQuestion(question: SummonsQuestion): Uint8Array {
  const { kind, headerHash, root, key, hash, deadline, refund } = question
  return encodePlutusData(constr(QuestionKind[kind], headerHash, BigInt(root), key, hash, deadline, refund))
}

/**
 * Decodes the datum of a question, in any encoding and with all that the summons lets be asked.
 *
 * @throws {PlutusDataError} if the bytes are not a question
 */
export function decodeQuestion(cbor: Uint8Array): SummonsQuestion {
  const { index, fields } = constrOf(decodePlutusData(cbor), 'question')
  const kind = kinds.find((name) => QuestionKind[name] === index)
  const [key, hash] = [fields[Field.key], fields[Field.hash]]
  if (kind === undefined || fields.length !== Object.keys(Field).length)
    throw new PlutusDataError('question: expected a chunk, a subtree, a leaf or an entry with six fields')
  if (!(key instanceof Uint8Array) || !(hash instanceof Uint8Array))
    throw new PlutusDataError('question: a key or a hash is missing')
  return {
    kind,
    headerHash: bytesOf(fields[Field.headerHash], hashLength, 'headerHash'),
    root: Number(integerOf(fields[Field.root], 'root')),
    key,
    hash,
    deadline: integerOf(fields[Field.deadline], 'deadline'),
    refund: bytesOf(fields[Field.refund], hashLength, 'refund'),
  }
}
