// Measures the size and the style of a checkout, of this or an older commit, and prints a table:
//   node scripts/measure-house.mjs [<path of a checkout>] [--names]
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { commentLines, words } from './words.mjs'

const [checkout = join(import.meta.dirname, '..')] = process.argv
  .slice(2)
  .filter((word) => word !== '--names')
const folder = resolve(checkout)
const git = (...args) =>
  execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', maxBuffer: 2 ** 26 })

/** Every tracked text file that is measured: `name`, `text`, `lines`. */
const files = git('ls-files')
  .split('\n')
  .filter((name) => /\.(?:tsx?|mjs|js|md)$/.test(name))
  .flatMap((name) => {
    const text = readIfPresent(join(folder, name))
    return text === undefined ? [] : [{ name, text, lines: text.replace(/\n$/, '').split('\n') }]
  })

const isMarkdown = ({ name }) => name.endsWith('.md')
const isTest = ({ name }) =>
  /\.(?:test|tap|test-d)\.(?:ts|mjs)$|(?:^|\/)(?:test|e2e)\//.test(name) ||
  /^packages\/(?:test-kit|test-vectors|fixtures)\//.test(name)
const isScript = ({ name }) =>
  /^(?:scripts|bench)\/|\/(?:scripts|conformance)\//.test(name) ||
  /^(?:(?:packages|apps)\/[^/]+\/)?[^/]+\.(?:mjs|js|ts)$/.test(name)
const isGenerated = ({ lines }) => lines.slice(0, 6).some((line) => /do not edit/i.test(line))

const code = files.filter((file) => !isMarkdown(file))
const written = code.filter((file) => !isGenerated(file))
const examples = written.filter(({ name }) => name.startsWith('examples/'))
const tests = written.filter((file) => isTest(file) && !examples.includes(file))
const scripts = written.filter((file) => !isTest(file) && isScript(file))
const source = written.filter((file) => ![...examples, ...tests, ...scripts].includes(file))
const markdown = files.filter(isMarkdown).map((file) => {
  const byHand = isGenerated(file) ? '' : withoutGenerated(file.text)
  return { ...file, byHand, words: wordsOf(byHand), generated: wordsOf(file.text) - wordsOf(byHand) }
})

const exported = exportedNames(source)
const rows = [
  ['lines of source', lineSum(source)],
  ['lines of tests', lineSum(tests)],
  ['lines of scripts and benchmarks', lineSum(scripts)],
  ['lines of examples', lineSum(examples)],
  ['lines of generated code', lineSum(code.filter(isGenerated))],
  ['words of Markdown by hand', sum(markdown.map(({ words }) => words))],
  ['words of generated Markdown', sum(markdown.map(({ generated }) => generated))],
  ['words of comments in source', sum(source.map(commentWords))],
  ['files of source over 300 lines', over300(source)],
  ['files of tests over 300 lines', over300(tests)],
  ['files of scripts and benchmarks over 300 lines', over300(scripts)],
  ['lines over 110 columns', sum(written.map(({ lines }) => lines.filter(isLong).length))],
  ['hex conversions in source', sum(source.map(hexConversions))],
  [
    'lines of Markdown with words to avoid',
    sum(markdown.map(({ byHand }) => linesToAvoid(byHand.split('\n')))),
  ],
  ['lines of comments with words to avoid', sum(written.map(({ text }) => linesToAvoid(commentLines(text))))],
  ['exported types whose name occurs in several packages', inSeveralPackages(exported).length],
  ['exports used in their own file only', unusedElsewhere(exported).length],
  ['settings in several hand-written tables', inSeveralTables(/^`([A-Z]+_[A-Z0-9_]+)/).length],
  [
    'routes in several hand-written tables',
    inSeveralTables(/^`(?:GET |POST |DELETE )?(\/[a-zA-Z][\w/.{}-]*)/).length,
  ],
  ['measured figures by hand outside docs/performance.md', measuredFigures()],
]
const width = Math.max(...rows.map(([name]) => name.length))
console.log(`${git('log', '-1', '--format=%h %s').trim()}\n`)
for (const [name, value] of rows)
  console.log(`${name.padEnd(width)}  ${value.toLocaleString('en').padStart(8)}`)
