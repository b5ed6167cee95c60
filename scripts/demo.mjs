// npm run demo: install, build, then show a transaction's life on a running node, or on one that it starts.
import { launch } from './launch.mjs'
import { prepare } from './prepare.mjs'

await prepare()
launch('examples/demo/main.js')
