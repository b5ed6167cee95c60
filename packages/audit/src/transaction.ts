import {
  CborReader,
  CborWriter,
  equalBytes,
  isDecodeError,
  nonEmpty,
  readList,
  readMapOf,
  readRecord,
  readSet,
  toHex,
} from '@ratatosk/cbor'
import { type Demand, distinct, ledgerReader } from './grammar/items.js'
import {
  ada,
  isOfScript,
  type OutputValue,
  readAccount,
  readMint,
  readOutput,
  Sum,
  textOf,
  valueOfOutput,
} from './grammar/output.js'
import { auxiliaryData, witnessSet as witnesses } from './grammar/witnesses.js'
import { blake2b256 } from './header.js'

interface Outref {
  /** CBOR in its shortest form: the key of the maps that headers commit to. */
  readonly cbor: Uint8Array
  /** 64 hex digits, `#`, the index. */
  readonly key: string
}

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
  let bodyEnd: number
  try {
    reader.skip()
    bodyEnd = reader.position
    reader.skip()
  } catch (error) {
    return whole(reasonOf(error))
  }
  const body = cbor.subarray(1, bodyEnd)
  const witnessSet = cbor.subarray(bodyEnd, reader.position)
  const rest = cbor.subarray(reader.position)
  const parts = { id: blake2b256(body), body, witnessSet, rest }
  const faults: string[] = []
  try {
    const { auxiliaryDataHash, ...fields } = readBody(ledgerReader(body), faults)
    const fault = faults[0] ?? faultOf(witnessSet, witnesses) ?? faultOfFrame(rest, auxiliaryDataHash)
    return { ...parts, ...fields, ...(fault !== undefined && { fault }) }
  } catch (error) {
    return { ...nothing, ...parts, fault: reasonOf(error) }
  }
}

/** How a transaction makes or destroys value; undefined if it does not. @param spent CBOR of its inputs */
export function imbalanceOf({ outputs, mint, fee }: AuditedTransaction, spent: readonly Uint8Array[]) {
  const balance = new Sum().add(mint).add(ada(fee), -1n)
  for (const output of spent) balance.add(valueOfOutput(output))
  for (const output of outputs) balance.add(valueOfOutput(output), -1n)
  if (balance.isZero) return undefined
  return {
    expected: 'inputs and mint equal outputs and fee',
    found: `a difference of ${textOf(balance)}`,
  }
}

/** Why bytes are not what a grammar demands; undefined if they are. */
function faultOf(cbor: Uint8Array, demand: Demand): string | undefined {
  const reader = ledgerReader(cbor)
  try {
    demand(reader)
    reader.assertEnd()
    return undefined
  } catch (error) {
    return reasonOf(error)
  }
}

/** The fields that need stake or governance, by number: layer 2 has neither, so they are not read further. */
const unsupported = new Map([
  [4, 'certificates'],
  [19, 'votes'],
  [20, 'proposals'],
  [21, 'a value of the treasury'],
  [22, 'a donation'],
])

/** Demands of the fields of which nothing is kept. */
const demands: Readonly<Record<number, Demand>> = {
  3: (reader) => void reader.readUint64(),
  8: (reader) => void reader.readUint64(),
  11: (reader) => void reader.readBytesOf(32),
  13: distinct((reader) => readOutref(reader).key),
  14: distinct((reader) => toHex(reader.readBytesOf(28))),
  15: (reader) => void reader.readUint(1),
  17: (reader) => void reader.readUint64(),
}

/** @param faults of a transaction that the ledger decodes, and layer 2 does not support, are added to it */
function readBody(reader: CborReader, faults: string[]) {
  let inputs: readonly Outref[] | undefined
  let outputs: readonly Uint8Array[] | undefined
  let fee: bigint | undefined
  let referenceInputs: readonly Outref[] = []
  let assets: ReadonlyMap<string, bigint> = new Map()
  let auxiliaryDataHash: Uint8Array | undefined
  const one = (item: CborReader) => readOutputBytes(item, faults)
  readMapOf(
    reader,
    (key) => key.readUint(),
    (item, key) => {
      const demand = demands[key]
      if (key === 0) inputs = readOutrefs(item)
      else if (key === 1) outputs = readList(item, one)
      else if (key === 2) fee = item.readUint64()
      else if (key === 5) readWithdrawals(item, faults)
      else if (key === 7) auxiliaryDataHash = item.readBytesOf(32)
      else if (key === 9) assets = readMint(item)
      else if (key === 16) one(item)
      else if (key === 18) referenceInputs = nonEmpty(item, item.position, readOutrefs(item))
      else if (demand !== undefined) demand(item)
      else if (unsupported.has(key)) {
        faults.push(`it has ${unsupported.get(key)}, which layer 2 does not support`)
        item.skip()
      } else throw item.error('CBOR_UNKNOWN_FIELD', `unknown field ${key}`)
    },
  )
  reader.assertEnd()
  if (inputs === undefined || outputs === undefined || fee === undefined)
    throw reader.error('CBOR_MISSING_FIELD', 'no inputs, no outputs or no fee')
  return { inputs, outputs, fee, referenceInputs, mint: { lovelace: 0n, assets }, auxiliaryDataHash }
}

const readOutrefs = (reader: CborReader): readonly Outref[] => readSet(reader, readOutref, ({ key }) => key)

/** Reads a reference. @throws DecodeError */
export function readOutref(reader: CborReader): Outref {
  return readRecord(reader, 2, (pair) => outref(pair.readBytesOf(32), pair.readUint(maxOutputIndex)))
}

function readOutputBytes(reader: CborReader, faults: string[]): Uint8Array {
  const start = reader.position
  if (readOutput(reader).isByron) faults.push('it pays to an address of the Byron era')
  return reader.since(start)
}

/** A script may withdraw nothing, so that it sees the transaction. */
function readWithdrawals(reader: CborReader, faults: string[]): void {
  const start = reader.position
  let isObserved = true
  const accounts = readMapOf(
    reader,
    (item) => {
      const account = readAccount(item)
      isObserved &&= isOfScript(account)
      return toHex(account)
    },
    (item) => {
      isObserved = item.readUint64() === 0n && isObserved
    },
  )
  nonEmpty(reader, start, accounts)
  if (!isObserved) faults.push('it withdraws rewards, which layer 2 does not have')
}

/** The bytes after the witness set: `true`, and the auxiliary data that the body has the hash of. */
function faultOfFrame(rest: Uint8Array, auxiliaryDataHash: Uint8Array | undefined): string | undefined {
  if (rest[0] !== isTrue) return 'it is not marked as valid'
  const data = rest.subarray(1)
  const isFixed =
    auxiliaryDataHash === undefined
      ? data.length === 1 && data[0] === isNull
      : equalBytes(blake2b256(data), auxiliaryDataHash)
  if (!isFixed) return 'its auxiliary data are not those that its body has the hash of'
  return auxiliaryDataHash && faultOf(data, auxiliaryData)
}

/** @throws what is no decoding error */
export function reasonOf(error: unknown): string {
  if (isDecodeError(error)) return error.message
  throw error
}
