// Settings, error codes, identifiers and files that documents name in `code` occur in the repository.
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { filesBelow } from './files.mjs'
import { root } from './prepare.mjs'

/** Names that belong to other projects, or to the reader. */
const foreign = new Set(['relaxedDurability', 'pay.js', 'compose.override.yaml', 'bundle/node.js'])

const names = new Set()
const files = new Set()
const others = ['.github/workflows/ci.yml', '.ci/run', '.env.example', 'ops/ratatosk@.service'].map((name) =>
  join(root, name),
)
for (const path of [...filesBelow(root, /\.(?:ts|tsx|css|mjs|js|json|ya?ml|sql|html)$/), ...others]) {
  if (!existsSync(path)) continue
  const parts = relative(root, path).replace(/\.js$/, '.ts').split('/')
  parts.forEach((_, start) => {
    files.add(parts.slice(start).join('/'))
  })
  for (const name of readFileSync(path, 'utf8').match(/[A-Za-z_$][\w$]*/g) ?? []) names.add(name)
}

const faults = []
for (const path of filesBelow(root, /\.md$/)) {
  const prose = readFileSync(path, 'utf8').replace(/^(```+)[^\n]*\n[\s\S]*?^\1$/gm, (block) =>
    block.replace(/[^\n]/g, ''),
  )
  prose.split('\n').forEach((line, index) => {
    for (const [, code] of line.matchAll(/`([^`]+)`/g)) {
      for (const name of unknownIn(code)) faults.push(`${relative(root, path)}:${index + 1}: no ${name}`)
    }
  })
}
for (const fault of faults) console.error(fault)
process.exit(faults.length > 0 ? 1 : 0)

/** Of a piece of code: a file that does not exist, or names that occur nowhere. */
function unknownIn(code) {
  if (foreign.has(code)) return []
  if (/^[\w@.-][\w@./-]*\.(?:ts|tsx|css|mjs|js|json|yaml|sql|html)$/.test(code)) {
    const file = code.replace(/^(?:\.+\/)+/, '').replace(/\.js$/, '.ts')
    return files.has(file) ? [] : [code]
  }
  const looksDeclared = (name) => /[a-z][A-Z]|[A-Za-z]_|^[A-Z][A-Z0-9]{4,}$/.test(name)
  return (code.match(/[A-Za-z_$][\w$]*(?!…|[\w$]|\*)/g) ?? []).filter(
    (name) => looksDeclared(name) && !names.has(name) && !foreign.has(name) && !isComposed(name),
  )
}

/** A name that the code joins from a prefix and one of two endings, and endings and beginnings of names. */
function isComposed(name) {
  return /^_|_$/.test(name) || names.has(name.replace(/_(?:FILE|INVALID_PARAMETER)$/, ''))
}
