// Compiles the validators and writes plutus.json. Run after `tsc -b packages/contracts`.
import { writeFileSync } from 'node:fs'
import { blueprint } from '../dist/validators/blueprint.js'

writeFileSync(new URL('../plutus.json', import.meta.url), `${JSON.stringify(blueprint(), null, 2)}\n`)
