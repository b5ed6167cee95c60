import type { Findings } from '../failures.js'
import type { ScriptUse } from '../script-use.js'

/** UTXOW: MissingScriptWitnessesUTXOW, ExtraneousScriptWitnessesUTXOW (also of a reference script). */
export function validateScriptWitnesses(
  { neededHashes, witnessed, referenced, complete }: ScriptUse,
  findings: Findings,
): void {
  const missing = [...neededHashes].filter((hash) => !referenced.has(hash) && !witnessed.has(hash))
  // An unknown input might hold the missing reference script, or its address need the extraneous script.
  if (missing.length > 0 && complete) {
    findings.add(
      'MissingScriptWitnessesUTXOW',
      `${missing.length} of the scripts that are needed are missing`,
      {
        scripts: missing,
      },
    )
  }
  const extraneous = [...witnessed].filter(
    (hash) => referenced.has(hash) || (complete && !neededHashes.has(hash)),
  )
  if (extraneous.length > 0) {
    findings.add('ExtraneousScriptWitnessesUTXOW', `${extraneous.length} of the scripts are not needed`, {
      scripts: extraneous,
    })
  }
}
