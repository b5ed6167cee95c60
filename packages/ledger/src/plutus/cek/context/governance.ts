import { CborReader, compareBytes } from '@ratatosk/cbor'
import { readAddress } from '../../../address/decode.js'
import type { Credential, RewardAddress } from '../../../address/types.js'
import type { ProposalProcedure, VotingProcedure } from '../../../transaction/types.js'
import { bytesData, constructorData, type DataValue, integerData, listData, mapData } from '../values/data.js'
import { bytesOf, type CborItem, entriesIn, integerOf, isList, isTagged, itemsIn, readItem } from './item.js'
import { compareLedgerCredentials, credentialData, maybe, UntranslatableError } from './parts.js'

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
  withdrawals.sort(({ account: a }, { account: b }) => compareAccounts(a, b))
  return mapData(
    withdrawals.map(({ account, lovelace }) => [credentialData(account.stake), integerData(lovelace)]),
  )
}

/** Sorts by network, then by credential. */
export function compareAccounts(a: RewardAddress, b: RewardAddress): number {
  return a.networkId - b.networkId || compareLedgerCredentials(a.stake, b.stake)
}

function credentialOf(item: CborItem): Credential {
  const [kind, hash] = itemsIn(item)
  return { kind: integerOf(kind) === 0n ? 'key' : 'script', hash: bytesOf(hash) }
}

function leaving(item: CborItem | undefined): DataValue {
  return listData(itemsIn(item).map(credentialOf).sort(compareLedgerCredentials).map(credentialData))
}

function coming(item: CborItem | undefined): DataValue {
  const members = entriesIn(item).map(([member, epoch]) => ({
    member: credentialOf(member),
    epoch: integerOf(epoch),
  }))
  members.sort((a, b) => compareLedgerCredentials(a.member, b.member))
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
