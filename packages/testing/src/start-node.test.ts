import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@ratatosk/client'
import { loadNode } from '@ratatosk/node/bundled'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type SavedState, startNode, type TestNode } from './index.js'
import { templateOf } from './template.js'

// A first start creates a database, which takes long on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

// As CommonJS, because the ES modules of Lucid's libsodium lack a file.
const lucidPath = createRequire(import.meta.url).resolve('@lucid-evolution/lucid')
const { Blockfrost, Lucid, SLOT_CONFIG_NETWORK } = createRequire(import.meta.url)(
  lucidPath,
) as typeof import('@lucid-evolution/lucid')

let cache: string
let node: TestNode
/** The default of a process in the folder. */
const templates = () => join(cache, 'node_modules', '.cache', 'ratatosk', 'testing')

beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), 'ratatosk-cache-'))
  // A database of another version may be there: it is made again.
  const { build } = await loadNode()
  const store = join(templateOf(templates(), {}, build), 'store')
  await mkdir(store, { recursive: true })
  await writeFile(join(store, 'damaged'), '')
  node = await startNode({ templates: templates() })
})

afterAll(async () => {
  await node?.close()
  await rm(cache, { recursive: true })
})

/** Pays from the first wallet to the second. Returns the hash of the transaction, which is accepted. */
async function pay(from: TestNode, lovelace: bigint, validFrom?: number): Promise<string> {
  const { slotClock } = await createClient(from.url).getNetwork()
  SLOT_CONFIG_NETWORK.Custom = slotClock
  const [payer, receiver] = from.wallets
  const lucid = await Lucid(new Blockfrost(`${from.url}/l2/blockfrost/api/v0`, 'none'), 'Custom')
  lucid.selectWallet.fromSeed(payer?.seedPhrase ?? '', { accountIndex: payer?.account ?? 0 })
  const draft = lucid.newTx().pay.ToAddress(receiver?.address ?? '', { lovelace })
  if (validFrom !== undefined) draft.validFrom(slotClock.zeroTime + validFrom * slotClock.slotLength)
  const built = await draft.complete()
  return (await built.sign.withWallet().complete()).submit()
}

const outputsOf = async ({ url, wallets }: TestNode, wallet: number) =>
  (await createClient(url).listUtxos({ address: wallets[wallet]?.address ?? '' })).utxos

test('a node starts from its template, with a ledger of its own', async () => {
  expect(await readdir(templates())).toHaveLength(1)
  const other = await startNode({ wallets: 3, templates: templates() })
  onTestFinished(() => other.close())
  expect(await readdir(templates())).toHaveLength(1)
  expect(other.wallets).toHaveLength(3)
  for (let wallet = 0; wallet < 3; wallet++)
    expect((await outputsOf(other, wallet)).length).toBeGreaterThan(0)
  const outputs = await outputsOf(node, 1)
  await pay(other, 2_000_000n)
  expect(await outputsOf(other, 1)).toHaveLength(outputs.length + 1)
  expect(await outputsOf(node, 1)).toEqual(outputs)
})

test('time travel makes transactions valid and blocks mature', async () => {
  const client = createClient(node.url)
  const later = node.slot() + 7200
  await expect(pay(node, 3_000_000n, later)).rejects.toThrow(/OutsideValidityInterval/)
  await node.awaitSlot(later)
  expect(node.slot()).toBeGreaterThanOrEqual(later)
  const hash = await pay(node, 3_000_000n, later)
  await client.awaitTx(hash, { finality: 'committed' })
  expect((await client.getTransactionStatus({ tx_hash: hash })).status).toBe('committed')
  // Further than any timeout of this test waits.
  await node.awaitSlot(node.slot() + 86_400)
  await client.awaitTx(hash, { finality: 'merged' })
  await node.awaitSlot(later)
})

