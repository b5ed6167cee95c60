import { hashLength } from '@ratatosk/block'
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
import { RegistryAction as Action, Approach, Operator, Registry } from '../layout.js'
import { approachFromData, type SlashingApproach } from './state-queue.js'

/** An operator in the registry. */
export interface RegisteredOperator {
  /** Blake2b-224 of the verification key, 28 bytes. */
  readonly vkey: Uint8Array
  /** Lovelace deposited with the registry. */
  readonly bond: bigint
  /** POSIX milliseconds, the start of a turn: the operator counts in the turns from then on. */
  readonly activeFrom: bigint
  /**
   * POSIX milliseconds, the start of a turn: the operator counts in the turns before. Absent until the
   * operator retires. The bond may be withdrawn `releaseDelay` later.
   */
  readonly activeUntil?: bigint
}

/** The datum of the operator registry. */
export interface RegistryDatum {
  /** In the order of their turns. */
  readonly operators: readonly RegisteredOperator[]
  /** Policy of the state queue whose removals slash operators, 28 bytes. It never changes. */
  readonly queue: Uint8Array
  /** Whether that queue runs: its root exists. */
  readonly running: boolean
}

/**
 * The redeemer of the registry's script, for minting and spending. `set-queue` notes that the queue starts or
 * ends; `slash` goes with the queue's `remove` of the same approach.
 */
export type RegistryAction =
  | { readonly kind: 'init' | 'deinit' }
  | { readonly kind: 'register' | 'retire' | 'release'; readonly operator: Uint8Array }
  | { readonly kind: 'set-queue'; readonly running: boolean }
  | { readonly kind: 'slash'; readonly operator: Uint8Array; readonly approach: SlashingApproach }

/** The CBOR of the registry's datum, as `serialiseData` writes it. */
export function encodeRegistryDatum({ operators, queue, running }: RegistryDatum): Uint8Array {
  const entries = operators.map(({ vkey, bond, activeFrom, activeUntil }) =>
    constr(0, vkey, bond, activeFrom, optionToData(activeUntil)),
  )
  return encodePlutusData(constr(0, entries, queue, booleanToData(running)))
}

/**
 * Decodes the registry's datum.
 *
 * @throws {PlutusDataError} if the bytes are not a {@link RegistryDatum}
 */
export function decodeRegistryDatum(cbor: Uint8Array): RegistryDatum {
  const fields = fieldsOf(decodePlutusData(cbor), 0, Registry.size, 'registry datum')
  return {
    operators: listOf(fields[Registry.operators], 'operators').map((entry) => {
      const parts = fieldsOf(entry, 0, 4, 'operator')
      const activeUntil = optionFromData(parts[Operator.activeUntil], 'activeUntil')
      return {
        vkey: bytesOf(parts[Operator.vkey], hashLength, 'vkey'),
        bond: integerOf(parts[Operator.bond], 'bond'),
        activeFrom: integerOf(parts[Operator.activeFrom], 'activeFrom'),
        ...(activeUntil !== undefined && { activeUntil: integerOf(activeUntil, 'activeUntil') }),
      }
    }),
    queue: bytesOf(fields[Registry.queue], hashLength, 'queue'),
    running: booleanFromData(fields[Registry.running], 'running'),
  }
}

/** The CBOR of the registry's redeemer. */
export function encodeRegistryAction(action: RegistryAction): Uint8Array {
  const index = Action[action.kind]
  switch (action.kind) {
    case 'init':
    case 'deinit':
      return encodePlutusData(constr(index))
    case 'set-queue':
      return encodePlutusData(constr(index, booleanToData(action.running)))
    case 'slash':
      return encodePlutusData(constr(index, action.operator, constr(Approach[action.approach])))
    default:
      return encodePlutusData(constr(index, action.operator))
  }
}

/**
 * Decodes the registry's redeemer.
 *
 * @throws {PlutusDataError} if the bytes are not a {@link RegistryAction}
 */
