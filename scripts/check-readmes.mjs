// Code blocks of documents hold true: js and ts blocks compile against the built packages, json blocks parse,
// sh blocks are valid shell and name files and npm scripts that exist. A js or ts block without an import
// continues the blocks before it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { filesBelow } from './files.mjs'
import { root } from './prepare.mjs'

const folder = join(root, '.readmes')
const faults = []
const programs = new Map()
const specifiers = new Set()

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
try {
  for (const path of filesBelow(root, /\.md$/)) {
    let before = { text: '', language: 'js' }
    for (const block of blocksOf(path)) before = check(path, block, before)
  }
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

/** Links every workspace package, and what else the blocks import from where a package has it installed. */
function linkPackages() {
  const homes = ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => join(root, parent, name)),
  )
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
  const messages = stdout.split('\n').filter((message) => !untyped.test(message))
  for (const message of messages) {
    const [, file, line, text] = message.match(/^([^(]+)\((\d+),\d+\): (.*)$/) ?? []
    const { name, first, line: opening } = programs.get(file) ?? {}
    // Faults of a repeated block were reported there.
    if (name && first + Number(line) > opening) faults.push(`${name}:${first + Number(line)}: ${text}`)
  }
  if (status !== 0 && faults.length === before && messages.some(Boolean)) faults.push(messages.join('\n'))
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
