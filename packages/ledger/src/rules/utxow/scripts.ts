import type { Findings } from '../failures.js'
import type { ScriptUse } from '../script-use.js'

/**
 * UTXOW: MissingScriptWitnessesUTXOW, ExtraneousScriptWitnessesUTXOW. A script that is there as a reference
 * script must not be a witness too.
 */
export function validateScriptWitnesses(
  { neededHashes, witnessed, referenced, complete }: ScriptUse,
  findings: Findings,
): void {
  const missing = [...neededHashes].filter((hash) => !referenced.has(hash) && !witnessed.has(hash))
  // While an input is unknown, its reference script might be the one, and its address might need the one too
  // many.
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
