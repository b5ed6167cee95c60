// npm start: install, build, run the node.
import { launch } from './launch.mjs'
import { prepare } from './prepare.mjs'
import { begin } from './steps.mjs'

await prepare()
const end = begin('Starting the node')
// The node sends a message when it is up.
launch('apps/node/dist/main.js').once('message', end)
