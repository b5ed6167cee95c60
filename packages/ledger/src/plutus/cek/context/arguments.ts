import { toHex } from '../../../bytes.js'
import type { PlutusLanguage, Redeemer, Transaction, TransactionOutput } from '../../../transaction/types.js'
import { readData } from '../program/decode-constant.js'
import { constructorData, type Data } from '../values/data.js'
import { maybe } from './parts.js'
import { type OrderedTransaction, purposeData } from './purpose.js'

/**
 * What a script is applied to: before Plutus V3 the datum, where there is one, the redeemer and the context; since then one
 * context that holds them all.
 *
 * @param info the transaction as scripts of the language see it
 */
export function scriptArguments(
  redeemer: Redeemer,
  ordered: OrderedTransaction,
  language: PlutusLanguage,
  info: Data,
): readonly Data[] {
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

/** Like the purpose, but where something is spent also its datum. */
function scriptInfo({ purpose }: Redeemer, data: Data, datum: Data | undefined): Data {
  if (purpose !== 'spend' || data.kind !== 'constructor' || data.fields === null) return data
  return constructorData(1, [data.fields.head, maybe(datum)])
}

/** The datum of an output: in it, or under its hash among the witnesses. */
function datumOf(output: TransactionOutput | undefined, { witnesses }: Transaction): Data | undefined {
  if (output === undefined || output.datum.kind === 'none') return undefined
  if (output.datum.kind === 'inline') return readData(output.datum.data)
  const data = witnesses.datums.get(toHex(output.datum.hash))
  return data === undefined ? undefined : readData(data)
}
