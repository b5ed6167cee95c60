// npm run version: gives every package its next version, from the files in .changeset, and moves their texts
// into CHANGELOG.md. All packages have one version.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'
import { run } from './steps.mjs'

const folder = join(root, '.changeset')
const texts = readdirSync(folder)
  .filter((name) => name.endsWith('.md'))
  .sort()
  .map((name) =>
    readFileSync(join(folder, name), 'utf8')
      .replace(/^---\n[\s\S]*?\n---\n/, '')
      .trim(),
  )
  .filter((text) => text !== '')
if (texts.length === 0) fail('There is no change to release. `npx changeset` describes one.')

const program = join(root, 'node_modules/@changesets/cli/bin.js')
const status = await run(process.execPath, [program, 'version'], { cwd: root })
if (status !== 0) fail('changeset failed. The lines above say why.')

const { version } = read('apps/node/package.json')
const manifest = readFileSync(join(root, 'package.json'), 'utf8')
writeFileSync(join(root, 'package.json'), manifest.replace(/("version": )"[^"]*"/, `$1"${version}"`))

const path = join(root, 'CHANGELOG.md')
const list = texts.map((text) => `- ${text.replaceAll('\n', '\n  ')}`).join('\n')
const changelog = readFileSync(path, 'utf8')
writeFileSync(
  path,
  changelog.replace(/^## /m, () => `## ${version}\n\n${list}\n\n## `),
)

function read(name) {
  return JSON.parse(readFileSync(join(root, name), 'utf8'))
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
