// Code blocks of documents hold true: js and ts blocks compile against the built packages, json blocks parse,
// sh blocks are valid shell and name files and npm scripts that exist. A js or ts block without an import
// continues the blocks before it. An @example of a docstring compiles too: what it calls exists, other names
// may be the reader's.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { filesBelow } from './files.mjs'
import { root } from './prepare.mjs'

const folder = join(root, '.readmes')
const faults = []
const programs = new Map()
const specifiers = new Set()
const homes = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(join(root, parent)).map((name) => join(root, parent, name)),
)
/** The sources of what each package exports. */
const entries = new Map(homes.map((home) => [home, entriesOf(home)]))
const exported = new Map([...entries.values()].flat().map((file) => [file, exportsOf(file)]))

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
try {
  for (const path of filesBelow(root, /\.md$/)) {
    let before = { text: '', language: 'js' }
    for (const block of blocksOf(path)) before = check(path, block, before)
  }
  for (const home of homes)
    for (const path of filesBelow(join(home, 'src'), /(?<!\.(?:test|tap))\.ts$/)) checkExamples(home, path)
  linkPackages()
  compile()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
for (const fault of faults) console.error(fault)
process.exit(faults.length > 0 ? 1 : 0)

/** Checks a block, or writes it for the compiler. Returns the program that the next block may continue. */
function check(path, { language, line, text }, before) {
  const name = relative(root, path)
  if (language === 'json') {
    try {
      JSON.parse(text)
    } catch (error) {
      faults.push(`${name}:${line}: ${error.message}`)
    }
  } else if (language === 'sh') {
    for (const fault of shellFaults(path, text)) faults.push(`${name}:${line}: ${fault}`)
  } else if (language === 'js' || language === 'ts') {
    const imports = [...text.matchAll(/(?:from|import)\s*\(?'([^'.#]+)'/g)]
    for (const [, specifier] of imports) specifiers.add(specifier)
    // A scope of its own lets a block declare a name again.
    const continues = imports.length === 0
    const program = continues
      ? {
          text: `${before.text}\n{\n${text}\n}`,
          language: before.language === 'ts' ? 'ts' : language,
          first: line - before.text.split('\n').length - 1,
        }
      : { text, language, first: line }
    const file = `${name.replace(/[^a-zA-Z0-9]/g, '_')}_${line}.m${program.language}`
    programs.set(file, { name, first: program.first, line })
    writeFileSync(join(folder, file), `${program.text}\nexport {}\n`)
    return program
  }
  return before
}

function shellFaults(path, text) {
  const { status, stderr } = spawnSync('sh', ['-n'], { input: text, encoding: 'utf8' })
  const places = [root, dirname(path)]
  const missing = [...text.matchAll(/^(?:\w+=\S+ )*node (?:--\S+ )*([\w./-]+\.m?js)\b/gm)]
    .map(([, file]) => file)
    .filter((file) => !places.some((place) => existsSync(join(place, file))))
  const unknown = [...text.matchAll(/^(?:\w+=\S+ )*npm run (?:--?\S+ )*([\w:-]+)/gm)]
    .map(([, script]) => script)
    .filter((script) => !places.some((place) => scriptsOf(place)[script]))
  return [
    ...(status === 0 ? [] : [stderr.trim()]),
    ...missing.map((file) => `${file} does not exist`),
    ...unknown.map((script) => `there is no npm script ${script}`),
  ]
}

function scriptsOf(place) {
  const manifest = join(place, 'package.json')
  return existsSync(manifest) ? (JSON.parse(readFileSync(manifest, 'utf8')).scripts ?? {}) : {}
}

/** Writes the examples of a source file for the compiler, with imports of what its package exports. */
function checkExamples(home, path) {
  const name = relative(root, path)
  for (const { line, text } of examplesOf(path)) {
    const own = [...text.matchAll(/import (?:type )?(?:\w+, )?\{([^}]*)\}/g)].flatMap(namesIn)
    const declared = [...text.matchAll(/(?:const|let|function|class|type|interface) (\w+)/g)]
    const known = new Set([...own, ...declared.map(([, each]) => each)])
    const [used, called] = [/\w+/g, /(?<![.\w])\w+(?=\()/g].map((pattern) => new Set(text.match(pattern)))
    const imports = []
    if (called.has('fastify')) imports.push("import { fastify } from 'fastify';")
    const ofHome = entries.get(home)
    for (const file of [path, ...ofHome, ...exported.keys()]) {
      const wanted = file === path || ofHome.includes(file) ? used : called
      const names = (exported.get(file) ?? exportsOf(file)).filter(
        (each) => wanted.has(each) && !known.has(each),
      )
      for (const each of names) known.add(each)
      const built = relative(folder, file).replace('/src/', '/dist/').replace(/\.ts$/, '.js')
      if (names.length > 0) imports.push(`import { ${names.join(', ')} } from '${built}';`)
    }
    const file = `${name.replace(/[^a-zA-Z0-9]/g, '_')}_${line}.mts`
    programs.set(file, { name, first: line, line, text })
    writeFileSync(join(folder, file), `${imports.join(' ')}\n${text}\nexport {}\n`)
  }
}

function entriesOf(home) {
  const { exports = {} } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  const targets = JSON.stringify(exports).match(/[^"]+\/dist\/[^"]+\.js/g) ?? []
  return [...new Set(targets)].map((target) =>
    join(home, target.replace('/dist/', '/src/').replace(/\.js$/, '.ts')),
  )
}

function exportsOf(path) {
  if (!existsSync(path)) return []
  const text = readFileSync(path, 'utf8')
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(namesIn)
  const declared = [
    ...text.matchAll(
      /^export (?:declare |abstract |async )*(?:function\*?|class|const|type|interface|enum) (\w+)/gm,
    ),
  ]
  return [...listed, ...declared.map(([, each]) => each)]
}

/** The names of `a, type B, c as d`: a, B, d. */
function namesIn([, list]) {
  return list.match(/\w+(?=\s*(?:,|$))/g) ?? []
}

/** Links every workspace package, and what else the blocks import from where a package has it installed. */
function linkPackages() {
  const link = (target, name) => {
    const path = join(folder, 'node_modules', name)
    if (existsSync(path)) return
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(target, path, 'junction')
  }
  for (const home of homes) {
    const manifest = join(home, 'package.json')
    if (existsSync(manifest)) link(home, JSON.parse(readFileSync(manifest, 'utf8')).name)
  }
  for (const specifier of specifiers) {
    const name = specifier.match(/^(?:@[^/]+\/)?[^/]+/)[0]
    const home = homes.find((each) => existsSync(join(each, 'node_modules', name)))
    if (home) link(join(home, 'node_modules', name), name)
  }
}

function compile() {
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: '../tsconfig.base.json',
      compilerOptions: {
        composite: false,
        noEmit: true,
        noUnusedLocals: false,
        checkJs: true,
        lib: ['ES2023', 'DOM'],
        typeRoots: [join(root, 'node_modules/@types')],
      },
      files: [...programs.keys()],
    }),
  )
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const args = [tsc, '-p', '.', '--pretty', 'false']
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  const before = faults.length
  // JavaScript has no place for the types of parameters.
  const untyped = /^\S+\.m?js\(.*: error TS70(?:05|06|31|34):/
  const messages = []
  for (const message of stdout.split('\n').filter((each) => each && !untyped.test(each))) {
    const [, file, line, text] = message.match(/^([^(]+)\((\d+),\d+\): (.*)$/) ?? []
    const { name, first, line: opening, text: example } = programs.get(file) ?? {}
    if (example !== undefined && isReaders(text, example)) continue
    messages.push(message)
    // Faults of a repeated block were reported there.
    if (name && first + Number(line) > opening) faults.push(`${name}:${first + Number(line)}: ${text}`)
  }
  if (status !== 0 && faults.length === before && messages.length > 0) faults.push(messages.join('\n'))
}

/**
 * Whether a message about an example is about a name of its reader, which the example does not call, or only
 * about what an excerpt lacks: the function around a `return`, types of parameters, `type` at our imports.
 */
function isReaders(text, example) {
  if (/TS(?:1108|1484|7006|7031):/.test(text)) return true
  const unknown = /TS(?:2304|2552|18004): .*?'(\w+)'/.exec(text)?.[1]
  return unknown !== undefined && !new RegExp(`(?<![.\\w])${unknown}\\(`).test(example)
}

/** The examples of docstrings, with the line of the tag. */
function examplesOf(path) {
  const examples = []
  let open
  readFileSync(path, 'utf8')
    .split('\n')
    .forEach((line, index) => {
      const tag = /^\s*(?:\/\*)?\* *@(\w+)/.exec(line)?.[1]
      if (open && (tag || /\*\//.test(line))) {
        examples.push({ line: open.line, text: open.lines.join('\n') })
        open = undefined
      }
      if (tag === 'example') open = { line: index + 1, lines: [] }
      // A fence without a language has an output.
      else if (/```$/.test(line) && open?.lines.length === 0) open = undefined
      else open?.lines.push(/```/.test(line) ? '' : line.replace(/^\s*\* ?/, ''))
    })
  return examples
}

/** Fenced blocks, with the line of the opening fence. */
function blocksOf(path) {
  const blocks = []
  let open
  readFileSync(path, 'utf8')
    .split('\n')
    .forEach((line, index) => {
      const fence = line.match(/^\s*```(\w*)/)
      if (open && fence) {
        blocks.push({ ...open, text: open.lines.join('\n') })
        open = undefined
      } else if (fence) open = { language: fence[1], line: index + 1, lines: [] }
      else open?.lines.push(line)
    })
  return blocks
}
