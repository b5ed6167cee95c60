import { decodeProgram, type Program } from '../../flat/program.js'

/** Total size of the cached scripts in bytes. Their terms take up to a few hundred times as much. */
const keptBytes = 512 * 1024

/** Decodes a script, unless it is cached by its hash. */
export type ScriptCache = (hash: string, bytes: Uint8Array) => Program

/** Caches the programs of the most recently used scripts. */
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
