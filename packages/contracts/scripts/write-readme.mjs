// Writes the tables of sizes and costs into README.md. Run after `tsc -b packages/contracts`.
import { readFileSync, writeFileSync } from 'node:fs'
import { costTables } from '../dist/test/costs.js'

const path = new URL('../README.md', import.meta.url)
const [before, rest] = readFileSync(path, 'utf8').split('<!-- costs: begin -->')
const [, after] = rest.split('<!-- costs: end -->')
writeFileSync(path, `${before}<!-- costs: begin -->\n${costTables()}\n<!-- costs: end -->${after}`)
