import { CborReader, compareBytes, fromHex, toHex } from '@ratatosk/cbor'
import type { SlotConfig } from '../../../parameters/types.js'
import type { ResolvedInput } from '../../../rules/resolution.js'
import type {
  PlutusLanguage,
  Redeemer,
  RedeemerPurpose,
  Transaction,
  TransactionOutput,
} from '../../../transaction/types.js'
import { bytesData, constructorData, type DataValue, integerData, listData, mapData } from '../values/data.js'
import { decodeData } from '../values/data-cbor.js'
import { certificateDataV1, certificateDataV3 } from './certificates.js'
import { proposalData, voterData, votesData } from './governance.js'
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
import { purposeData, referenceData, type SortedTransaction, transactionIdData } from './purpose.js'

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

/** The ledger's order of purposes, which differs from that of the constructors. */
const order: readonly RedeemerPurpose[] = ['spend', 'mint', 'cert', 'reward', 'vote', 'propose']

function redeemersData(ordered: SortedTransaction, language: PlutusLanguage): DataValue {
  const redeemers = [...ordered.transaction.witnesses.redeemers].sort(
    (a: Redeemer, b: Redeemer) => order.indexOf(a.purpose) - order.indexOf(b.purpose) || a.index - b.index,
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
