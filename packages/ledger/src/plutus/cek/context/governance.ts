import { CborReader, compareBytes, Major } from '@ratatosk/cbor'
import { readAddress } from '../../../address/address.js'
import type { Credential, RewardAddress } from '../../../address/types.js'
import { byAccount, byCredential } from '../../../rules/script-use.js'
import type { Certificate, ProposalProcedure, VotingProcedure } from '../../../transaction/types.js'
import { bytesData, constructorData, type DataValue, integerData, listData, mapData } from '../values/data.js'
import { credentialData, maybe, nothing, UntranslatableError } from './parts.js'

export function voterData({ role, credential }: VotingProcedure['voter']): DataValue {
  if (role === 'pool') return constructorData(2, [bytesData(credential.hash)])
  return constructorData(role === 'committee' ? 0 : 1, [credentialData(credential)])
}

/** The votes of one voter, sorted by action id; 0 is no, 1 is yes, 2 is abstain. */
export function votesData({ bytes }: VotingProcedure): DataValue {
  const votes = entriesIn(readItem(new CborReader(bytes))).map(([action, procedure]) => {
    const [transactionId, index] = itemsIn(action)
    const [vote] = itemsIn(procedure)
    return { id: bytesOf(transactionId), index: integerOf(index), vote: Number(integerOf(vote)) }
  })
  votes.sort((a, b) => compareBytes(a.id, b.id) || Number(a.index - b.index))
  return mapData(
    votes.map(({ id, index, vote }) => [
      constructorData(0, [bytesData(id), integerData(index)]),
      constructorData(vote),
    ]),
  )
}

export function proposalData({ bytes }: ProposalProcedure): DataValue {
  const [deposit, account, action] = itemsIn(readItem(new CborReader(bytes)))
  return constructorData(0, [
    integerData(integerOf(deposit)),
    credentialData(accountOf(account).stake),
    actionData(itemsIn(action)),
  ])
}

function actionData([number, ...fields]: readonly CborItem[]): DataValue {
  const [first, second, third, fourth] = fields
  switch (Number(integerOf(number))) {
    case 0:
      return constructorData(0, [actionId(first), parametersData(second), policy(third)])
    case 1:
      return constructorData(1, [
        actionId(first),
        constructorData(
          0,
          itemsIn(second).map((part) => integerData(integerOf(part))),
        ),
      ])
    case 2:
      return constructorData(2, [treasuryWithdrawals(first), policy(second)])
    case 3:
      return constructorData(3, [actionId(first)])
    case 4:
      return constructorData(4, [actionId(first), leaving(second), coming(third), ratio(fourth)])
    case 5:
      return constructorData(5, [actionId(first), constructorData(0, [policy(itemsIn(second)[1])])])
    case 6:
      return constructorData(6)
    default:
      throw new UntranslatableError(`Plutus V3 cannot represent governance action ${integerOf(number)}`)
  }
}

function accountOf(item: CborItem | undefined): RewardAddress {
  const address = readAddress(bytesOf(item), 0)
  if (address.kind !== 'reward') throw new UntranslatableError('An account is not a reward address')
  return address
}

function actionId(item: CborItem | undefined): DataValue {
  if (item === null) return maybe(undefined)
  const [transactionId, index] = itemsIn(item)
  return maybe(constructorData(0, [bytesData(bytesOf(transactionId)), integerData(integerOf(index))]))
}

function policy(item: CborItem | undefined): DataValue {
  return maybe(item === null || item === undefined ? undefined : bytesData(bytesOf(item)))
}

function treasuryWithdrawals(item: CborItem | undefined): DataValue {
  const withdrawals = entriesIn(item).map(([account, lovelace]) => {
    return { account: accountOf(account), lovelace: integerOf(lovelace) }
  })
  withdrawals.sort(byAccount)
  return mapData(
    withdrawals.map(({ account, lovelace }) => [credentialData(account.stake), integerData(lovelace)]),
  )
}

function credentialOf(item: CborItem): Credential {
  const [kind, hash] = itemsIn(item)
  return { kind: integerOf(kind) === 0n ? 'key' : 'script', hash: bytesOf(hash) }
}

function leaving(item: CborItem | undefined): DataValue {
  return listData(itemsIn(item).map(credentialOf).sort(byCredential).map(credentialData))
}

