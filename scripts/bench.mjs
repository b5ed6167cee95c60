// npm run bench [name …]: install, build, then every script of bench/, or those named.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { prepare, root } from './prepare.mjs'
import { run } from './steps.mjs'

await prepare()

const names = process.argv.slice(2)
const scripts = readdirSync(join(root, 'bench'))
  .filter((file) => file.endsWith('.mjs'))
  .filter((file) => names.length === 0 || names.includes(file.slice(0, -'.mjs'.length)))
  .sort()
let failed = 0
for (const script of scripts) {
  console.log(`\n── bench/${script}`)
  const status = await run(process.execPath, [join('bench', script)], { cwd: root, stdio: 'inherit' })
  if (status !== 0) failed++
}
process.exit(failed > 0 ? 1 : 0)
