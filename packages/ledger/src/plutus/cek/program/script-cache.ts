import { decodeProgram, type Program } from './decode-program.js'

/** Bytes of scripts of which the terms are kept; these take up to some hundred times as much. */
const keptBytes = 512 * 1024

/** Decodes a script, unless it is remembered by its hash. */
export type ScriptCache = (hash: string, bytes: Uint8Array) => Program

/** Keeps the programs of the scripts that were used last. */
export function createScriptCache(): ScriptCache {
  const programs = new Map<string, { readonly program: Program; readonly size: number }>()
  let kept = 0
  return (hash, bytes) => {
    const known = programs.get(hash)
    if (known !== undefined) {
      programs.delete(hash)
      programs.set(hash, known)
      return known.program
    }
    const program = decodeProgram(bytes)
    programs.set(hash, { program, size: bytes.length })
    kept += bytes.length
    for (const [oldest, { size }] of programs) {
      if (kept <= keptBytes || oldest === hash) break
      programs.delete(oldest)
      kept -= size
    }
    return program
  }
}
