// Runs the dApps as their users do: each SDK installed unchanged from the registry, and the same files on
// layer 1 and on layer 2 of a node, where only the URLs differ.
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
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
  chained: areTenHashes,
  refused: namesThePredicate,
}

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
      base: `${node.url}/l2`,
      has: (hash) => answers(`${node.url}/tx?tx_hash=${hash}`),
      namesSpenders: true,
    },
  }
}

/** Runs a file on both layers; its output may differ only in hashes and in the words of a refusal. */
async function runOnBoth(t, { folder, file, provider, ledgers, check }) {
  const { testWallets } = await import('../packages/devnet/dist/index.js')
  const printed = []
  for (const [layer, ledger] of Object.entries(ledgers)) {
    await t.test(layer, async (t) => {
      const environment = { MNEMONIC: testWallets.mnemonic, ...providers[provider](ledger.base) }
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
  const printed = lines.map((line) => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)])
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

async function areTenHashes(t, step, text, ledger) {
  const hashes = text.split(',')
  t.equal(new Set(hashes).size, 10, step)
  for (const hash of hashes) await isHash(t, step, hash, ledger)
}

async function namesThePredicate(t, step, text) {
  t.match(text, /BadInputsUTxO/, step)
}
