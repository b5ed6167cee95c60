import { toHex } from '@ratatosk/cbor'
import {
  byReference,
  type OutputReference,
  outputReferenceKey,
  type ProtocolParameters,
  type RedeemerPurpose,
  type SlotConfig,
  type Utxo,
} from '@ratatosk/ledger'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { reading } from '../http/json.js'
import type { EvaluatedRedeemer, Spending, Tip, TransactionStatus, UtxosAsOf } from '../types.js'
import type { SpendingParts } from './spending-parts.js'

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
