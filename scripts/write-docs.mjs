// npm run docs: writes the generated parts of the documents; with --check it only says whether they are up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepare, root, run } from './prepare.mjs'

const checking = process.argv.includes('--check')
if (!checking) prepare()

const { settingsTable } = await import('../apps/node/dist/settings/table.js')
const path = join(root, 'README.md')
const text = readFileSync(path, 'utf8')
const written = text.replace(
  /(<!-- settings: .*? -->\n)[\s\S]*?(<!-- \/settings -->)/,
  (_, open, close) => `${open}\n${settingsTable().trim()}\n\n${close}`,
)

/** The formatter aligns the columns of a table; that says nothing. */
const unaligned = (markdown) => markdown.replace(/ +/g, ' ').replace(/-{3,}/g, '---')

if (checking && unaligned(written) !== unaligned(text)) {
  console.error('README.md: the settings table is not that of the schema. `npm run docs` writes it.')
  process.exit(1)
}
if (!checking) {
  writeFileSync(path, written)
  process.exit(
    run(process.execPath, [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'format', '--write', path]),
  )
}
