import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { filesBelow } from './files.mjs'
import { root } from './prepare.mjs'

// Words that documents and comments avoid.

/** Patterns, each with its replacement; those `by hand` allow generated files and decisions. */
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
  [/\bwhoever\b/i, 'the subject first: "a client that", "the caller"'],
  [/\b(?:no|any|every|some)body\b/i, '"no one", "anyone", "only", or the subject'],
  [/\ball the while\b/i, '"keeps …ing"'],
  [/\bwhat (?:became|becomes) of\b/i, '"the status of"'],
  [/\b(?:is|are|was|were|be|been|being) told\b/i, '"receives", "is notified" or "is reported"'],
  [/\btells\b/i, '"returns", "reports", "states" or "distinguishes"'],
  [
    /\b(?:a|one|two|another|each|the next|the last) looks?\b(?!-)|\blook(?:s|ed|ing)? at\b/i,
    '"poll", "scan", "read"',
  ],
  [/\bnothing but\b/i, '"only"'],
  [/\blet(?:s|ting)? go of\b/i, '"removed" or "released"'],
  [/\b(?:led|leads?) nowhere\b/i, '"resolves to nothing"'],
  [/\b(?:is|are|was|were) away\b/i, '"is unavailable"'],
  [/(?:^[\s/*#>-]*(?:\d+\. )?|[.:!?] )What (?!.*\?(?:\s*\*\/)?$)/, 'a noun as the subject', 'by hand'],
]

/** Whether a file is generated: one of its first six lines says so. */
const isGenerated = (text) => /do not edit/i.test(text.split('\n', 6).join('\n'))

/** The comments of a source file by line; undefined where a line is not a comment. */
function commentLines(text) {
  return text.split('\n').map((line) => (/^\s*(\/\/|\/\*|\*)/.test(line) ? line : undefined))
}

// Documents and comments use plain present-day English and the terms of docs/glossary.md.

/** Files that quote others or hold the words themselves. */
const skipped = new Set(['docs/block-body.md', 'scripts/check-words.mjs'])

const faults = []
for (const path of filesBelow(root, /\.(?:md|tsx?|css|mjs|js)$/)) {
  const name = relative(root, path)
  if (skipped.has(name)) continue
  const text = readFileSync(path, 'utf8')
  const byHand = !isGenerated(text) && !name.startsWith('docs/decisions/')
  const lines = name.endsWith('.md') ? text.split('\n') : commentLines(text)
  lines.forEach((line, index) => {
    for (const [pattern, better, where] of words) {
      if (line === undefined || (where === 'by hand' && !byHand)) continue
      const found = pattern.exec(line)?.[0]
      if (found) faults.push(`${name}:${index + 1}: "${found}": write ${better}`)
    }
  })
}
for (const fault of faults) console.error(fault)
process.exit(faults.length > 0 ? 1 : 0)