function coming(item: CborItem | undefined): DataValue {
  const members = entriesIn(item).map(([member, epoch]) => ({
    member: credentialOf(member),
    epoch: integerOf(epoch),
  }))
  members.sort((a, b) => byCredential(a.member, b.member))
  return mapData(members.map(({ member, epoch }) => [credentialData(member), integerData(epoch)]))
}

function ratio(item: CborItem | undefined): DataValue {
  return constructorData(0, fraction(item).map(integerData))
}

/** A fraction in lowest terms, as in the ledger. */
function fraction(item: CborItem | undefined): readonly [bigint, bigint] {
  const [first, second] = itemsIn(item)
  const [numerator, denominator] = [integerOf(first), integerOf(second)]
  let [greater, lesser] = [denominator, numerator]
  while (lesser !== 0n) [greater, lesser] = [lesser, greater % lesser]
  return [numerator / greater, denominator / greater]
}

const costModels = 18n

/** Changed parameters by number: integers, fractions and units as lists, cost models by language. */
function parametersData(item: CborItem | undefined): DataValue {
  const parameters = [...entriesIn(item)].sort(([a], [b]) => Number(integerOf(a) - integerOf(b)))
  return mapData(
    parameters.map(([key, value]) => {
      const number = integerOf(key)
      return [integerData(number), number === costModels ? costModelsData(value) : parameterData(value)]
    }),
  )
}

function parameterData(item: CborItem): DataValue {
  if (isList(item)) return listData(item.map(parameterData))
  if (isTagged(item)) return listData(fraction(item).map(integerData))
  return integerData(integerOf(item))
}

function costModelsData(item: CborItem): DataValue {
  const models = [...entriesIn(item)].sort(([a], [b]) => Number(integerOf(a) - integerOf(b)))
  return mapData(models.map(([language, costs]) => [integerData(integerOf(language)), parameterData(costs)]))
}

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

/** The CBOR of a part that was validated before. Only its structure is needed here. */
type CborItem = bigint | Uint8Array | string | null | boolean | readonly CborItem[] | MapItem | TaggedItem

interface MapItem {
  readonly entries: readonly (readonly [key: CborItem, value: CborItem])[]
}

interface TaggedItem {
  readonly tag: number
  readonly content: CborItem
}

function readItem(reader: CborReader): CborItem {
  switch (reader.peekMajor()) {
    case Major.unsigned:
    case Major.negative:
      return reader.readInt()
    case Major.bytes:
      return reader.readBytes()
    case Major.text:
      return reader.readText()
    case Major.array: {
      const count = reader.readArray()
      const items: CborItem[] = []
      while (reader.hasNext(count, items.length)) items.push(readItem(reader))
      return items
    }
    case Major.map: {
      const count = reader.readMap()
      const entries: [CborItem, CborItem][] = []
      while (reader.hasNext(count, entries.length)) entries.push([readItem(reader), readItem(reader)])
      return { entries }
    }
    case Major.tag: {
      if (reader.peek() === 0xc2 || reader.peek() === 0xc3) return reader.readInteger()
      const tag = reader.readTag()
      return { tag, content: readItem(reader) }
    }
    default:
      return reader.tryNull() ? null : reader.readBoolean()
  }
}

/** Thrown if a part lacks the structure that its decoder ensures: a defect here, never of a transaction. */
function unexpected(wanted: string): never {
  throw new TypeError(`A decoded part is not ${wanted}`)
}

function integerOf(item: CborItem | undefined): bigint {
  return typeof item === 'bigint' ? item : unexpected('an integer')
}

function bytesOf(item: CborItem | undefined): Uint8Array {
  return item instanceof Uint8Array ? item : unexpected('a byte string')
}

/** A list, or a set with its tag. */
function itemsIn(item: CborItem | undefined): readonly CborItem[] {
  if (isList(item)) return item
  if (isTagged(item)) return itemsIn(item.content)
  return unexpected('a list')
}

function entriesIn(item: CborItem | undefined): MapItem['entries'] {
  return item !== null &&
    typeof item === 'object' &&
    'entries' in item &&
    !isList(item) &&
    !(item instanceof Uint8Array)
    ? item.entries
    : unexpected('a map')
}

function isList(item: CborItem | undefined): item is readonly CborItem[] {
  return Array.isArray(item)
}

function isTagged(item: CborItem | undefined): item is TaggedItem {
  return item !== null && typeof item === 'object' && 'tag' in item
}
