import { toHex } from '@ratatosk/cbor'
import { isPlutusScript } from '../../plutus/flat/program.js'
import type { Script, Transaction, TransactionOutput } from '../../transaction/types.js'
import type { RuleContext } from '../context.js'
import type { Findings } from '../failures.js'

/** Whether a script decodes at a ledger version. Native scripts are decoded with the transaction. */
export function isWellFormedScript(script: Script, protocolMajor: number): boolean {
  return script.language === 'native' || isPlutusScript(script.bytes, script.language, protocolMajor)
}

/** UTXOW: MalformedScriptWitnesses, MalformedReferenceScripts (in the outputs of the transaction). */
export function validateWellFormedScripts(
  { witnesses }: Transaction,
  outputs: readonly TransactionOutput[],
  { parameters }: RuleContext,
  findings: Findings,
): void {
  const { major } = parameters.ledgerVersion
  const malformed = witnesses.scripts.filter((script) => !isWellFormedScript(script, major))
  if (malformed.length > 0) {
    findings.add('MalformedScriptWitnesses', 'A script in the witness set cannot be read', {
      scripts: malformed.map(({ hash }) => toHex(hash)),
    })
  }
  const references: string[] = []
  for (const { referenceScript } of outputs) {
    if (referenceScript && !isWellFormedScript(referenceScript, major))
      references.push(toHex(referenceScript.hash))
  }
  if (references.length > 0) {
    findings.add('MalformedReferenceScripts', 'A reference script of an output cannot be read', {
      scripts: references,
    })
  }
}
