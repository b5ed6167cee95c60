// A source file written by hand has at most 500 lines, and every line at most 110 columns; the linter limits
// functions to 80 lines. The formatter wraps code, but no comments and no strings. A test may be longer. The
// first line of a generated file says "do not edit".
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { filesBelow } from './files.mjs'
import { root } from './prepare.mjs'

const maxLines = 500
const maxColumns = 110

const faults = []
for (const path of filesBelow(root, /\.(?:tsx?|m?js|css)$/)) {
  const lines = readFileSync(path, 'utf8').replace(/\n$/, '').split('\n')
  if (/do not edit/.test(lines[0])) continue
  const name = relative(root, path)
  const isTest = /\.(?:test|tap)\.ts$|\/test\//.test(name)
  if (lines.length > maxLines && !isTest)
    faults.push(`${name} has ${lines.length} lines, more than ${maxLines}`)
  lines.forEach((line, index) => {
    if (line.length > maxColumns) faults.push(`${name}:${index + 1} has ${line.length} columns`)
  })
}
for (const fault of faults) console.error(fault)
process.exit(faults.length > 0 ? 1 : 0)