export function decodeRegistryAction(cbor: Uint8Array): RegistryAction {
  const { index, fields } = constrOf(decodePlutusData(cbor), 'registry action')
  const operator = () => bytesOf(fields[0], hashLength, 'operator')
  if (fields.length === 0) {
    if (index === Action.init) return { kind: 'init' }
    if (index === Action.deinit) return { kind: 'deinit' }
  }
  if (fields.length === 1) {
    const kind = (['register', 'retire', 'release'] as const).find((name) => Action[name] === index)
    if (kind !== undefined) return { kind, operator: operator() }
    if (index === Action['set-queue'])
      return { kind: 'set-queue', running: booleanFromData(fields[0], 'running') }
  }
  if (index !== Action.slash || fields.length !== 2)
    throw new PlutusDataError(`registry action: unknown constructor ${index} with ${fields.length} fields`)
  const approach = approachFromData(fields[1])
  if (approach !== 'active' && approach !== 'retired')
    throw new PlutusDataError(`registry action: ${approach} does not slash`)
  return { kind: 'slash', operator: operator(), approach }
}

const optionToData = (value: PlutusData | undefined): PlutusData =>
  value === undefined ? constr(1) : constr(0, value)

function optionFromData(data: PlutusData | undefined, what: string): PlutusData | undefined {
  const { index, fields } = constrOf(data, what)
  if (index === 1 && fields.length === 0) return undefined
  if (index === 0 && fields.length === 1) return fields[0]
  throw new PlutusDataError(`${what}: expected Some(value) or None`)
}

const booleanToData = (value: boolean): PlutusData => constr(value ? 1 : 0)

function booleanFromData(data: PlutusData | undefined, what: string): boolean {
  const { index, fields } = constrOf(data, what)
  if (index > 1 || fields.length > 0) throw new PlutusDataError(`${what}: expected True or False`)
  return index === 1
}

/** Asset name of the registry's token: `<protocol>_OPERATORS`. */
export const registryTokenName = (protocol: string): Uint8Array =>
  new TextEncoder().encode(`${protocol}_OPERATORS`)

/**
 * The operators who count in the turn that a time is in, in the order of their turns.
 *
 * @param time POSIX milliseconds
 * @param turnLength milliseconds
 */
export function countingOperators(
  { operators }: RegistryDatum,
  time: bigint,
  turnLength: bigint,
): readonly RegisteredOperator[] {
  const start = (time / turnLength) * turnLength
  return operators.filter(
    ({ activeFrom, activeUntil }) =>
      activeFrom <= start && (activeUntil === undefined || start < activeUntil),
  )
}

/** The operator in turn at a time; undefined if no operator counts in that turn. Parameters as above. */
export function operatorInTurn(
  datum: RegistryDatum,
  time: bigint,
  turnLength: bigint,
): RegisteredOperator | undefined {
  const counting = countingOperators(datum, time, turnLength)
  return counting.length === 0 ? undefined : counting[Number((time / turnLength) % BigInt(counting.length))]
}

/**
 * The end of the turn that a time is in. A block committed at that time must not end later.
 *
 * @param time POSIX milliseconds
 * @param turnLength milliseconds
 * @returns POSIX milliseconds
 */
export const endOfTurn = (time: bigint, turnLength: bigint): bigint => (time / turnLength + 1n) * turnLength

/**
 * When registering or retiring an operator takes effect: while the queue runs, at the start of the turn after
 * next, so that the turn in progress and the next keep their operators; otherwise at the start of the turn of
 * `validFrom`.
 *
 * @param validFrom lower validity bound of the transaction in POSIX milliseconds
 * @param validTo upper validity bound, exclusive
 * @param turnLength milliseconds
 * @returns POSIX milliseconds
 */
export const effectiveTime = (
  { running }: Pick<RegistryDatum, 'running'>,
  validFrom: bigint,
  validTo: bigint,
  turnLength: bigint,
): bigint => (running ? (validTo - 1n) / turnLength + 2n : validFrom / turnLength) * turnLength
