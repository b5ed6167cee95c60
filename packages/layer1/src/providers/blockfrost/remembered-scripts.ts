import { LRUCache } from 'lru-cache'
import type { KnownScript, ScriptByHash } from './outputs.js'

/** A script locks 4,310 lovelace for each of its bytes: so many bytes lock 280,000 ada. */
const maxBytes = 64 * 1024 * 1024
/** The memory that a script takes beside its bytes. */
const overhead = 500
/** A deployment has about ten. They take 200 of the 500 requests that Blockfrost allows at once. */
const mostAtOnce = 100
/** That is a tenth of the requests that Blockfrost allows for long. */
const oneEveryMs = 2000

/**
 * Remembers scripts. Anyone can send outputs with scripts of their own, each of which takes two requests:
 * unless an output is asked for by name, they are loaded slowly, in the order of the list, which begins
 * with the oldest.
 */
export function createRememberedScripts(load: ScriptByHash): ScriptByHash {
  const known = new LRUCache<string, KnownScript>({
    maxSize: maxBytes,
    sizeCalculation: (script) => overhead + (script === 'unknown' ? 0 : script.bytes.length),
  })
  let left = mostAtOnce
  let countedAt = Date.now()

  function mayLoad(): boolean {
    const more = Math.floor((Date.now() - countedAt) / oneEveryMs)
    if (more > 0) {
      left = Math.min(mostAtOnce, left + more)
      countedAt += more * oneEveryMs
    }
    return left > 0
  }

  return async (hash, signal, isNamed) => {
    const found = known.get(hash)
    if (found !== undefined) return found
    if (!isNamed) {
      if (!mayLoad()) return 'later'
      left--
    }
    const script = await load(hash, signal, isNamed)
    if (script !== 'later') known.set(hash, script)
    return script
  }
}
