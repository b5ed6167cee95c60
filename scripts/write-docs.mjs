// Writes the sections of documents that are generated from code and figures. `--check` only reports sections
// that are out of date.
import { compatibilityTable } from './compatibility.mjs'
import { decisionsTable } from './decisions.mjs'
import { hostSections, portsText } from './hosts.mjs'
import { installSections } from './installing.mjs'
import { packagesTable } from './packages.mjs'
import { prepare } from './prepare.mjs'
import { registeredRoutes, routesTable, servedBySource } from './routes.mjs'
import { writeSection, writeSource } from './sections.mjs'

const checking = process.argv.includes('--check')
if (!checking) await prepare()

const { settingsTables } = await import('../apps/node/dist/settings/schema.js')
const { remediesTable } = await import('../packages/explorer/dist/console/browser/remedies.js')
const { summonsMoney } = await import('./summons.mjs')
const { performanceSections } = await import('./performance.mjs')
const routes = await registeredRoutes()
if (routes === undefined) console.log('The routes by role are left as they are: PostgreSQL does not respond.')

const sections = [
  ['docs/settings.md', 'settings', settingsTables()],
  ['docs/errors.md', 'predicates', remediesTable()],
  ['docs/decisions/README.md', 'decisions', decisionsTable()],
  ['docs/compatibility.md', 'sdks', compatibilityTable()],
  ['docs/layout.md', 'packages', packagesTable()],
  ['docs/ports.md', 'ports', portsText()],
  ...hostSections(),
  ...installSections(),
  ['docs/summons.md', 'money', await summonsMoney()],
  ...performanceSections({ plots: !checking }),
  ...(routes === undefined ? [] : [['docs/routes.md', 'routes', routesTable(routes)]]),
]
const outdated = sections.filter(([path, name, markdown]) => !writeSection(path, name, markdown, checking))
const isServedByCurrent =
  routes === undefined || writeSource('apps/cli/src/frame/served-by.ts', servedBySource(routes), checking)
process.exit(outdated.length > 0 || !isServedByCurrent ? 1 : 0)
