import {
  CborReader,
  CborWriter,
  fromHex,
  isShortMap,
  readList,
  readRecord,
  readTaggedList,
  toHex,
} from '@ratatosk/cbor'
import {
  blake2b256,
  byReference,
  decodeBech32Address,
  layer1Limits,
  type OutputReference,
  outputReferenceKey,
  type ProtocolParameters,
  type RedeemerPurpose,
  type Script,
  type SlotConfig,
  scriptHash,
  splitUnit,
  type Utxo,
  type Value,
} from '@ratatosk/ledger'
import type { ScriptContent } from '@ratatosk/ledger/builder'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { arrayOf, integerOf, isObject, reading, textOf } from '../http/json.js'
import type { EvaluatedRedeemer, Spending, Tip, TransactionStatus, UtxosAsOf } from '../types.js'

/** The part of a {@link Layer1} that differs between providers; `createLayer1` adds the rest. */
export interface Provider {
  readonly name: string
  readonly networkId: 0 | 1
  /** Absent: the caller chose the chain. */
  readonly network?: RequiredNetwork
  /** Milliseconds between two polls for a transaction. */
  readonly pollMs: number

  /** @param policy only outputs that hold an asset of it */
  utxosAt(address: string, policy: string | undefined, signal: AbortSignal): Promise<readonly Utxo[]>
  utxosAsOf(address: string, policy: string | undefined, signal: AbortSignal): Promise<UtxosAsOf>
  utxosByUnit(unit: string, signal: AbortSignal): Promise<readonly Utxo[]>
  utxosByPolicy(policyId: string, signal: AbortSignal): Promise<readonly Utxo[]>
  utxosByReferences(references: readonly OutputReference[], signal: AbortSignal): Promise<readonly Utxo[]>
  spending(reference: OutputReference, signal: AbortSignal): Promise<Spending | undefined>
  parameters(signal: AbortSignal): Promise<ProtocolParameters>
  tip(signal: AbortSignal): Promise<Tip>
  slots(signal: AbortSignal): Promise<SlotConfig>
  /** Default: computed from the machine's clock. */
  currentSlot?(signal: AbortSignal): Promise<bigint>
  /** One attempt; resolves to the transaction id as the provider gives it. */
  send(cbor: Uint8Array, signal: AbortSignal): Promise<string>
  status(transactionId: string, signal: AbortSignal): Promise<TransactionStatus>
  evaluate(cbor: Uint8Array, signal: AbortSignal): Promise<readonly EvaluatedRedeemer[]>
}

/** The network that a server must serve. */
interface RequiredNetwork {
  readonly server: string
  readonly magic: number
  servedMagic(signal: AbortSignal): Promise<number>
}

const mainnetMagic = 764824073
/** Requests at a time for parts of one answer. */
export const maxConcurrent = 5

export const networkIdOf = (magic: number): 0 | 1 => (magic === mainnetMagic ? 1 : 0)

/**
 * Reads outputs by the transactions that made them.
 *
 * @param outputsOf the unspent outputs of a transaction with these indexes: others are not read, since anyone
 *   may have made one that cannot be
 */
export async function utxosOf(
  references: readonly OutputReference[],
  outputsOf: (transactionId: string, indexes: ReadonlySet<number>) => Promise<readonly Utxo[]>,
): Promise<Utxo[]> {
  const wanted = new Map<string, Set<number>>()
  for (const { transactionId, index } of references) {
    const id = toHex(transactionId)
    wanted.set(id, (wanted.get(id) ?? new Set()).add(index))
  }
  const found = await pLimit(maxConcurrent).map([...wanted], ([id, indexes]) => outputsOf(id, indexes))
  return found.flat()
}

/** Takes note of an output that a read leaves out. */
export type LeaveOut = (reference: string, reason: string) => void

/** How a provider reports outputs that it leaves out. */
export interface ReadLog {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
}

const maxReported = 1000

/** Reports each output once. Anyone can send such an output, which must not hide others. */
export function createLeaveOut(provider: string, log: ReadLog = processLog): LeaveOut {
  const reported = new LRUCache<string, true>({ max: maxReported })
  return (reference, reason) => {
    if (reported.has(reference)) return
    reported.set(reference, true)
    log.warn({ provider, reference, reason }, 'An output of layer 1 cannot be read and is left out')
  }
}

/**
 * Reads an output. One that the caller has asked for by its asset or reference has to decode; another that
 * does not is left out.
 *
 * @param what for the error, such as `an output`
 * @throws {Layer1Error} `LAYER1_INVALID_ANSWER`
 */
export function readOrLeaveOut(
  { provider, what, key }: { readonly provider: string; readonly what: string; readonly key: string },
  isNamed: boolean,
  leaveOut: LeaveOut,
  read: () => Utxo,
): Utxo | undefined {
  if (isNamed) return reading(provider, what, read)
  try {
    return read()
  } catch (error) {
    leaveOut(key, String(error))
    return undefined
  }
}

