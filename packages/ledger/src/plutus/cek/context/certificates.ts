import { CborReader } from '@ratatosk/cbor'
import type { Certificate } from '../../../transaction/types.js'
import { bytesData, constructorData, type DataValue, integerData } from '../values/data.js'
import { bytesOf, type CborItem, integerOf, itemsIn, readItem } from './item.js'
import { maybe, nothing, UntranslatableError } from './parts.js'

type Fields = readonly CborItem[]

function fieldsOf({ bytes }: Certificate): { readonly number: number; readonly fields: Fields } {
  const [number, ...fields] = itemsIn(readItem(new CborReader(bytes)))
  return { number: Number(integerOf(number)), fields }
}

/** `[0, key hash]` or `[1, script hash]`. */
function credential(item: CborItem | undefined): DataValue {
  const [kind, hash] = itemsIn(item)
  return constructorData(Number(integerOf(kind)), [bytesData(bytesOf(hash))])
}

function staking(item: CborItem | undefined): DataValue {
  return constructorData(0, [credential(item)])
}

function hash(item: CborItem | undefined): DataValue {
  return bytesData(bytesOf(item))
}

function integer(item: CborItem | undefined): DataValue {
  return integerData(integerOf(item))
}

/** A certificate for Plutus V1 and V2, whose `DCert` cannot represent the certificates of Conway. */
export function certificateDataV1(certificate: Certificate): DataValue {
  const { number, fields } = fieldsOf(certificate)
  const [first, second] = fields
  switch (number) {
    case 0:
    case 7:
      return constructorData(0, [staking(first)])
    case 1:
    case 8:
      return constructorData(1, [staking(first)])
    case 2:
      return constructorData(2, [staking(first), hash(second)])
    case 3:
      return constructorData(3, [hash(first), hash(second)])
    case 4:
      return constructorData(4, [hash(first), integer(second)])
    default:
      throw new UntranslatableError(`Plutus V1 and V2 cannot represent ${certificate.kind}`)
  }
}

/** `[0 | 1, hash]`, or 2 for abstain, 3 for no confidence. */
function representative(item: CborItem | undefined): DataValue {
  const [kind] = itemsIn(item)
  const number = Number(integerOf(kind))
  return number < 2 ? constructorData(0, [credential(item)]) : constructorData(number - 1)
}

function delegationOfStake(pool: CborItem | undefined): DataValue {
  return constructorData(0, [hash(pool)])
}

function delegationOfVote(drep: CborItem | undefined): DataValue {
  return constructorData(1, [representative(drep)])
}

function delegationOfBoth(pool: CborItem | undefined, drep: CborItem | undefined): DataValue {
  return constructorData(2, [hash(pool), representative(drep)])
}

/** A certificate for Plutus V3. Ledger version 9 omits declared deposits. */
export function certificateDataV3(certificate: Certificate, protocolMajor: number): DataValue {
  const { number, fields } = fieldsOf(certificate)
  const [first, second, third, fourth] = fields
  const deposit = (item: CborItem | undefined): DataValue =>
    maybe(protocolMajor > 9 ? integer(item) : undefined)
  switch (number) {
    case 0:
      return constructorData(0, [credential(first), nothing])
    case 1:
      return constructorData(1, [credential(first), nothing])
    case 2:
      return constructorData(2, [credential(first), delegationOfStake(second)])
    case 3:
      return constructorData(7, [hash(first), hash(second)])
    case 4:
      return constructorData(8, [hash(first), integer(second)])
    case 7:
      return constructorData(0, [credential(first), deposit(second)])
    case 8:
      return constructorData(1, [credential(first), deposit(second)])
    case 9:
      return constructorData(2, [credential(first), delegationOfVote(second)])
    case 10:
      return constructorData(2, [credential(first), delegationOfBoth(second, third)])
    case 11:
      return constructorData(3, [credential(first), delegationOfStake(second), integer(third)])
    case 12:
      return constructorData(3, [credential(first), delegationOfVote(second), integer(third)])
    case 13:
      return constructorData(3, [credential(first), delegationOfBoth(second, third), integer(fourth)])
    case 14:
      return constructorData(9, [credential(first), credential(second)])
    case 15:
      return constructorData(10, [credential(first)])
    case 16:
      return constructorData(4, [credential(first), integer(second)])
    case 17:
      return constructorData(6, [credential(first), integer(second)])
    case 18:
      return constructorData(5, [credential(first)])
    default:
      throw new UntranslatableError(`Plutus V3 cannot represent ${certificate.kind}`)
  }
}
