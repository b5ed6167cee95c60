// Documents and comments use plain present-day English and the terms of docs/glossary.md.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { filesBelow } from './files.mjs'
import { root } from './prepare.mjs'
import { commentLines, isGenerated, words } from './words.mjs'

/** Files that quote others or hold the words themselves. */
const skipped = new Set(['docs/block-body.md', 'scripts/words.mjs'])

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
