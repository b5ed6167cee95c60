// Writes the table of docs/summons.md about time: simulates every attack, for minutes. Run after `tsc -b`.
import { measureFees } from '../packages/follower/dist/watcher/test/silence/money.js'
import { summonsTimes } from '../packages/follower/dist/watcher/test/silence/stories.js'
import { writeSection } from './sections.mjs'

const isCurrent = writeSection(
  'docs/summons.md',
  'times',
  await summonsTimes(await measureFees()),
  process.argv.includes('--check'),
)
process.exit(isCurrent ? 0 : 1)
