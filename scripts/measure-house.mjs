// Measures a checkout, this one or that of another commit, and prints a table:
//   node scripts/measure-house.mjs [<path of a checkout>] [--names]
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { folderCircles, importsOf } from './imports.mjs'
import { root } from './prepare.mjs'

const [checkout = root] = process.argv.slice(2).filter((word) => word !== '--names')
const folder = resolve(checkout)
const names = execFileSync('git', ['-C', folder, 'ls-files'], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  .trim()
  .split('\n')
  .filter((name) => existsSync(join(folder, name)))
const read = (name) => readFileSync(join(folder, name), 'utf8')
const lineCount = (text) => text.split('\n').length - 1
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0)

const sources = names.filter((name) => /\.(?:tsx?|mjs|js|css|sql)$/.test(name))
const isTest = (name) => /\.(?:test|tap|test-d)\.(?:tsx?|mjs)$|(?:^|\/)(?:test|e2e)\//.test(name)
const texts = new Map(sources.map((name) => [name, read(name)]))
const shipped = sources.filter((name) => !isTest(name))
const typed = shipped.filter((name) => /^(?:packages|apps)\/.*\.tsx?$/.test(name))
const packageOf = (name) => name.split('/').slice(0, 2).join('/')

/** Words that are not in a file or a section that a script writes. */
function wordsByHand(text) {
  if (/do not edit/i.test(text.split('\n', 6).join('\n'))) return 0
  const byHand = text
    .replace(/<!-- ([\w -]+): begin -->[\s\S]*?<!-- \1: end -->/g, '')
    .replace(/<!-- ([\w-]+): [\s\S]*?-->[\s\S]*?<!-- \/\1 -->/g, '')
  return byHand.split(/\s+/).filter(Boolean).length
}

/** Functions of more than 80 lines, as the linter finds them. */
function longFunctions() {
  const place = mkdtempSync(join(tmpdir(), 'ratatosk-measure-'))
  const rule = { noExcessiveLinesPerFunction: { level: 'error', options: { maxLines: 80 } } }
  const config = { root: true, linter: { rules: { preset: 'none', complexity: rule } } }
  writeFileSync(join(place, 'biome.json'), JSON.stringify(config))
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const options = [`--config-path=${place}`, '--reporter=github', '--max-diagnostics=2000']
  const { stdout } = spawnSync(process.execPath, [biome, 'lint', ...options, ...typed], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  rmSync(place, { recursive: true })
  const found = /file=([^,]+),line=(\d+).*has too many lines \((\d+)\)/g
  return [...stdout.matchAll(found)].map(([, file, line, lines]) => `${file}:${line} (${lines})`)
}

const declared =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:interface|type|class|enum|function\*?|const|let) (\w+)/gm
const exported = typed.flatMap((name) => [...texts.get(name).matchAll(declared)].map(([, each]) => each))

/** Interfaces of four or more fields: name, package, fields. */
const interfaces = typed.flatMap((name) =>
  [...texts.get(name).matchAll(/^(?:export )?interface (\w+)[^{]*\{\n([\s\S]*?)^\}/gm)]
    .map(([, each, body]) => ({
      name: each,
      package: packageOf(name),
      fields: new Set([...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, field]) => field)),
    }))
    .filter(({ fields }) => fields.size >= 4),
)

/** Pairs in different packages that share 70 % of the fields of the larger. */
const twins = interfaces.flatMap((one, index) =>
  interfaces.slice(index + 1).flatMap((other) => {
    if (one.package === other.package) return []
    const shared = [...one.fields].filter((field) => other.fields.has(field)).length
    const isTwin = shared >= 0.7 * Math.max(one.fields.size, other.fields.size)
    return isTwin ? [`${one.package} ${one.name} = ${other.package} ${other.name}`] : []
  }),
)

const imports = sources.flatMap((name) => importsOf(name, texts.get(name)))

const top = (name) => name.split('/')[0]
const crossing = imports.filter(({ from, to }) => top(from) !== top(to) && !isTest(from))
const upward = crossing.filter(
  ({ from, to }) => top(to) === 'scripts' && ['bench', 'packages', 'apps'].includes(top(from)),
)

const long = longFunctions()
const circles = folderCircles(imports.filter(({ from, to }) => typed.includes(from) && !isTest(to)))
const rows = [
  ['packages', names.filter((name) => /^(?:packages|apps)\/[^/]+\/package\.json$/.test(name)).length],
  ['files in git', names.length],
  ['lines without tests', sum(shipped.map((name) => lineCount(texts.get(name))))],
  ['lines of tests', sum(sources.filter(isTest).map((name) => lineCount(texts.get(name))))],
  [
    'words of Markdown by hand',
    sum(names.filter((name) => name.endsWith('.md')).map((name) => wordsByHand(read(name)))),
  ],
  ['functions over 80 lines', long.length],
  ['exported names', exported.length],
  ['pairs of interfaces that share 70 % of their fields', twins.length],
  ['circles of folders', circles.length],
  ['arrows up', upward.length],
]
const width = Math.max(...rows.map(([name]) => name.length))
for (const [name, value] of rows)
  console.log(`${name.padEnd(width)}  ${value.toLocaleString('en').padStart(8)}`)
if (process.argv.includes('--names')) {
  const lists = { 'Long functions': long, Pairs: twins, Circles: circles, Up: upward.map(({ from }) => from) }
  for (const [name, list] of Object.entries(lists)) console.log(`\n${name}:\n${list.join('\n')}`)
}
