// The walks: what to run, and which files to count.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { toHex } from '../../packages/cbor/dist/index.js'
import { keyOf, outputOf, transfer } from '../../packages/fixtures/dist/index.js'
import { freePort } from '../../packages/test-kit/dist/own-services.js'

/** Whether a file is below one of these folders. */
const of = (...folders) => {
  const pattern = new RegExp(`^(?:${folders.join('|')})/`)
  return (file) => pattern.test(file) && !file.includes('/test/')
}

export const flows = {
  /** Settings through the start: the files of the node that name them, until it is ready. */
  start: {
    counted: of('apps/node'),
    names: /settings/i,
    async run(folder, work, trace) {
      const node = await startNode(folder, work, trace, {})
      await node.closeWindow()
      await node.stop()
      return 0
    },
  },
  /** A submitted transaction until the header of its block is committed. */
  submit: {
    counted: of('packages/(?:submit|queue|workers|sequencer|roots|protocol)'),
    async run(folder, work, trace) {
      const node = await startNode(folder, work, trace, { COMMIT_INTERVAL_MS: '1000' })
      await commitOne(node, () => node.nextWindow())
      await node.closeWindow()
      await node.stop()
      return 1
    },
  },
  /** A block on layer 1 until the follower has archived it. */
  follow: {
    counted: of(
      'packages/(?:follower|protocol|layer1)',
      'packages/store/dist/archive',
      'apps/node/dist/(?!server)',
    ),
    async run(folder, work, trace) {
      const devnet = await startDevnet(folder)
      const node = await startNode(folder, join(work, 'node'), undefined, {
        ...devnet.settings,
        COMMIT_INTERVAL_MS: '1000',
      })
      const archivist = await startNode(folder, join(work, 'archivist'), trace, {
        ...devnet.settings,
        NODE_ROLE: 'archivist',
        ARCHIVIST_PEERS: `${node.url}/archivist`,
        GENESIS_FILE: node.genesis,
      })
      await commitOne(node, () => archivist.nextWindow())
      await eventually(async () => (await fetch(`${archivist.url}/block/1`)).ok)
      await archivist.closeWindow()
      await Promise.all([archivist.stop(), node.stop()])
      await devnet.stop()
      return 1
    },
  },
  /** A body with a fraud until the transaction that mints the verdict and removes the block. */
  verdict: {
    counted: of('packages/(?:fraud|contracts|protocol|block|follower|layer2-fraud)'),
    async run(folder, _work, trace) {
      // A copy of an older version has the drafts of removals by fraud elsewhere.
      const [test, from] = [
        ['packages/protocol/dist/fraud/fraud.test.js', 'packages/protocol/dist/fraud/accused-block.js'],
        ['packages/fraud/dist/thefts.test.js', 'packages/fraud/dist/accused-block.js'],
        ['packages/protocol/dist/transaction-fraud.test.js', 'packages/protocol/dist/fraud-drafts.js'],
      ].find(([path]) => existsSync(join(folder, path)))
      const child = run(folder, [test], { WALK_FILE: trace, WALK_FROM: from })
      await eventually(async () => child.ended())
      if (child.exitCode() !== 0) throw new Error(child.output())
      return 1
    },
  },
}

/** Submits a transfer, and waits until its block is committed. */
async function commitOne(node, beforehand) {
  await eventually(async () => {
    const answer = await fetch(`${node.url}/stateQueue/root-unit-diagnostics`)
    return answer.ok && (await answer.json()).status === 'ok'
  })
  await pause(2_000)
  beforehand()
  await pause(100)
  const answer = await fetch(`${node.url}/submit`, { method: 'POST', body: node.transaction })
  if (!answer.ok) throw new Error(`the transaction was refused: ${await answer.text()}`)
  await eventually(async () => /committed: 1 transactions?/.test(node.output()))
}

/** Starts the node of the copy and waits until it is ready. Its genesis has an output to spend. */
async function startNode(folder, work, trace, settings) {
  mkdirSync(work, { recursive: true })
  const { genesis, transaction } = writeGenesis(work)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = run(folder, ['apps/node/dist/main.js'], {
    PORT: port,
    DATA_DIR: join(work, 'data'),
    GENESIS_FILE: genesis,
    LOG_FORMAT: 'json',
    WALK_FILE: trace ?? '/dev/null',
    ...settings,
  })
  await eventually(async () => (await fetch(`${url}/health/ready`)).ok, child)
  return { ...child, url, genesis, transaction }
}

async function startDevnet(folder) {
  const port = await freePort()
  const child = run(folder, ['packages/devnet/dist/main.js', '--port', port], {
    WALK_FILE: '/dev/null',
  })
  const url = `http://127.0.0.1:${port}`
  await eventually(async () => child.output().includes('blockfrost'), child)
  return { ...child, settings: { LAYER1_PROVIDER: 'blockfrost', BLOCKFROST_URL: `${url}/blockfrost/api/v0` } }
}

function writeGenesis(work) {
  const key = keyOf(7)
  const input = { transactionId: new Uint8Array(32).fill(7), index: 0 }
  const fee = 200_000n
  const utxos = [{ outref: `${toHex(input.transactionId)}#0`, output: toHex(outputOf(key, 10_000_000n)) }]
  const genesis = join(work, 'genesis.json')
  writeFileSync(genesis, JSON.stringify({ utxos }))
  return { genesis, transaction: toHex(transfer(key, [input], [10_000_000n - fee], { fee }).cbor) }
}

function run(folder, args, environment) {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const ended = once(child, 'exit')
  return {
    output: () => output,
    ended: () => child.exitCode !== null,
    exitCode: () => child.exitCode,
    nextWindow: () => child.kill('SIGCONT'),
    async closeWindow() {
      child.kill('SIGCONT')
      await pause(200)
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Waits until a condition holds; what it throws counts as no. */
async function eventually(holds, child) {
  const end = Date.now() + 180_000
  while (!(await holds().catch(() => false))) {
    if (child?.ended()) throw new Error(`the process has ended:\n${child.output()}`)
    if (Date.now() > end) throw new Error(`waited too long${child ? `:\n${child.output()}` : ''}`)
    await pause(100)
  }
}