if (process.argv.includes('--names')) {
  console.log(`\ntypes: ${inSeveralPackages(exported).join(', ')}`)
  console.log(`exports: ${unusedElsewhere(exported).join(', ')}`)
  console.log(
    `long files: ${[...source, ...tests, ...scripts]
      .filter(isLarge)
      .map(({ name }) => name)
      .join(', ')}`,
  )
}

/** The text of a file; undefined if it was deleted and not committed. */
function readIfPresent(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0)
}

function lineSum(some) {
  return sum(some.map(({ lines }) => lines.length))
}

function isLarge({ lines }) {
  return lines.length > 300
}

function isLong(line) {
  return line.length > 110
}

function over300(some) {
  return some.filter(isLarge).length
}

/** Words as `wc -w` counts them. */
function wordsOf(text) {
  return text.split(/\s+/).filter(Boolean).length
}

/** Markdown without the sections that scripts write. */
function withoutGenerated(text) {
  return text
    .replace(/<!-- ([\w -]+): begin -->[\s\S]*?<!-- \1: end -->/g, '')
    .replace(/<!-- ([\w-]+): [\s\S]*?-->[\s\S]*?<!-- \/\1 -->/g, '')
}

function commentWords({ text }) {
  return wordsOf(
    commentLines(text)
      .filter(Boolean)
      .join('\n')
      .replace(/^\s*(?:\/\/|\/?\*+\/?)/gm, ''),
  )
}

/** Calls that turn bytes into hex or hex into bytes. */
function hexConversions({ text }) {
  return (text.match(/(?<!function )\b(?:toHex|fromHex)\(/g) ?? []).length
}

function linesToAvoid(lines) {
  return lines.filter((line) => line !== undefined && words.some(([pattern]) => pattern.test(line))).length
}

/** The declarations and exports of each package: `name`, `kind`, `package`, `file`. */
function exportedNames(some) {
  const declared =
    /^export (?:declare )?(?:abstract )?(?:async )?(interface|type|class|enum|function\*?|const|let) (\w+)/gm
  return some.flatMap(({ name: file, text }) =>
    [...text.matchAll(declared)].map(([, kind, name]) => ({
      name,
      kind,
      file,
      package: file.split('/').slice(0, 2).join('/'),
    })),
  )
}

function inSeveralPackages(names) {
  const packages = new Map()
  for (const { name, kind, package: of } of names) {
    if (/^(?:interface|type|class|enum)$/.test(kind))
      packages.set(name, (packages.get(name) ?? new Set()).add(of))
  }
  return [...packages].filter(([, of]) => of.size > 1).map(([name]) => name)
}

/** Exported names that no other file contains. drizzle-kit reads a store's tables without naming them. */
function unusedElsewhere(names) {
  const filesWith = new Map()
  for (const { name, text } of [...code, ...examplesInMarkdown()]) {
    for (const word of new Set(text.match(/\w+/g)))
      filesWith.set(word, (filesWith.get(word) ?? new Set()).add(name))
  }
  return names
    .filter(({ name, file }) => (filesWith.get(name)?.size ?? 0) < 2 && !/\/schema\/.*tables\.ts$/.test(file))
    .map(({ name }) => name)
}

/** The blocks of TypeScript in Markdown, which `npm test` type-checks: `name` and `text` of each document. */
function examplesInMarkdown() {
  return markdown.map(({ name, byHand }) => ({
    name,
    text: [...byHand.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, block]) => block).join(''),
  }))
}

/** First cells of hand-written table rows that match, in more than one file. */
function inSeveralTables(pattern) {
  const found = new Map()
  for (const { name, byHand } of markdown) {
    for (const [, cell = ''] of byHand.matchAll(/^\| ([^|]*?) +\|/gm)) {
      const match = pattern.exec(cell)?.[1]
      if (match !== undefined) found.set(match, (found.get(match) ?? new Set()).add(name))
    }
  }
  return [...found].filter(([, names]) => names.size > 1).map(([match]) => match)
}

/** Lines by hand with a rate, a time or a factor that was measured. */
function measuredFigures() {
  const figure = /\d(?:[\d,.]*) ?(?:tx\/s|µs\b|\/s\b)|p(?:50|95|99)\b[^\dp]{0,20}\d|[×x]\d+\.\d/
  return sum(
    markdown
      .filter(({ name }) => name !== 'docs/performance.md')
      .map(({ byHand }) => byHand.split('\n').filter((line) => figure.test(line)).length),
  )
}