const processLog: ReadLog = {
  warn({ provider, reference, reason }, message) {
    process.emitWarning(`${message}: ${reference} by ${provider}: ${reason}`)
  },
}

/** The names of redeemer purposes in Ogmios 5 and 6. */
const purposes: Readonly<Record<string, RedeemerPurpose>> = {
  spend: 'spend',
  mint: 'mint',
  certificate: 'cert',
  publish: 'cert',
  withdrawal: 'reward',
  withdraw: 'reward',
  vote: 'vote',
  propose: 'propose',
}

/** @throws TypeError on an unknown name */
export function purposeOf(name: unknown): RedeemerPurpose {
  const purpose = typeof name === 'string' && Object.hasOwn(purposes, name) ? purposes[name] : undefined
  if (purpose === undefined) throw new TypeError('a redeemer of unknown purpose')
  return purpose
}

const maxReasonLength = 2000

/** A provider's error text, bounded in length, without URLs and without the given secrets. */
export function cleanReason(words: string, secrets: readonly string[] = []): string {
  const text = secrets.reduce(
    (clean, secret) => (secret === '' ? clean : clean.replaceAll(secret, '…')),
    words,
  )
  return text.replace(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>\\]+/gi, '…').slice(0, maxReasonLength)
}

/**
 * The spending of an output by a transaction.
 *
 * @param outputAt undefined for outputs that cannot be read; they hide no other
 */
export function spendingBy(
  { id, inputs, redeemers, ...read }: SpendingParts,
  reference: OutputReference,
  outputAt: (reference: OutputReference) => Utxo['output'] | undefined,
): Spending {
  const key = outputReferenceKey(reference)
  const place = [...inputs].sort(byReference).findIndex((each) => outputReferenceKey(each) === key)
  const redeemer = redeemers.get(place)
  const referenceInputs = [...read.referenceInputs].sort(byReference).map((each) => {
    const output = outputAt(each)
    return output && { reference: each, output }
  })
  return { transactionId: id, ...(redeemer && { redeemer }), referenceInputs }
}

/** Remembers the newest `size` values that never change, such as a script by its hash. */
export function createMemo<T extends NonNullable<unknown>>(
  size: number,
): (key: string, load: () => Promise<T>) => Promise<T> {
  const values = new LRUCache<string, T>({ max: size })
  return async (key, load) => {
    const known = values.get(key)
    if (known !== undefined) return known
    const value = await load()
    values.set(key, value)
    return value
  }
}

