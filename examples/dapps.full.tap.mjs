// Runs the dApps as their users do: each SDK installed unchanged from the registry, and the same files on
// layer 1 and on layer 2 of a node, where only the URLs differ.
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { record } from './record.mjs'
import { install, linesOf } from './run-client.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))

/** The output of `scenario.js`: the name of each step, and how to check its values. */
const steps = {
  transferred: isHash,
  minted: isHash,
  'transferred-assets': isHash,
  burned: isHash,
  'locked-inline': isHash,
  'unlocked-inline': isHash,
  'locked-hash': isHash,
  'unlocked-hash': isHash,
  'published-script': isHash,
  'unlocked-by-reference': isHash,
  'found-by-address': isCount,
  'found-by-unit': isCount,
  'found-by-credential': isCount,
  chained: (t, step, text, ledger) => areHashes(t, step, text, ledger, 10),
  refused: namesThePredicate,
}

/** The lines of `large.js`, in order. */
const largeSteps = [
  ['minted-cip68', isDescribed],
  ['minted-hundred', isHash],
  ['saved-in-forty', isHash],
  ['paid-from-forty', hasFortyInputs],
  ['reversed', (t, step, text, ledger) => areHashes(t, step, text, ledger, 20)],
  ['found-in-crowd', (t, step, text) => t.equal(text, String(crowd), step)],
]
const largeNames = largeSteps.map(([step]) => step)

/** Outputs of one address. */
const crowd = 2000

/** Steps that an SDK itself cannot do, by folder and provider. README.md says why. */
const unsupported = {
  'dapp-blaze': {
    Blockfrost: ['found-by-credential'],
    'Kupo and Ogmios': ['found-by-credential'],
  },
}

const providers = {
  Blockfrost: (base) => ({ CARDANO_API: `${base}/blockfrost/api/v0` }),
  'Kupo and Ogmios': (base) => ({ CARDANO_KUPO: `${base}/kupo`, CARDANO_OGMIOS: `${base}/ogmios` }),
}

const sdks = process.env.RATATOSK_SDKS
const folders = (await readdir(here)).filter((name) => name.startsWith('dapp-'))
const chosen = folders.filter((name) => sdks === 'all' || name === `dapp-${sdks}`)
if (sdks && chosen.length === 0) throw new Error(`RATATOSK_SDKS is ${sdks}: there is no folder dapp-${sdks}`)

t.setTimeout(3_600_000)

// Each SDK takes 50 to 150 MB and a minute to install.
t.test('dApps', { skip: sdks ? false : 'RATATOSK_SDKS=all installs the SDKs' }, async (t) => {
  for (const name of chosen) {
    await t.test(name, async (t) => {
      // Each has wallets without what another left in them.
      const ledgers = await startLedgers(t)
      const folder = await install(t, name)
      await t.test('dapp.js by Blockfrost', async (t) => {
        await runOnBoth(t, { folder, file: 'dapp.js', provider: 'Blockfrost', ledgers, check: checkDapp })
      })
      const runs = []
      for (const provider of Object.keys(providers)) {
        const without = unsupported[name]?.[provider] ?? []
        await t.test(`scenario.js by ${provider}`, async (t) => {
          const check = (t, lines, ledger) => checkScenario(t, lines, ledger, without)
          await runOnBoth(t, { folder, file: 'scenario.js', provider, ledgers, check })
          const done = { layers: Object.keys(ledgers), steps: Object.keys(steps) }
          runs.push({ provider, ...done, without, passed: t.passing() })
        })
      }
      const { 'layer 2': layer2 } = ledgers
      const environment = { MNEMONIC: await mnemonic(), CROWD: await gather(layer2) }
      for (const provider of Object.keys(providers)) {
        await t.test(`large.js by ${provider}, on layer 2`, async (t) => {
          const lines = await linesOf(folder, 'large.js', {
            ...environment,
            ...providers[provider](layer2.base),
          })
          for (const line of lines) t.comment(line)
          const printed = lines.map(wordsOf)
          t.same(
            printed.map(([step]) => step),
            largeNames,
          )
          for (const [index, [step, check]] of largeSteps.entries())
            await check(t, step, printed[index]?.[1] ?? '', layer2)
          const done = { layers: ['layer 2'], steps: largeNames }
          runs.push({ provider, ...done, without: [], passed: t.passing() })
        })
      }
      record(name, folder, runs)
    })
  }
})

/** A node with an embedded devnet, and how to look a transaction up on each of its layers. */
async function startLedgers(t) {
  const { embedded } = await import('../apps/node/dist/test/backends.js')
  const { initialised, runNode } = await import('../apps/node/dist/test/node.js')
  const node = await runNode(t, { ...(await embedded(t)), DEVNET_PORT: '0' })
  // The administrator's wallet is the one that the dApps use.
  await initialised(node.url)
  const [layer1] = /http:\S+/.exec(node.places.layer1)
  const answers = async (url) => (await fetch(url)).status === 200
  return {
    'layer 1': { base: layer1, has: (hash) => answers(`${layer1}/blockfrost/api/v0/txs/${hash}`) },
    'layer 2': {
      url: node.url,
      base: `${node.url}/l2`,
      has: (hash) => answers(`${node.url}/tx?tx_hash=${hash}`),
      namesSpenders: true,
    },
  }
}

