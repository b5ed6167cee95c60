import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { testWallets } from '@ratatosk/devnet'
import t from 'tap'
import { anyPlacement, temporaryDirectory } from '../test/backends.js'
import { runtimes } from '../test/engines.js'
import { runNode } from '../test/node.js'
import { withoutNetwork } from '../test/without-network.js'

// Installs Bun and Deno on first use.
t.setTimeout(600_000)

const program = fileURLToPath(new URL('../test/runtime-program.js', import.meta.url))
const found = await runtimes()
const skip = typeof found === 'string' && found
const own = { name: 'node', program: process.execPath, args: [] }
const engines = typeof found === 'string' ? [own] : [own, ...found]

t.test(
  'client, cbor, ledger, trie and the dev wallet: the same in Node, Bun and Deno',
  { skip },
  async (t) => {
    const node = await runNode(t, await anyPlacement(t))
    const outputs: unknown[] = []
    for (const [index, { program: runtime, args }] of engines.entries()) {
      const account = String(testWallets.wallets.length - 1 - index)
      const { stdout } = await promisify(execFile)(
        runtime,
        [...args, program, node.url, testWallets.mnemonic, account],
        // Without what the test runner preloads into Node.
        { env: { PATH: process.env.PATH, HOME: await temporaryDirectory(t) } },
      )
      outputs.push(JSON.parse(stdout))
    }
    const [expected] = outputs
    t.match(expected, {
      ...withoutNetwork(),
      mint: { isAccepted: true, steps: /^\d+$/ },
      firstEvent: 'accepted',
      wallet: { address: /^00[0-9a-f]{112}$/, data: { signature: /^84/ } },
    })
    for (const [index, { name }] of engines.entries()) t.same(outputs[index], expected, name)
  },
)

t.test('a page that Vite bundles of them computes the same', async (t) => {
  const { build } = await import('vite')
  const outDir = await temporaryDirectory(t)
  const entry = fileURLToPath(new URL('../test/without-network.js', import.meta.url))
  await build({
    configFile: false,
    logLevel: 'error',
    root: outDir,
    build: { outDir, lib: { entry, formats: ['es'], fileName: () => 'page.mjs' } },
  })
  const page = await import(pathToFileURL(join(outDir, 'page.mjs')).href)
  t.same(page.withoutNetwork(), withoutNetwork())
})
