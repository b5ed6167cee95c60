// Writes the tables of rules, sizes and costs into README.md. Run after `tsc -b packages/contracts`.
import { readFileSync, writeFileSync } from 'node:fs'
import { withTables } from '../dist/test/readme-tables.js'

const path = new URL('../README.md', import.meta.url)
writeFileSync(path, withTables(readFileSync(path, 'utf8')))
