import { toHex } from '@ratatosk/cbor'
import type { PlutusLanguage, Redeemer, Transaction, TransactionOutput } from '../../../transaction/types.js'
import { readData } from '../../flat/constant.js'
import { constructorData, type DataValue } from '../values/data.js'
import { maybe } from './parts.js'
import { purposeData, type SortedTransaction } from './purpose.js'

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
