// Checks a package before it is published: publint, attw (profile "esm-only"), and what both leave out.
import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { checkPackage, Package } from '@arethetypeswrong/core'
import { problemAffectsResolutionKind } from '@arethetypeswrong/core/problems'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { root } from '../prepare.mjs'

/** Resolutions of an ESM-only package: attw's profile "esm-only" leaves out node10 and CommonJS. */
const resolutions = ['node16-esm', 'bundler']

/** @returns {Promise<string[]>} one message per fault */
export async function lintPackage(subject) {
  return [...(await lintWithPublint(subject)), ...(await lintTypes(subject)), ...lintContents(subject)]
}

async function lintWithPublint({ folder, manifest, files }) {
  const contents = files.map((name) => ({
    name: `package/${name}`,
    data:
      name === 'package.json'
        ? Buffer.from(JSON.stringify(manifest))
        : readFileSync(join(root, folder, name)),
  }))
  const { messages, pkg } = await publint({ pkgDir: 'package', pack: { files: contents }, strict: true })
  return messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`)
}

async function lintTypes({ name, folder, manifest, files }) {
  const base = `/node_modules/${name}/`
  const contents = Object.fromEntries(
    files.map((file) => [base + file, readFileSync(join(root, folder, file))]),
  )
  contents[`${base}package.json`] = JSON.stringify(manifest)
  const analysis = await checkPackage(new Package(contents, name, manifest.version))
  if (!analysis.types) return ['attw: no types']
  return analysis.problems
    .filter((problem) => resolutions.some((kind) => problemAffectsResolutionKind(problem, kind, analysis)))
    .map((problem) => `attw: ${problem.kind} ${problem.entrypoint ?? problem.fileName ?? ''}`)
}

/** The sources that maps name, links of the README, and nothing that belongs to tests. */
function lintContents({ folder, manifest, files }) {
  const faults = []
  const packed = new Set(files)
  const read = (file) => readFileSync(join(root, folder, file), 'utf8')

  if (manifest.repository?.directory !== folder) faults.push(`repository.directory is not ${folder}`)
  for (const field of ['homepage', 'bugs', 'author', 'license', 'engines', 'description']) {
    if (!manifest[field]) faults.push(`${field} is missing`)
  }
  const floating = Object.entries({ ...manifest.dependencies }).filter(([, range]) =>
    /[*]|workspace:|catalog:/.test(range),
  )
  for (const [name, range] of floating) faults.push(`depends on ${name} ${range}`)

  for (const file of files.filter((name) => name.endsWith('.map'))) {
    for (const source of JSON.parse(read(file)).sources) {
      const target = posix.normalize(posix.join(dirname(file), source))
      if (!packed.has(target)) faults.push(`${file} names ${target}, which is not packed`)
    }
  }
  for (const file of files.filter((name) => /\.(test|tap)\.|(^|\/)test\//.test(name))) {
    faults.push(`${file} belongs to the tests`)
  }
  if (!packed.has('README.md')) faults.push('README.md is missing')
  else {
    for (const [, link] of read('README.md').matchAll(/\]\(([^)\s]+)\)/g)) {
      const [path] = link.split('#')
      if (path === '' || /^[a-z]+:/.test(path)) continue
      const target = posix.normalize(path)
      const isPacked = packed.has(target) || files.some((file) => file.startsWith(`${target}/`))
      if (!isPacked) faults.push(`README.md links to ${link}, which is not packed`)
    }
  }
  return faults
}
