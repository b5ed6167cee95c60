import { toHex } from '../bytes.js'
import { isPlutusScript } from '../rules/flat/program.js'
import type { Transaction } from '../transaction/types.js'
import type { EvaluationFailure } from './types.js'

/** How many scripts are remembered as readable: 32-byte keys, so a few megabytes. */
const remembered = 20_000

export interface ScriptCheck {
  /** A script that the transaction brings and that the ledger could not read at this protocol version. */
  malformed(transaction: Transaction, protocolMajor: number): EvaluationFailure | undefined
}

/**
 * Engines read what the ledger would not: builtins of a later protocol version, `constr` in a program that has none. So each
 * script that a transaction brings is read first; one that was found in order is known by its hash from then on.
 */
export function createScriptCheck(): ScriptCheck {
  const readable = new Set<string>()
  return {
    malformed({ witnesses }, protocolMajor) {
      for (const { language, hash, bytes } of witnesses.scripts) {
        if (language === 'native') continue
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
    },
  }
}
