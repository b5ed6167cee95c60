import { toHex } from '../bytes.js'
import { isPlutusScript } from '../rules/flat/program.js'
import type { PlutusScript } from './request.js'
import type { EvaluationFailure } from './types.js'

/** How many scripts are remembered as readable: 20,000 hashes are some megabytes. */
const remembered = 20_000

/** Finds the first script that the ledger could not read at a protocol version. */
export type ScriptCheck = (
  scripts: readonly PlutusScript[],
  protocolMajor: number,
) => EvaluationFailure | undefined

/**
 * The machine runs what the ledger would not read: builtins of a later protocol version, `constr` in a program that has none.
 * So each script is read first; one that was found in order is known by its hash from then on.
 */
export function createScriptCheck(): ScriptCheck {
  const readable = new Set<string>()
  return (scripts, protocolMajor) => {
    for (const { language, hash, bytes } of scripts) {
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
