import { toHex } from '@ratatosk/cbor'
import type { ScriptUse } from '../rules/script-use.js'
import type { Script } from '../transaction/types.js'
import { isPlutusScript } from './flat/program.js'
import type { EvaluationFailure } from './types.js'

/** Number of well-formed scripts to remember; 20,000 hashes take a few megabytes. */
const remembered = 20_000

/** Finds the first script that has to run and that the ledger cannot decode at a ledger version. */
type ScriptCheck = (use: ScriptUse, protocolMajor: number) => EvaluationFailure | undefined

/**
 * Checks each script first, because the CEK machine accepts scripts that the ledger refuses to decode, such
 * as those with later builtins. The hashes of well-formed scripts are remembered.
 */
export function createScriptCheck(): ScriptCheck {
  const readable = new Set<string>()
  return (use, protocolMajor) => {
    for (const { language, hash, bytes } of plutusScripts(use)) {
      const scriptHash = toHex(hash)
      const key = `${scriptHash}@${protocolMajor}`
      if (readable.has(key)) continue
      if (!isPlutusScript(bytes, language, protocolMajor)) {
        return {
          kind: 'MalformedScript',
          message: `${language} script ${scriptHash} cannot be read`,
          scriptHash,
        }
      }
      if (readable.size >= remembered) readable.clear()
      readable.add(key)
    }
    return undefined
  }
}

type PlutusScript = Exclude<Script, { readonly language: 'native' }>

function plutusScripts({ neededHashes, provided }: ScriptUse): readonly PlutusScript[] {
  const scripts: PlutusScript[] = []
  for (const hash of neededHashes) {
    const script = provided.get(hash)
    if (script !== undefined && script.language !== 'native') scripts.push(script)
  }
  return scripts
}
