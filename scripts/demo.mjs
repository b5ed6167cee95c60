// npm run demo: install, build, then show a transaction's life on a running node, or on one that it starts.
import { launch } from './launch.mjs'
import { prepare } from './prepare.mjs'

await prepare()
launch('apps/cli/dist/main.js', ['demo', ...process.argv.slice(2)])
