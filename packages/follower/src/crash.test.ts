import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { archiveOfBlocks } from '@ratatosk/archivist'
import { toHex } from '@ratatosk/cbor'
import { encodeOutputReference } from '@ratatosk/ledger'
import { openStore } from '@ratatosk/store'
import { SourceChain } from '@ratatosk/test-kit'
import { createTrie } from '@ratatosk/trie'
import { openLmdbStore } from '@ratatosk/trie/lmdb'
import { expect, it, onTestFinished } from 'vitest'
import { rebuildUtxos } from './rebuild-utxos.js'
import type { FollowerTask } from './test/follower-process.js'
import { serve } from './test/serve.js'

const rounds = Number(process.env.ARCHIVIST_CRASH_ROUNDS ?? 1)
const blocks = 60 + rounds * 90
const program = fileURLToPath(new URL('../dist/test/follower-process.js', import.meta.url))

it(`resumes without a rebuild after it was killed while archiving (${rounds}×)`, {
  timeout: 120_000 + rounds * 60_000,
}, async () => {
  const dir = await mkdtemp(join(tmpdir(), 'ratatosk-archivist-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const chain = new SourceChain()
  for (let n = 0; n < blocks; n++) await chain.commit(2)
  chain.merge(blocks - 20)

  const whole = archiveOfBlocks(chain)
  let asked = 0
  let reached = () => {}
  const peer = await serve({
    ...whole,
    body(hash) {
      asked++
      reached()
      return whole.body(hash)
    },
  })
  const state = await chain.read()
  const task: FollowerTask = {
    dir,
    peer,
    confirmed: toHex(state.confirmed.headerHash),
    headers: chain.blocks.slice(-20).map(({ header }) => toHex(header)),
    genesis: chain.genesis.map(({ reference, output }) => ({
      outref: toHex(encodeOutputReference(reference)),
      output: toHex(output),
    })),
  }
  const start = () =>
    fork(program, [JSON.stringify(task)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })

  for (let round = 0; round < rounds; round++) {
    asked = 0
    // At a different point each time: within a batch, at its end, after it.
    const enough = 55 + ((round * 17) % 40)
    const child = start()
    await new Promise<void>((resolve) => {
      reached = () => {
        if (asked >= enough) resolve()
      }
    })
    child.kill('SIGKILL')
    const [code, signal] = await once(child, 'exit')
    expect([code, signal]).toEqual([null, 'SIGKILL'])
  }

  const child = start()
  const [messages] = await once(child, 'message')
  await once(child, 'exit')
  expect(messages).toContain('Archived blocks')
  expect(messages).not.toContain('Rebuilding the unspent outputs from the archived bodies')

  const pglite = await PGlite.create(join(dir, 'store'))
  onTestFinished(() => pglite.close())
  const store = await openStore({ pglite })
  const archived = await store.archive.range(1n, BigInt(blocks))
  expect(archived.map(({ headerHash }) => headerHash)).toEqual(
    chain.blocks.map(({ headerHash }) => headerHash),
  )
  const utxos = await rebuildUtxos({
    archive: store.archive,
    genesis: chain.genesis,
    height: BigInt(blocks),
  })
  expect(new Map(utxos)).toEqual(chain.utxos)
  const trie = createTrie({ store: openLmdbStore({ path: join(dir, 'trie') }) })
  expect(trie.root).toEqual(chain.tip!.fields.utxosRoot)
  await trie.close()
})
