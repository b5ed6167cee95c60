import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fromHex, toHex } from '@ratatosk/cbor'
import type { ValidatorTitle } from '../scripts.js'
import { type Compiled, compileInstrumented } from '../validators/blueprint.js'
import { isSecondOpinion } from './evaluate.js'

const repository = new URL('../../../../', import.meta.url)
/** Ignored by Git, and safe to delete. */
const folder = new URL('node_modules/.cache/ratatosk-contracts/', repository)

interface KeptBuild {
  /** Of everything that the program depends on. */
  readonly inputs: string
  readonly program: string
  readonly rules: readonly string[]
  /** Of the three above, to notice a file that was damaged or edited. */
  readonly digest: string
}

const builds = new Map<ValidatorTitle, Compiled>()
let inputs: string | undefined

/**
 * The instrumented build of a validator, see `compileInstrumented`. It takes seconds to compile, so a file
 * keeps it until the sources, their packages or the compiler change. Published programs are never kept.
 */
export function instrumentedBuild(title: ValidatorTitle): Compiled {
  inputs ??= digestOfInputs()
  const build =
    builds.get(title) ?? readKept(title, inputs) ?? keep(title, inputs, compileInstrumented(title))
  builds.set(title, build)
  return build
}

function readKept(title: ValidatorTitle, wanted: string): Compiled | undefined {
  let kept: KeptBuild
  try {
    kept = JSON.parse(readFileSync(fileOf(title), 'utf8'))
  } catch {
    return undefined
  }
  const { inputs, program, rules, digest } = kept
  const isCurrent = inputs === wanted && digest === digestOf({ inputs, program, rules })
  return isCurrent ? { program: fromHex(program), rules } : undefined
}

/** Renames a complete file into its place, because other test workers may read or write it too. */
function keep(title: ValidatorTitle, inputs: string, build: Compiled): Compiled {
  const content = { inputs, program: toHex(build.program), rules: build.rules }
  const kept: KeptBuild = { ...content, digest: digestOf(content) }
  const written = new URL(`${title}-${process.pid}.tmp`, folder)
  mkdirSync(folder, { recursive: true })
  writeFileSync(written, JSON.stringify(kept))
  renameSync(written, fileOf(title))
  return build
}

const fileOf = (title: ValidatorTitle) => new URL(`${title}.json`, folder)

const digestOf = ({ inputs, program, rules }: Omit<KeptBuild, 'digest'>) =>
  createHash('sha256')
    .update(JSON.stringify([inputs, program, rules]))
    .digest('hex')

/** The sources of this package, the packages that these import, and the versions of all dependencies. */
function digestOfInputs(): string {
  const hash = createHash('sha256').update(`${isSecondOpinion}\n`)
  const sources = filesBelow(new URL('packages/contracts/src/', repository), /(?<!\.test|\.d)\.ts$/)
  const imported = ['block', 'cbor', 'ledger'].flatMap((name) =>
    filesBelow(new URL(`packages/${name}/dist/`, repository), /(?<!\.test)\.js$/),
  )
  const lock = fileURLToPath(new URL('pnpm-lock.yaml', repository))
  for (const path of [...sources.filter((path) => !/\/src\/test\//.test(path)), ...imported, lock])
    hash.update(`${path}\n`).update(readFileSync(path))
  return hash.digest('hex')
}

const filesBelow = (directory: URL, name: RegExp): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => name.test(path))
    .sort()
    .map((path) => fileURLToPath(new URL(path, directory)))
