// Documents and comments use plain present-day English and the terms of docs/glossary.md. Only words that are
// never right are listed.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from './prepare.mjs'

/** What not to write, and what to write. */
const words = [
  [/\bwhosoever|\bwhomever\b/i, 'anyone who'],
  [/\bthereof|\btherein|\bhereby|\bhitherto|\bwherein\b|\bwhereby\b/i, 'a plain sentence'],
  [/\bby itself\b/i, '"automatically", or "alone"'],
  [/(?<!\bthere )\bis none\b(?! of)/i, '"is not a …", or "there is no …"'],
  [/\bno more(?:[.,;)]|$)/i, '"no longer"'],
  [/\bshall\b/i, '"must" or "will"'],
  [/\brip(?:en|ens|ened|ening)\b/i, '"mature"'],
  [/\bdraughts?\b/i, '"attempt"'],
  [/\blook(?:s|ed|ing)? after\b/i, 'what it does'],
  [/\btak(?:es?|en|ing) back\b/i, '"restored" or "reverted"'],
]

/** Files that quote others or test the words themselves. */
const skipped = new Set(['docs/block-body.md', 'scripts/check-words.mjs'])

const faults = []
for (const path of files(root)) {
  const name = relative(root, path)
  if (skipped.has(name)) continue
  const text = readFileSync(path, 'utf8')
  const lines = name.endsWith('.md') ? text.split('\n') : commentLines(text)
  lines.forEach((line, index) => {
    for (const [pattern, better] of words) {
      const found = line === undefined ? undefined : pattern.exec(line)?.[0]
      if (found) faults.push(`${name}:${index + 1}: "${found}": write ${better}`)
    }
  })
}
for (const fault of faults) console.error(fault)
process.exit(faults.length > 0 ? 1 : 0)

/** The lines of a source file, undefined where a line is no comment. */
function commentLines(text) {
  return text.split('\n').map((line) => (/^\s*(\/\/|\/\*|\*)/.test(line) ? line : undefined))
}

function files(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (/^(node_modules|dist|\..*)$/.test(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return files(path)
    return /\.(md|ts|mjs)$/.test(entry.name) ? [path] : []
  })
}