/** Remembers one value for some milliseconds. */
export function createBriefMemo<T extends NonNullable<unknown>>(
  milliseconds: number,
): (load: () => Promise<T>) => Promise<T> {
  const values = new LRUCache<'value', T>({ max: 1, ttl: milliseconds })
  return async (load) => {
    const known = values.get('value')
    if (known !== undefined) return known
    const value = await load()
    values.set('value', value)
    return value
  }
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Longer than any Byron address; decoding base58 takes quadratic time. */
const maxBase58 = 1024

/** The bytes of an address in bech32 or base58 (Byron). @throws RangeError or AddressError on other text */
export function addressBytes(text: string): Uint8Array {
  if (/^addr/.test(text)) return decodeBech32Address(text).bytes
  if (text.length > maxBase58) throw new RangeError('no address')
  let value = 0n
  for (const character of text) {
    const digit = alphabet.indexOf(character)
    if (digit < 0) throw new RangeError('no address')
    value = value * 58n + BigInt(digit)
  }
  const hex = value.toString(16)
  return fromHex(hex.length % 2 === 0 ? hex : `0${hex}`)
}

/** Builds a value from quantities by unit (policy id and asset name in hex, joined). */
export function valueOfUnits(
  lovelace: bigint,
  quantities: Iterable<readonly [unit: string, quantity: bigint]>,
): Value {
  const assets = new Map<string, Map<string, bigint>>()
  for (const [unit, quantity] of quantities) {
    const { policy, name } = splitUnit(unit)
    const names = assets.get(policy) ?? new Map<string, bigint>()
    assets.set(policy, names.set(name, quantity))
  }
  return { lovelace, assets }
}

/** The script with a hash, with or without its inner byte string. @throws RangeError if none matches */
export function scriptOf(language: Script['language'], bytes: Uint8Array, hash: string): ScriptContent {
  const forms = [bytes]
  if (language !== 'native') {
    forms.push(new CborWriter(bytes.length + 5).bytes(bytes).toBytes())
    const inner = byteString(bytes)
    if (inner) forms.push(inner)
  }
  const found = forms.find((form) => toHex(scriptHash(language, form)) === hash)
  if (found === undefined) throw new RangeError('a script of another hash')
  return { language, bytes: found }
}

/** The content of a CBOR byte string, or undefined if the bytes are not one. */
function byteString(bytes: Uint8Array): Uint8Array | undefined {
  const initial = bytes[0] ?? 0
  const width = [0x58, 0x59, 0x5a].indexOf(initial)
  if (width >= 0) return bytes.subarray(1 + 2 ** width)
  return initial >= 0x40 && initial < 0x58 ? bytes.subarray(1) : undefined
}

/** The CBOR of a native script from cardano-cli's JSON, which Blockfrost uses. It may have any depth. */
export function nativeScriptBytes(json: unknown): Uint8Array {
  const writer = new CborWriter()
  // Those that are still to be written, the next one last.
  const scripts = [json]
  while (scripts.length > 0) {
    const parts = writeNativeHead(writer, scripts.pop())
    if (parts === undefined) continue
    writer.array(parts.length)
    for (let index = parts.length - 1; index >= 0; index--) scripts.push(parts[index])
  }
  return writer.toBytes()
}

/** Writes a native script up to its list, and returns the list. */
function writeNativeHead(writer: CborWriter, json: unknown): readonly unknown[] | undefined {
  if (!isObject(json)) throw new TypeError('no native script')
  switch (json.type) {
    case 'sig':
      writer
        .array(2)
        .uint(0)
        .bytes(fromHex(textOf(json.keyHash)))
      return undefined
    case 'all':
    case 'any':
      writer.array(2).uint(json.type === 'all' ? 1 : 2)
      return arrayOf(json.scripts)
    case 'atLeast':
      writer.array(3).uint(3).int(integerOf(json.required))
      return arrayOf(json.scripts)
    case 'after':
    case 'before':
      writer
        .array(2)
        .uint(json.type === 'after' ? 4 : 5)
        .uint(integerOf(json.slot))
      return undefined
    default:
      throw new TypeError('no native script')
  }
}

/** The parts of a transaction that say what it spends, and by which redeemers. */
interface SpendingParts {
  /** 32 bytes. */
  readonly id: Uint8Array
  readonly inputs: readonly OutputReference[]
  readonly referenceInputs: readonly OutputReference[]
  /** By the place among the sorted inputs; Plutus data CBOR. The last one counts. */
  readonly redeemers: ReadonlyMap<number, Uint8Array>
}

const bodyFields = { inputs: 0, referenceInputs: 18 } as const
const redeemersField = 5
const spendPurpose = 0

/**
 * Reads these parts of a transaction that layer 1 has included. Nothing else of it is decoded: no other part
 * can hide them.
 *
 * @throws {DecodeError} if the bytes are no transaction
 */
export function spendingPartsOf(cbor: Uint8Array): SpendingParts {
  const reader = new CborReader(cbor, 0, cbor.length, layer1Limits)
  reader.readArray()
  const start = reader.position
  const references = new Map<number, readonly OutputReference[]>()
  readFields(reader, Object.values(bodyFields), (key) => {
    references.set(key, readTaggedList(reader, readReference))
  })
  const id = blake2b256(reader.since(start))
  const redeemers = new Map<number, Uint8Array>()
  readFields(reader, [redeemersField], () => {
    for (const { purpose, place, data } of readRedeemers(reader))
      if (purpose === spendPurpose) redeemers.set(place, data)
  })
  const { inputs, referenceInputs } = bodyFields
  return {
    id,
    inputs: references.get(inputs) ?? [],
    referenceInputs: references.get(referenceInputs) ?? [],
    redeemers,
  }
}

/** Reads some fields of a map with small numbers as keys, and skips the others. */
function readFields(reader: CborReader, keys: readonly number[], read: (key: number) => void): void {
  const count = reader.readMap()
  for (let index = 0; reader.hasNext(count, index); index++) {
    const key = reader.readUint()
    if (keys.includes(key)) read(key)
    else reader.skip()
  }
}

const readReference = (reader: CborReader): OutputReference =>
  readRecord(reader, 2, (inner) => ({ transactionId: inner.readBytesOf(32), index: inner.readUint() }))

interface ShownRedeemer {
  readonly purpose: number
  readonly place: number
  readonly data: Uint8Array
}

/** In the form of a list, or of a map since Conway. */
function readRedeemers(reader: CborReader): readonly ShownRedeemer[] {
  if (!isShortMap(reader))
    return readList(reader, (item) =>
      readRecord(item, 4, (inner) => ({ ...pointer(inner), ...content(inner) })),
    )
  const count = reader.readMap()
  const redeemers: ShownRedeemer[] = []
  while (reader.hasNext(count, redeemers.length)) {
    const key = readRecord(reader, 2, pointer)
    redeemers.push({ ...key, ...readRecord(reader, 2, content) })
  }
  return redeemers
}

const pointer = (reader: CborReader): Pick<ShownRedeemer, 'purpose' | 'place'> => ({
  purpose: reader.readUint(),
  place: reader.readUint(),
})

function content(reader: CborReader): Pick<ShownRedeemer, 'data'> {
  const start = reader.position
  reader.skip()
  const data = reader.since(start)
  reader.skip()
  return { data }
}
