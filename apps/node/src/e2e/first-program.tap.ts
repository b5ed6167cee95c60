import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { anyPlacement, temporaryDirectory } from '../test/backends.js'
import { runNode } from '../test/node.js'

t.setTimeout(120_000)

const readme = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8')

t.test('the first program of README.md pays with the wallets of the devnet', async (t) => {
  const [, program] = /```js\n([\s\S]*?)```/.exec(readme) ?? []
  if (program === undefined) throw new Error('README.md has no program')
  const { url, store } = await runNode(t, { ...(await anyPlacement(t)), AUTO_COMMIT: 'false' })

  // As CommonJS, because the ES modules of Lucid's libsodium lack a file; examples/dapp-lucid overrides it.
  const lucid = createRequire(import.meta.url).resolve('@lucid-evolution/lucid')
  const path = join(await temporaryDirectory(t), 'pay.mjs')
  writeFileSync(
    path,
    program
      .replace(
        /import (\{.*\}) from '@lucid-evolution\/lucid'/,
        `import { createRequire } from 'node:module'\nconst $1 = createRequire('/')('${lucid}')`,
      )
      .replace('http://127.0.0.1:3000', url),
  )
  const { stdout } = await promisify(execFile)(process.execPath, [path])
  const [, hash = ''] = /^paid 5 ada on layer 2: ([0-9a-f]{64})$/m.exec(stdout) ?? []
  t.ok(await store.transaction(Buffer.from(hash, 'hex')), 'the ledger has its transaction')
})
