import { CborReader, compareBytes, fromHex, toHex } from '@ratatosk/cbor'
import type { RewardAddress } from '../../../address/types.js'
import type { SlotConfig } from '../../../parameters/types.js'
import type { ResolvedInput } from '../../../rules/context.js'
import type { RedeemerPointer } from '../../../rules/script-evaluator.js'
import { byAccount, byVoter } from '../../../rules/script-use.js'
import type {
  OutputReference,
  PlutusLanguage,
  Redeemer,
  Transaction,
  TransactionOutput,
  VotingProcedure,
} from '../../../transaction/types.js'
import { purposes } from '../../../transaction/witness-set.js'
import {
  bytesData,
  constructorData,
  type DataValue,
  decodeData,
  integerData,
  listData,
  mapData,
} from '../values/data.js'
import { certificateDataV1, certificateDataV3, proposalData, voterData, votesData } from './governance.js'
import {
  addressData,
  assetEntries,
  comparePlutusCredentials,
  credentialData,
  intervalData,
  lovelaceEntry,
  maybe,
  sortedByHex,
  stakingCredentialData,
  tuple,
  UntranslatableError,
  valueData,
} from './parts.js'

/** A transaction with its items in the order in which redeemer pointers count. */
interface SortedTransaction {
  readonly transaction: Transaction
  readonly inputs: readonly ResolvedInput[]
  readonly referenceInputs: readonly ResolvedInput[]
  readonly policies: readonly string[]
  readonly withdrawals: readonly { readonly account: RewardAddress; readonly lovelace: bigint }[]
  readonly votes: readonly VotingProcedure[]
  readonly protocolMajor: number
}

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
  withdrawals.sort(byAccount)
  const votes = [...body.votingProcedures].sort(byVoter)
  const policies = sortedByHex(body.mint).map(([policy]) => policy)
  return { transaction, inputs, referenceInputs, policies, withdrawals, votes, protocolMajor }
}

/** Before Plutus V3, a transaction id is wrapped in a constructor. */
function transactionIdData(id: Uint8Array, language: PlutusLanguage): DataValue {
  return language === 'PlutusV3' ? bytesData(id) : constructorData(0, [bytesData(id)])
}

function referenceData({ transactionId, index }: OutputReference, language: PlutusLanguage): DataValue {
  return constructorData(0, [transactionIdData(transactionId, language), integerData(index)])
}