const mnemonic = async () => (await import('../packages/devnet/dist/index.js')).testWallets.mnemonic

/** Pays many outputs to one address of layer 2, by the command. @returns the address */
async function gather({ url }) {
  const { keysFromSeedPhrase } = await import('../packages/ledger/dist/builder/index.js')
  const { addressText } = keysFromSeedPhrase(await mnemonic(), { networkId: 0, account: 21 })
  const file = join(await mkdtemp(join(tmpdir(), 'ratatosk-crowd-')), 'payments')
  await writeFile(file, `${addressText} 1000000\n`.repeat(crowd))
  const command = fileURLToPath(new URL('../apps/cli/dist/main.js', import.meta.url))
  await promisify(execFile)(process.execPath, [
    command,
    'pay',
    '--file',
    file,
    '--account',
    '6',
    '--url',
    url,
  ])
  await rm(dirname(file), { recursive: true })
  return addressText
}

/** The step of a line, and what follows it. */
const wordsOf = (line) => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)]

/** Runs a file on both layers; its output may differ only in hashes and in the words of a refusal. */
async function runOnBoth(t, { folder, file, provider, ledgers, check }) {
  const printed = []
  for (const [layer, ledger] of Object.entries(ledgers)) {
    await t.test(layer, async (t) => {
      const environment = { MNEMONIC: await mnemonic(), ...providers[provider](ledger.base) }
      const lines = await linesOf(folder, file, environment)
      for (const line of lines) t.comment(line)
      await check(t, lines, ledger)
      printed.push(
        lines.map((line) => line.replace(/[0-9a-f]{64}/g, '<hash>').replace(/^refused .*/, 'refused')),
      )
    })
  }
  t.equal(printed.length, 2)
  t.same(printed[1], printed[0], 'both layers answer alike')
}

async function checkDapp(t, lines, ledger) {
  for (const [position, what] of ['paid', 'minted', 'locked', 'unlocked'].entries()) {
    const [name, rest = ''] = lines[position]?.split(' ') ?? []
    t.equal(name, what)
    await isHash(t, what, rest, ledger)
  }
  t.same(lines.slice(4), ['left at the script: 0'])
}

async function checkScenario(t, lines, ledger, missing) {
  const printed = lines.map(wordsOf)
  t.same(
    printed.map(([step]) => step),
    Object.keys(steps),
  )
  const without = printed.filter(([, rest]) => rest.startsWith('unsupported: ')).map(([step]) => step)
  t.same(without, missing, 'what the SDK cannot do')
  for (const [step, rest] of printed) {
    if (!without.includes(step)) await steps[step]?.(t, step, rest, ledger)
  }
  // Cardano's layer 1 does not.
  if (!ledger.namesSpenders) return
  const { refused } = Object.fromEntries(printed)
  const [, spender] = /was spent by transaction ([0-9a-f]{64})/.exec(refused) ?? []
  t.ok(spender && (await ledger.has(spender)), 'the refusal names the spender, which the ledger has')
}

async function isHash(t, step, text, ledger) {
  t.match(text, /^[0-9a-f]{64}$/, step)
  t.ok(await ledger.has(text), `${step}: the ledger has the transaction`)
}

async function isCount(t, step, text) {
  t.match(text, /^[1-9][0-9]*$/, step)
}

async function areHashes(t, step, text, ledger, count) {
  const hashes = text.split(',')
  t.equal(new Set(hashes).size, count, step)
  for (const hash of hashes) await isHash(t, step, hash, ledger)
}

const readJson = async ({ base }, path) => (await fetch(`${base}/blockfrost/api/v0${path}`)).json()

/** The unit of a token, and the transaction that minted it. */
async function isDescribed(t, step, text, ledger) {
  const [unit, hash] = text.split(' ')
  await isHash(t, step, hash, ledger)
  t.match(await readJson(ledger, `/assets/${unit}`), {
    quantity: '1000',
    onchain_metadata: { name: 'Squirrel', decimals: 6 },
    onchain_metadata_standard: 'CIP68v1',
  })
}

async function hasFortyInputs(t, step, text, ledger) {
  await isHash(t, step, text, ledger)
  const { inputs } = await readJson(ledger, `/txs/${text}/utxos`)
  t.ok(inputs.length >= 40, `${step}: ${inputs.length} inputs`)
}

async function namesThePredicate(t, step, text) {
  t.match(text, /BadInputsUTxO/, step)
}
