// npm start: install, build, run the node.
import { launch } from './launch.mjs'
import { prepare } from './prepare.mjs'

prepare()
launch('apps/node/dist/main.js')