/** `ScriptPurpose`: the purpose of a redeemer. */
function purposeData(
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

/** The data of a redeemer or a datum, which the decoder of the ledger has checked. */
const readData = (cbor: Uint8Array): DataValue => decodeData(new CborReader(cbor))

/** `TxInfo` of a language: the transaction as scripts see it. */
export function transactionInfo(
  ordered: SortedTransaction,
  language: PlutusLanguage,
  slots: SlotConfig,
): DataValue {
  const { transaction, inputs, referenceInputs } = ordered
  const { body, witnesses } = transaction
  const inputData = (input: ResolvedInput): DataValue =>
    constructorData(0, [referenceData(input.reference, language), outputData(outputOf(input), language)])

  const spent = listData(inputs.map(inputData))
  const referred = listData(referenceInputs.map(inputData))
  const outputs = listData(body.outputs.map((output) => outputData(output, language)))
  const interval = intervalData(body.validityInterval, slots)
  const signers = listData([...body.requiredSigners].sort(compareBytes).map(bytesData))
  const datums = sortedByHex(witnesses.datums).map(
    ([hash, data]) => [bytesData(fromHex(hash)), readData(data)] as const,
  )
  const id = transactionIdData(transaction.id, language)
  if (language === 'PlutusV3') {
    return constructorData(0, [
      spent,
      referred,
      outputs,
      integerData(body.fee),
      mapData(assetEntries(body.mint)),
      listData(body.certificates.map((each) => certificateDataV3(each, ordered.protocolMajor))),
      mapData(
        ordered.withdrawals.map(({ account, lovelace }) => [
          credentialData(account.stake),
          integerData(lovelace),
        ]),
      ),
      interval,
      signers,
      redeemersData(ordered, language),
      mapData(datums),
      id,
      mapData(ordered.votes.map((each) => [voterData(each.voter), votesData(each)])),
      listData(body.proposalProcedures.map(proposalData)),
      maybe(body.currentTreasury === undefined ? undefined : integerData(body.currentTreasury)),
      maybe(body.treasuryDonation === 0n ? undefined : integerData(body.treasuryDonation)),
    ])
  }

  const fee = mapData([lovelaceEntry(body.fee)])
  // The minted value has an entry of zero lovelace, although lovelace cannot be minted.
  const mint = mapData([lovelaceEntry(0n), ...assetEntries(body.mint)])
  const certificates = listData(body.certificates.map(certificateDataV1))
  const withdrawals = [...ordered.withdrawals]
    .sort((a, b) => comparePlutusCredentials(a.account.stake, b.account.stake))
    .map(({ account, lovelace }) => [stakingCredentialData(account.stake), integerData(lovelace)] as const)
  if (language === 'PlutusV2') {
    return constructorData(0, [
      spent,
      referred,
      outputs,
      fee,
      mint,
      certificates,
      mapData(withdrawals),
      interval,
      signers,
      redeemersData(ordered, language),
      mapData(datums),
      id,
    ])
  }
  const pairs = (entries: readonly (readonly [DataValue, DataValue])[]): DataValue =>
    listData(entries.map(([first, second]) => tuple(first, second)))
  return constructorData(0, [
    spent,
    outputs,
    fee,
    mint,
    certificates,
    pairs(withdrawals),
    interval,
    signers,
    pairs(datums),
    id,
  ])
}

function outputOf({ key, output }: ResolvedInput): TransactionOutput {
  if (output === undefined) throw new UntranslatableError(`The output ${key} is unknown`)
  return output
}

function outputData(
  { address, value, datum, referenceScript }: TransactionOutput,
  language: PlutusLanguage,
): DataValue {
  const common = [addressData(address), valueData(value)]
  const hash = datum.kind === 'hash' ? bytesData(datum.hash) : undefined
  if (language === 'PlutusV1') return constructorData(0, [...common, maybe(hash)])
  let shown = constructorData(0)
  if (datum.kind === 'inline') shown = constructorData(2, [readData(datum.data)])
  else if (hash !== undefined) shown = constructorData(1, [hash])
  const script = referenceScript === undefined ? undefined : bytesData(referenceScript.hash)
  return constructorData(0, [...common, shown, maybe(script)])
}

function redeemersData(ordered: SortedTransaction, language: PlutusLanguage): DataValue {
  const redeemers = [...ordered.transaction.witnesses.redeemers].sort(
    (a: Redeemer, b: Redeemer) =>
      purposes.indexOf(a.purpose) - purposes.indexOf(b.purpose) || a.index - b.index,
  )
  return mapData(
    redeemers.map((redeemer) => [purposeData(redeemer, ordered, language), readData(redeemer.data)]),
  )
}

/**
 * The arguments of a script: before Plutus V3 the datum (if any), the redeemer and the context; since V3 a
 * single context that contains all three. `info` is the transaction as scripts of the language see it.
 */
export function scriptArguments(
  redeemer: Redeemer,
  ordered: SortedTransaction,
  language: PlutusLanguage,
  info: DataValue,
): readonly DataValue[] {
  const purpose = purposeData(redeemer, ordered, language)
  const given = readData(redeemer.data)
  const datum =
    redeemer.purpose === 'spend'
      ? datumOf(ordered.inputs[redeemer.index]?.output, ordered.transaction)
      : undefined
  if (language !== 'PlutusV3') {
    const context = constructorData(0, [info, purpose])
    return datum === undefined ? [given, context] : [datum, given, context]
  }
  return [constructorData(0, [info, given, scriptInfo(redeemer, purpose, datum)])]
}

/** `ScriptInfo`: the purpose, and for a spent output its datum. */
function scriptInfo({ purpose }: Redeemer, data: DataValue, datum: DataValue | undefined): DataValue {
  if (purpose !== 'spend' || data.kind !== 'constructor' || data.fields === null) return data
  return constructorData(1, [data.fields.head, maybe(datum)])
}

/** The datum of an output: inline, or the witness with its hash. */
function datumOf(output: TransactionOutput | undefined, { witnesses }: Transaction): DataValue | undefined {
  if (output === undefined || output.datum.kind === 'none') return undefined
  if (output.datum.kind === 'inline') return readData(output.datum.data)
  const data = witnesses.datums.get(toHex(output.datum.hash))
  return data === undefined ? undefined : readData(data)
}
