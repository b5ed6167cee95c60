import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cachedDataVersionTag } from 'node:v8'
import { constants, Script } from 'node:vm'

type NodeModules = typeof import('./index.js')
interface LoadedNode extends NodeModules {
  /** Names the bundle by what is in it; undefined for a node of modules. */
  readonly build: string | undefined
  /** Keeps the compiled code of all functions that have run, for the next process. */
  keepCode(): void
}

const bundle = fileURLToPath(new URL('../bundle/node.js', import.meta.url))

let loading: Promise<LoadedNode> | undefined

/** Loads the node, once in a process, from its bundle, or from its modules where none was built. */
export function loadNode(): Promise<LoadedNode> {
  loading ??= load()
  return loading
}

async function load(): Promise<LoadedNode> {
  if (!existsSync(bundle))
    return { ...(await import('./index.js')), build: undefined, keepCode: () => undefined }
  // V8 rejects what was written with other flags or for another processor, but not what another release of
  // Node with the same version of V8 has written, which faults.
  const kept = `${bundle}.${process.version}.${cachedDataVersionTag()}.cache`
  const cachedData = existsSync(kept) ? readFileSync(kept) : undefined
  // ASCII, which V8 keeps in a byte a character.
  const text = readFileSync(bundle, 'latin1')
  const source = `(function (exports, require, module, __filename, __dirname) {${text}\n})`
  const script = new Script(source, {
    filename: bundle,
    ...(cachedData && { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  const module = { exports: {} as NodeModules }
  const run = script.runInThisContext() as (...parts: unknown[]) => void
  run(module.exports, createRequire(bundle), module, bundle, dirname(bundle))
  return {
    ...module.exports,
    build: createHash('sha256').update(source, 'latin1').digest('hex'),
    keepCode() {
      if (cachedData !== undefined && script.cachedDataRejected !== true) return
      try {
        // Written whole or not at all: V8 does not check what it reads.
        writeFileSync(`${kept}.${process.pid}`, script.createCachedData())
        renameSync(`${kept}.${process.pid}`, kept)
      } catch {
        // Of a folder that cannot be written.
      }
    },
  }
}
