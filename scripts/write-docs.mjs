// Writes the sections of documents that are generated from code. `--check` only reports those that are out of
// date.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decisionsTable } from './decisions.mjs'
import { prepare, root, run } from './prepare.mjs'
import { pluginsTable, registeredRoutes, routesTable } from './routes.mjs'

const checking = process.argv.includes('--check')
if (!checking) prepare()

const { settingsTables } = await import('../apps/node/dist/settings/table.js')
const routes = await registeredRoutes()
if (routes === undefined) console.log('The routes by role are left as they are: PostgreSQL does not respond.')

/** Generated sections, between `<!-- name: … -->` and `<!-- /name -->`. */
const sections = [
  { path: 'docs/settings.md', name: 'settings', write: settingsTables },
  { path: 'docs/decisions/README.md', name: 'decisions', write: decisionsTable },
  ...(routes === undefined
    ? []
    : [
        { path: 'docs/routes.md', name: 'routes', write: () => routesTable(routes) },
        { path: 'README.md', name: 'plugins', write: () => pluginsTable(routes) },
      ]),
]

/** The formatter pads table cells; padding does not count as a difference. */
const unpadded = (markdown) => markdown.replace(/ +/g, ' ').replace(/-{3,}/g, '---')

let outdated = 0
for (const { path, name, write } of sections) {
  const text = readFileSync(join(root, path), 'utf8')
  const written = text.replace(
    new RegExp(`(<!-- ${name}: .*? -->\n)[\\s\\S]*?(<!-- /${name} -->)`),
    (_, open, close) => `${open}\n${write().trim()}\n\n${close}`,
  )
  if (!checking) {
    writeFileSync(join(root, path), written)
    outdated += run(process.execPath, [
      join(root, 'node_modules/@biomejs/biome/bin/biome'),
      'format',
      '--write',
      path,
    ])
  } else if (unpadded(written) !== unpadded(text)) {
    console.error(`${path} is out of date. \`npm run generate\` writes it.`)
    outdated++
  }
}
process.exit(outdated > 0 ? 1 : 0)
