import {
  CborReader,
  CborWriter,
  equalBytes,
  isDecodeError,
  readMapOf,
  readTaggedList,
  toHex,
} from '@ratatosk/cbor'
import { blake2b256 } from './hash.js'
import { type OutputValue, outputValue, readAssets } from './value.js'

/** An output reference. */
interface Outref {
  /** CBOR in its shortest form: the key of the maps that headers commit to. */
  readonly cbor: Uint8Array
  /** 64 hex digits, `#`, the index. */
  readonly key: string
}

/** What the audit takes from a transaction. */
export interface AuditedTransaction {
  /** Blake2b-256 of the body: 32 bytes. */
  readonly id: Uint8Array
  /** The body as submitted; all bytes if they are no transaction. */
  readonly body: Uint8Array
  /** The witness set as submitted; empty if the bytes are no transaction. */
  readonly witnessSet: Uint8Array
  /** The bytes behind the witness set; none if the bytes are no transaction. */
  readonly rest: Uint8Array
  readonly inputs: readonly Outref[]
  readonly referenceInputs: readonly Outref[]
  /** CBOR of each output. */
  readonly outputs: readonly Uint8Array[]
  /** Lovelace. */
  readonly fee: bigint
  /** Minted, or burned if negative. */
  readonly mint: OutputValue
  /** Why it is not a transaction whose bytes follow from body and witness set; absent if it is one. */
  readonly fault?: string
}

/** Every well-formed item is walked: the limit of the body is the limit. */
const limits = {
  maxDepth: 65_536,
  maxLength: Number.POSITIVE_INFINITY,
  maxItems: Number.POSITIVE_INFINITY,
}

/** The largest index that an input can name. */
export const maxOutputIndex = 0xffff

const isTrue = 0xf5
const isNull = 0xf6

/** A reference by its parts. */
export function outref(transactionId: Uint8Array, index: number): Outref {
  const cbor = new CborWriter(40).array(2).bytes(transactionId).uint(index).toBytes()
  return { cbor, key: `${toHex(transactionId)}#${index}` }
}

/** Takes a transaction apart. Total: bytes that are no transaction spend and make nothing. */
export function readTransaction(cbor: Uint8Array): AuditedTransaction {
  const nothing = {
    inputs: [],
    referenceInputs: [],
    outputs: [],
    fee: 0n,
    mint: { lovelace: 0n, assets: new Map<string, bigint>() },
  }
  const none = new Uint8Array()
  const whole = (fault: string) => ({
    ...nothing,
    id: blake2b256(cbor),
    body: cbor,
    witnessSet: none,
    rest: none,
    fault,
  })
  if (cbor[0] !== 0x84) return whole('its first byte is not 84')
  const reader = new CborReader(cbor, 1, cbor.length, limits)
  try {
    reader.skip()
  } catch (error) {
    return whole(reasonOf(error))
  }
  const bodyEnd = reader.position
  try {
    reader.skip()
  } catch (error) {
    return whole(reasonOf(error))
  }
  const body = cbor.subarray(1, bodyEnd)
  const witnessSet = cbor.subarray(bodyEnd, reader.position)
  const rest = cbor.subarray(reader.position)
  const parts = { id: blake2b256(body), body, witnessSet, rest }
  try {
    const { auxiliaryDataHash, ...fields } = readBody(new CborReader(body, 0, body.length, limits))
    const fault = faultOfFrame(rest, auxiliaryDataHash)
    return { ...parts, ...fields, ...(fault !== undefined && { fault }) }
  } catch (error) {
    return { ...nothing, ...parts, fault: reasonOf(error) }
  }
}

function readBody(reader: CborReader) {
  let inputs: Outref[] | undefined
  let outputs: Uint8Array[] | undefined
  let fee: bigint | undefined
  let referenceInputs: Outref[] = []
  let assets: ReadonlyMap<string, bigint> = new Map()
  let auxiliaryDataHash: Uint8Array | undefined
  readMapOf(
    reader,
    (key) => key.readUint(),
    (item, key) => {
      if (key === 0) inputs = readTaggedList(item, readOutref)
      else if (key === 1) outputs = readTaggedList(item, readOutput)
      else if (key === 2) fee = item.readUint64()
      else if (key === 7) auxiliaryDataHash = item.readBytesOf(32)
      else if (key === 9) assets = readAssets(item)
      else if (key === 18) referenceInputs = readTaggedList(item, readOutref)
      else item.skip()
    },
  )
  reader.assertEnd()
  if (inputs === undefined || outputs === undefined || fee === undefined)
    throw reader.error('CBOR_MISSING_FIELD', 'no inputs, no outputs or no fee')
  return { inputs, outputs, fee, referenceInputs, mint: { lovelace: 0n, assets }, auxiliaryDataHash }
}

function readOutref(reader: CborReader): Outref {
  const start = reader.position
  const count = reader.readArray()
  const id = reader.readBytesOf(32)
  const index = reader.readUint(maxOutputIndex)
  reader.leaveArray(count, 2, start)
  return outref(id, index)
}

function readOutput(reader: CborReader): Uint8Array {
  const start = reader.position
  outputValue(reader)
  return reader.since(start)
}

/** The bytes after the witness set: `true`, and the auxiliary data that the body has the hash of. */
function faultOfFrame(rest: Uint8Array, auxiliaryDataHash: Uint8Array | undefined): string | undefined {
  if (rest[0] !== isTrue) return 'it is not marked as valid'
  const isFixed =
    auxiliaryDataHash === undefined
      ? rest.length === 2 && rest[1] === isNull
      : equalBytes(blake2b256(rest.subarray(1)), auxiliaryDataHash)
  return isFixed ? undefined : 'its auxiliary data are not those that its body has the hash of'
}

/** @throws what is no decoding error */
export function reasonOf(error: unknown): string {
  if (isDecodeError(error)) return error.message
  throw error
}
