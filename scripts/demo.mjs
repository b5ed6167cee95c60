// npm run demo: install, build, tell the story of a transaction against a running node, or one that it starts.
import { launch } from './launch.mjs'
import { prepare } from './prepare.mjs'

prepare()
launch('apps/node/dist/demo/main.js')
