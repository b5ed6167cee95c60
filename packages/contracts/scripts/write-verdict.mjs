// Compiles the verdict policy of the tests and writes src/test/verdict.json. Run after
// `tsc -b packages/contracts`.
import { writeFileSync } from 'node:fs'
import { toHex } from '@ratatosk/cbor'
import { compileVerdictPolicy } from '../dist/test/verdict-policy.js'

const path = new URL('../src/test/verdict.json', import.meta.url)
writeFileSync(path, `${JSON.stringify({ program: toHex(compileVerdictPolicy()) }, null, 2)}\n`)
