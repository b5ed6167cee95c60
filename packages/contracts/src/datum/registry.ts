import { MalformedData } from '../errors.js'
import {
  RegistryAction as Action,
  ActiveOperator as Active,
  hashLength,
  Registry,
  RetiredOperator as Retired,
} from '../layout.js'
import { bytesOf, constrOf, fieldsOf, integerOf, listOf } from './fields.js'
import { constr, decodePlutusData, encodePlutusData } from './plutus-data.js'
import type { SlashingApproach } from './state-queue.js'

export interface ActiveOperator {
  /** Blake2b-224 of the verification key. */
  readonly vkey: Uint8Array
  /** Lovelace. */
  readonly bond: bigint
}

export interface RetiredOperator extends ActiveOperator {
  /** POSIX milliseconds; from then on the bond may be taken. */
  readonly releaseTime: bigint
}

/** The datum of the operator registry. Turns go round in the order of `active`. */
export interface RegistryDatum {
  readonly active: readonly ActiveOperator[]
  readonly retired: readonly RetiredOperator[]
}

/** The redeemer of the registry's script, for minting and spending alike. */
export type RegistryAction =
  | { readonly kind: 'init' | 'deinit' }
  | { readonly kind: 'register' | 'retire' | 'release'; readonly operator: Uint8Array }
  | { readonly kind: 'slash'; readonly operator: Uint8Array; readonly approach: SlashingApproach }

const approaches: readonly SlashingApproach[] = ['active', 'retired', 'already-slashed']

export function encodeRegistryDatum({ active, retired }: RegistryDatum): Uint8Array {
  return encodePlutusData(
    constr(
      0,
      active.map(({ vkey, bond }) => constr(0, vkey, bond)),
      retired.map(({ vkey, bond, releaseTime }) => constr(0, vkey, bond, releaseTime)),
    ),
  )
}

/** @throws {MalformedData} */
export function decodeRegistryDatum(cbor: Uint8Array): RegistryDatum {
  const fields = fieldsOf(decodePlutusData(cbor), 0, 2, 'registry datum')
  return {
    active: listOf(fields[Registry.active], 'active operators').map((entry) => {
      const parts = fieldsOf(entry, 0, 2, 'active operator')
      return {
        vkey: bytesOf(parts[Active.vkey], hashLength, 'vkey'),
        bond: integerOf(parts[Active.bond], 'bond'),
      }
    }),
    retired: listOf(fields[Registry.retired], 'retired operators').map((entry) => {
      const parts = fieldsOf(entry, 0, 3, 'retired operator')
      return {
        vkey: bytesOf(parts[Retired.vkey], hashLength, 'vkey'),
        bond: integerOf(parts[Retired.bond], 'bond'),
        releaseTime: integerOf(parts[Retired.releaseTime], 'releaseTime'),
      }
    }),
  }
}

export function encodeRegistryAction(action: RegistryAction): Uint8Array {
  const index = Action[action.kind]
  switch (action.kind) {
    case 'init':
    case 'deinit':
      return encodePlutusData(constr(index))
    case 'slash':
      return encodePlutusData(constr(index, action.operator, constr(approaches.indexOf(action.approach))))
    default:
      return encodePlutusData(constr(index, action.operator))
  }
}

/** @throws {MalformedData} */
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
  }
  const approach = index === Action.slash ? approaches[constrOf(fields[1], 'approach').index] : undefined
  if (approach === undefined || fields.length !== 2)
    throw new MalformedData('registry action: none of its kinds')
  return { kind: 'slash', operator: operator(), approach }
}

/** The asset name of the registry's token: `<protocol>_OPERATORS`. */
export const registryTokenName = (protocol: string): Uint8Array =>
  new TextEncoder().encode(`${protocol}_OPERATORS`)

/**
 * The operator whose turn a moment is in; undefined where there is none.
 *
 * @param time POSIX milliseconds
 * @param turnLength milliseconds
 */
export function operatorInTurn(
  { active }: RegistryDatum,
  time: bigint,
  turnLength: bigint,
): ActiveOperator | undefined {
  return active.length === 0 ? undefined : active[Number((time / turnLength) % BigInt(active.length))]
}

/** When the turn ends that a moment is in, in POSIX milliseconds: no block committed then may end later. */
export const endOfTurn = (time: bigint, turnLength: bigint): bigint => (time / turnLength + 1n) * turnLength
