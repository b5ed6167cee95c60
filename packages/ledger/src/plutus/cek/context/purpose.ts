import { fromHex } from '@ratatosk/cbor'
import type { RewardAddress } from '../../../address/types.js'
import type { ResolvedInput } from '../../../rules/resolution.js'
import type { RedeemerPointer } from '../../../rules/script-evaluator.js'
import type {
  OutputReference,
  PlutusLanguage,
  Transaction,
  VotingProcedure,
} from '../../../transaction/types.js'
import { bytesData, constructorData, type DataValue, integerData } from '../values/data.js'
import { certificateDataV1, certificateDataV3 } from './certificates.js'
import { compareAccounts, proposalData, voterData } from './governance.js'
import {
  compareLedgerCredentials,
  credentialData,
  sortedByHex,
  stakingCredentialData,
  UntranslatableError,
} from './parts.js'

/** A transaction with its items in the order in which redeemer pointers count. */
export interface SortedTransaction {
  readonly transaction: Transaction
  readonly inputs: readonly ResolvedInput[]
  readonly referenceInputs: readonly ResolvedInput[]
  readonly policies: readonly string[]
  readonly withdrawals: readonly { readonly account: RewardAddress; readonly lovelace: bigint }[]
  readonly votes: readonly VotingProcedure[]
  readonly protocolMajor: number
}

const roles: readonly VotingProcedure['voter']['role'][] = ['committee', 'drep', 'pool']

export function orderTransaction(
  transaction: Transaction,
  inputs: readonly ResolvedInput[],
  referenceInputs: readonly ResolvedInput[],
  protocolMajor: number,
): SortedTransaction {
  const { body } = transaction
  const withdrawals = body.withdrawals.flatMap(({ account, lovelace }) =>
    account.kind === 'reward' ? [{ account, lovelace }] : [],
  )
  withdrawals.sort((a, b) => compareAccounts(a.account, b.account))
  const votes = [...body.votingProcedures].sort(
    ({ voter: a }, { voter: b }) =>
      roles.indexOf(a.role) - roles.indexOf(b.role) || compareLedgerCredentials(a.credential, b.credential),
  )
  const policies = sortedByHex(body.mint).map(([policy]) => policy)
  return { transaction, inputs, referenceInputs, policies, withdrawals, votes, protocolMajor }
}

/** Before Plutus V3, a transaction id is wrapped in a constructor. */
export function transactionIdData(id: Uint8Array, language: PlutusLanguage): DataValue {
  return language === 'PlutusV3' ? bytesData(id) : constructorData(0, [bytesData(id)])
}

export function referenceData(
  { transactionId, index }: OutputReference,
  language: PlutusLanguage,
): DataValue {
  return constructorData(0, [transactionIdData(transactionId, language), integerData(index)])
}

/** `ScriptPurpose`: the purpose of a redeemer. */
export function purposeData(
  { purpose, index }: RedeemerPointer,
  ordered: SortedTransaction,
  language: PlutusLanguage,
): DataValue {
  const third = language === 'PlutusV3'
  const { body } = ordered.transaction
  switch (purpose) {
    case 'mint':
      return constructorData(0, [bytesData(fromHex(found(ordered.policies[index])))])
    case 'spend':
      return constructorData(1, [referenceData(found(ordered.inputs[index]).reference, language)])
    case 'reward': {
      const { stake } = found(ordered.withdrawals[index]).account
      return constructorData(2, [third ? credentialData(stake) : stakingCredentialData(stake)])
    }
    case 'cert': {
      const certificate = found(body.certificates[index])
      if (!third) return constructorData(3, [certificateDataV1(certificate)])
      return constructorData(3, [integerData(index), certificateDataV3(certificate, ordered.protocolMajor)])
    }
    case 'vote':
      if (!third) throw new UntranslatableError('Plutus V1 and V2 cannot represent votes')
      return constructorData(4, [voterData(found(ordered.votes[index]).voter)])
    case 'propose':
      if (!third) throw new UntranslatableError('Plutus V1 and V2 cannot represent proposals')
      return constructorData(5, [integerData(index), proposalData(found(body.proposalProcedures[index]))])
  }
}

function found<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw new UntranslatableError('A redeemer points to nothing')
  return thing
}
