import { toHex } from '@ratatosk/cbor'
import type { Transaction, TransactionOutput } from '../../transaction/types.js'
import type { Findings } from '../failures.js'
import type { Resolution } from '../resolution.js'
import type { ScriptUse } from '../script-use.js'
import { allOutputs } from '../utxo/outputs.js'

/**
 * UTXOW: UnspendableUTxONoDatumHash, MissingRequiredDatums, NotAllowedSupplementalDatums. Outputs of Plutus
 * V1 and V2 scripts need a datum. With V3 it is optional (CIP-69), but witnesses must hold a hash's datum.
 * Supplemental datums need their hash in an output, the collateral return or a reference input.
 */
export function validateDatums(
  transaction: Transaction,
  { inputs, referenceInputs }: Resolution,
  { provided, complete }: ScriptUse,
  findings: Findings,
): void {
  const { datums } = transaction.witnesses
  const required = new Set<string>()
  const unspendable: string[] = []
  for (const { key, output } of inputs) {
    const language = output && provided.get(paymentScript(output) ?? '')?.language
    if (output === undefined || language === undefined || language === 'native') continue
    if (output.datum.kind === 'hash') required.add(toHex(output.datum.hash))
    else if (output.datum.kind === 'none' && language !== 'PlutusV3') unspendable.push(key)
  }
  if (unspendable.length > 0) {
    findings.add('UnspendableUTxONoDatumHash', 'An output locked by a Plutus V1 or V2 script has no datum', {
      inputs: unspendable,
    })
  }
  const missing = [...required].filter((hash) => !datums.has(hash))
  if (missing.length > 0) {
    findings.add('MissingRequiredDatums', `${missing.length} of the datums that are needed are missing`, {
      datums: missing,
      received: [...datums.keys()],
    })
  }
  if (datums.size === 0 || !complete) return
  const supplemental = [...datums.keys()].filter((hash) => !required.has(hash))
  if (supplemental.length === 0) return
  const allowed = new Set<string>()
  const allow = ({ datum }: TransactionOutput): void => {
    if (datum.kind === 'hash') allowed.add(toHex(datum.hash))
  }
  allOutputs(transaction).forEach(allow)
  for (const { output } of referenceInputs) if (output) allow(output)
  const refused = supplemental.filter((hash) => !allowed.has(hash))
  if (refused.length === 0) return
  findings.add('NotAllowedSupplementalDatums', `${refused.length} of the datums belong to nothing`, {
    datums: refused,
    allowed: [...allowed],
  })
}

function paymentScript({ address }: TransactionOutput): string | undefined {
  if (address.kind === 'byron' || address.kind === 'reward') return undefined
  return address.payment.kind === 'script' ? toHex(address.payment.hash) : undefined
}