test('awaits whole slots only, and none once it is closed', async () => {
  const other = await startNode({ templates: templates() })
  onTestFinished(() => other.close())
  for (const slot of [Number.NaN, Number.POSITIVE_INFINITY, 1.5])
    await expect(other.awaitSlot(slot)).rejects.toThrow(`slot must be a whole number, not ${slot}`)
  expect(other.slot()).toBeGreaterThan(0)
  const pending = expect(other.awaitSlot(other.slot() + 100)).rejects.toThrow('The node is closed')
  await other.close()
  await pending
  await expect(other.awaitSlot(0)).rejects.toThrow('The node is closed')
  await expect(other.save()).rejects.toThrow('The node is closed')
})

test('a saved state comes back, with its time, as often as wanted', async () => {
  const client = createClient(node.url)
  const { url } = node
  const before = await outputsOf(node, 1)
  const state = await node.save()
  const saved = node.slot()
  const hash = await pay(node, 4_000_000n)
  await client.awaitTx(hash, { finality: 'committed' })
  await node.awaitSlot(node.slot() + 100_000)
  await client.awaitTx(hash, { finality: 'merged' })
  for (let round = 0; round < 2; round++) {
    await node.load(state)
    expect(node.url).toBe(url)
    expect(node.slot() - saved).toBeLessThan(50_000)
    expect(await outputsOf(node, 1)).toEqual(before)
  }
})

test('loads nothing but a saved state, and runs on', async () => {
  for (const state of [undefined, {}, { folder: join(cache, 'none'), time: 0 }, { folder: cache }])
    await expect(node.load(state as SavedState)).rejects.toThrow(
      new TypeError('load() takes a state that save() of an open node has given: { folder, time }'),
    )
  expect((await fetch(`${node.url}/health/live`)).status).toBe(200)
})

test('a start that fails closes what it has opened', async () => {
  const listening = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length
  const before = listening()
  expect(before).toBeGreaterThan(0)
  // As for a port that `fetch` refuses, such as 1.
  const refuses = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('fetch failed'))
  onTestFinished(() => refuses.mockRestore())
  await expect(startNode({ settings: { MERGE_INTERVAL_MS: '501' }, templates: cache })).rejects.toThrow(
    'fetch failed',
  )
  expect(listening()).toBe(before)
})

test('refuses what a test node cannot have', async () => {
  for (const wallets of [8, -1, 1.5])
    await expect(startNode({ wallets, templates: cache })).rejects.toThrow(
      `wallets must be a whole number from 0 to 7, not ${wallets}`,
    )
  for (const name of ['DATABASE_URL', 'PORT'])
    await expect(startNode({ settings: { [name]: '1' }, templates: cache })).rejects.toThrow(
      new TypeError(`settings must not contain ${name}`),
    )
  const misspelt = { wallet: 2, templates: cache } as object
  await expect(startNode(misspelt)).rejects.toThrow(
    new TypeError('there is no option wallet; the options are wallets, settings, templates'),
  )
  await expect(startNode({ settings: { MATURITY_WINDOW: '5' }, templates: cache })).rejects.toThrow(
    new TypeError('there is no setting MATURITY_WINDOW: did you mean MATURITY_WINDOW_MS?'),
  )
  for (const name of ['PORT_FILE', 'toString'])
    await expect(startNode({ settings: { [name]: '5000' }, templates: cache })).rejects.toThrow(
      new TypeError(`there is no setting ${name}`),
    )
  await expect(startNode({ settings: { LOG_LEVEL: 'loud' }, templates: cache })).rejects.toThrow(/LOG_LEVEL/)
})

test('the program of README.md passes with node:test', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const [, program = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? []
  // Here, because a package can import itself by its name.
  const path = fileURLToPath(new URL(`../dist/example-${process.pid}.mjs`, import.meta.url))
  onTestFinished(() => rm(path))
  await writeFile(
    path,
    program.replace(
      /import (\{.*\}) from '@lucid-evolution\/lucid'/,
      `import { createRequire } from 'node:module'\nconst $1 = createRequire('/')('${lucidPath}')`,
    ),
  )
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', path], {
    env: { PATH: process.env.PATH },
    cwd: cache,
  })
  expect(stdout).toMatch(/^(#|ℹ) pass 1$/m)
  expect(await readdir(templates())).toHaveLength(1)
})
