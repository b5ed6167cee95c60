// A node that adopts the blocks of an operator, and says how long each step of an adoption takes.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { createPeers } from '@ratatosk/follower'
import { openRoots } from '@ratatosk/roots'
import { createSequencer } from '@ratatosk/sequencer'
import { openStore } from '@ratatosk/store'
import { expectKind } from '../blocks/full-blocks.mjs'
import { defer } from '../clean-up.mjs'
import { parameters } from '../parameters.mjs'
import { contracts, openRollup } from '../rollup.mjs'
import { databaseUrl, removeTraces } from '../services.mjs'

const log = {
  info: () => undefined,
  warn: (details, message) => console.error(message, details),
  error: (details, message) => console.error(message, details),
}

/** Serves the blocks of a store from a thread of its own. Returns the base URL. */
async function serve(schema) {
  const peer = new Worker(new URL('./peer.mjs', import.meta.url), {
    workerData: { url: databaseUrl, schema },
  })
  defer(async () => {
    peer.postMessage('end')
    await once(peer, 'exit')
  })
  const [url] = await once(peer, 'message')
  return url
}

/**
 * Opens a node beside an operator, with a store, a trie and an event loop's clock of its own.
 *
 * @param operator of `openRollup`, whose blocks are in this schema
 * @param {string} schema
 * @typedef {{ body: number, roots: number, rules: number, stored: number, total: number, turn: number,
 *   from: number, to: number }} Adoption milliseconds: until the body is here, until its roots are computed,
 *   until its transactions are judged too, of the store's transaction, of all, and of the longest turn of the
 *   event loop; `from` and `to` as `performance.now()` says them
 */
async function openAdopter({ layer1, entries, otherOperator }, schema) {
  const name = `${schema}_adopter`
  defer(() => removeTraces(name))
  const store = await openStore({ url: databaseUrl, schema: name })
  defer(() => store.close())
  const folder = mkdtempSync(join(tmpdir(), 'ratatosk-bench-adoption-'))
  defer(() => rmSync(folder, { recursive: true, force: true }))
  const roots = await openRoots({ path: folder })
  defer(() => roots.close())
  const peers = createPeers([await serve(schema)], {}, log)
  defer(() => peers.close())
  const rules = { parameters, networkId: 0, slots: await layer1.slots() }

  const turns = monitorEventLoopDelay({ resolution: 1 })
  const marks = {}
  let adopted
  const timed = {
    ...peers,
    ask(question, signal) {
      turns.reset()
      turns.enable()
      marks.begun = performance.now()
      return peers.ask((peer) => {
        const body = async (...asked) => {
          const found = await peer.body(...asked)
          marks.body = performance.now()
          return found
        }
        return question({ ...peer, body })
      }, signal)
    },
  }
  const step = (name) => {
    const now = performance.now()
    if (name === 'roots-applied') marks.roots = now
    if (name === 'block-judged') marks.rules = now
    if (name !== 'block-adopted') return
    turns.disable()
    const { begun, body, roots, rules } = marks
    adopted?.({
      from: begun,
      to: now,
      body: body - begun,
      roots: roots - body,
      rules: rules - roots,
      stored: now - rules,
      total: now - begun,
      turn: turns.max / 1e6,
    })
  }
  const sequencer = createSequencer({
    store,
    submissions: { add: () => Promise.reject(new Error('nothing is resubmitted')) },
    layer1,
    contracts,
    operator: otherOperator,
    roots,
    genesis: entries,
    holder: 'adopter',
    adoption: { peers: timed, rules },
    autoCommit: false,
    autoMerge: false,
    pollMs: 100,
    observer: { step },
    log: { ...log, info: () => undefined },
  })
  defer(() => sequencer.close())
  await sequencer.start()
  return {
    name,
    store,
    rules,
    /** Resolves with the times of the next adoption. @returns {Promise<Adoption>} */
    nextAdoption: () =>
      new Promise((resolve) => {
        adopted = resolve
      }),
  }
}

/** Opens an operator, and a node that adopts its blocks. */
export async function openPair(genesis, blockSize) {
  const schema = `bench_${randomBytes(4).toString('hex')}`
  const rollup = await openRollup(schema, genesis)
  const options = { autoCommit: false, maxBlockTransactions: blockSize }
  const operator = await rollup.startSequencer(() => undefined, options)
  await expectKind(operator.run('init'), 'initiated')
  const adopter = await openAdopter(rollup, schema)
  await adopter.store.applyGenesis(rollup.entries)
  return {
    adopter,
    entries: rollup.entries,

    /** Has the operator commit a block. @returns {Promise<Adoption>} */
    async commit(block) {
      await rollup.accept(block)
      const adoption = adopter.nextAdoption()
      await expectKind(operator.run('commit'), 'committed')
      return adoption
    },
  }
}
