// npm run demo: install, build, then show a transaction's life, or with `-- fraud` how a theft is punished.
import { launch } from './launch.mjs'
import { prepare } from './prepare.mjs'

await prepare()
launch('apps/cli/dist/main.js', ['demo', ...process.argv.slice(2)])
