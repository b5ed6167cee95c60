import { toHex } from '../../bytes.js'
import type { Script, Transaction, TransactionOutput } from '../../transaction/types.js'
import type { RuleContext } from '../context.js'
import { isPlutusScript } from '../flat/program.js'
import type { Findings } from '../verdict.js'

/** Whether a script can be read at all at a protocol version. Native scripts have been read already. */
export function isWellFormedScript(script: Script, protocolMajor: number): boolean {
  return script.language === 'native' || isPlutusScript(script.bytes, script.language, protocolMajor)
}

/** UTXOW: MalformedScriptWitnesses, MalformedReferenceScripts (of the outputs that the transaction makes). */
export function judgeWellFormedScripts(
  { witnesses }: Transaction,
  outputs: readonly TransactionOutput[],
  { parameters }: RuleContext,
  findings: Findings,
): void {
  const { major } = parameters.protocolVersion
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
