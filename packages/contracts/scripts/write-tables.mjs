// Writes RULES.md and COSTS.md. Run after `tsc -b`.
import { writeFileSync } from 'node:fs'
import { generatedFiles } from '../dist/test/generated-files.js'

for (const [name, text] of Object.entries(generatedFiles))
  writeFileSync(new URL(`../${name}`, import.meta.url), text())
