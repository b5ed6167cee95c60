import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import t, { type Test } from 'tap'
import { anyPlacement, temporaryDirectory } from '../test/backends.js'
import { type Task, useClient } from '../test/client-program.js'
import { runNode } from '../test/node.js'
import {
  builderConfig,
  devnetFunds,
  devnetParameters,
  signedTransfer,
  transferFrom,
} from '../test/transfer.js'

t.setTimeout(300_000)

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

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const hasChromium = existsSync(executablePath) || process.env.RATATOSK_REQUIRE_SERVICES === '1'

async function taskFor(url: string, place: number): Promise<Task> {
  const { wallet, utxo } = devnetFunds(7, place)
  const { transfer } = await transferFrom(7, place)
  const [, hash, index] = /^825820(.{64})(.*)$/.exec(utxo.outref) ?? []
  const unknown = { ...utxo, outref: `825820${'ee'.repeat(31)}0${place}00` }
  const config = builderConfig(await devnetParameters())
  const invalid = signedTransfer(config, wallet, unknown, wallet.address, 5_000_000n)
  return {
    url,
    transaction: transfer.cborHex,
    txHash: transfer.hash,
    spent: `${hash}#${Number.parseInt(index?.slice(-2) ?? '', 16)}`,
    invalid: invalid.cborHex,
    invalidHash: invalid.hash,
  }
}

type Outcome = Awaited<ReturnType<typeof useClient>>

async function inWorker(task: Task): Promise<Outcome> {
  const worker = new Worker(new URL('../test/client-thread.js', import.meta.url), { workerData: task })
  const [outcome] = await once(worker, 'message')
  return outcome
}

async function inChromium(t: Test, task: Task): Promise<Outcome> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../test/client-program.js', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'program',
    platform: 'browser',
  })
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    env: { ...process.env, HOME: await temporaryDirectory(t) } as Record<string, string>,
  })
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`${task.url}/health/live`)
  return page.evaluate(
    `(async () => { ${outputFiles[0]?.text}; return program.useClient(${JSON.stringify(task)}) })()`,
  )
}

t.test('in Node.js, in a worker and in Chromium', { skip: !hasChromium && 'no Chromium' }, async (t) => {
  const { url } = await runNode(t, {
    ...(await anyPlacement(t)),
    MATURITY_WINDOW_MS: '500',
    BLOCK_VALIDITY_MS: '3000',
    MERGE_INTERVAL_MS: '500',
    SUBMIT_MAX_ATTEMPTS: '1',
  })
  const outcomes = {
    'Node.js': useClient(await taskFor(url, 0)),
    'a worker': inWorker(await taskFor(url, 1)),
    Chromium: inChromium(t, await taskFor(url, 2)),
  }
  const { transfer } = await transferFrom(7, 3)
  const { invalid } = await taskFor(url, 4)
  const examples = Promise.all([transfer.cborHex, invalid].map((each) => runExample(t, url, each)))
  for (const [name, outcome] of Object.entries(outcomes)) {
    const { position, ...rest } = await outcome
    t.same(
      rest,
      {
        accepted: true,
        merged: 'merged',
        told: ['accepted', 'built', 'submitted', 'committed', 'mature', 'merged'],
        refusal: ['BadInputsUTxO'],
        output: true,
        spent: 'absent',
        applied: { isApplied: true, position },
        notApplied: { isApplied: false },
      },
      name,
    )
  }

  const [told, toldOfRejection] = await examples
  t.match(told, new RegExp(`^${transfer.hash} is in block [0-9]+\n$`))
  t.match(toldOfRejection, /^BadInputsUTxO: /)
})

/** Runs the first example of the client's README as an application that has installed the client would. */
async function runExample(t: Test, url: string, transaction: string): Promise<string> {
  const directory = await temporaryDirectory(t)
  const client = new URL('../../../../packages/client/', import.meta.url)
  await mkdir(join(directory, 'node_modules/@ratatosk'), { recursive: true })
  await symlink(fileURLToPath(client), join(directory, 'node_modules/@ratatosk/client'))
  const readme = await readFile(new URL('README.md', client), 'utf8')
  const [, example = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? []
  const file = join(directory, 'example.mjs')
  await writeFile(file, example.replace('http://localhost:3000', url).replace('84a4…', transaction))
  const { stdout } = await promisify(execFile)(process.execPath, [file])
  return stdout
}
