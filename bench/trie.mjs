// 10,000 updates in one batch, half insertions and half deletions, on a trie of a million keys, in memory and
// in LMDB; beside each batch, bare Blake2b-256 of 64 bytes (the most frequent hash in a trie) by the same
// library.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryStore, createTrie } from '@ratatosk/trie'
import { openLmdbStore } from '@ratatosk/trie/lmdb'
import sodium from 'sodium-native'
import { median, round } from './lib/figures.mjs'
import { numbered } from './lib/transfers.mjs'

const keys = Number(process.env.BENCH_KEYS ?? 1_000_000)
const rounds = Number(process.env.BENCH_ROUNDS ?? 9)
const batch = 10_000

/** As long as an output reference and a small output. */
const outrefOf = (i) => numbered(36, i)
const outputOf = (i) => numbered(65, i)

function* entries() {
  for (let i = 0; i < keys; i++) yield [outrefOf(i), outputOf(i)]
}

function perSecond(count, work) {
  const started = process.hrtime.bigint()
  work()
  return (count * 1e9) / Number(process.hrtime.bigint() - started)
}

function bareHashes(count) {
  const hash = Buffer.alloc(32)
  const message = Buffer.alloc(64)
  return perSecond(count, () => {
    for (let i = 0; i < count; i++) sodium.crypto_generichash(hash, message)
  })
}

async function measure(name, store, bytesOf) {
  const trie = createTrie({ store })
  const started = process.hrtime.bigint()
  await trie.rebuild(entries())
  const seconds = Number(process.hrtime.bigint() - started) / 1e9
  const bytes = bytesOf() / trie.size
  const figures = []
  for (let i = 0; i < rounds; i++) {
    const operations = []
    for (let j = i * (batch / 2); j < (i + 1) * (batch / 2); j++) {
      operations.push({ type: 'insert', key: outrefOf(keys + j), value: outputOf(j) })
      operations.push({ type: 'delete', key: outrefOf(j) })
    }
    const before = trie.root
    const bare = bareHashes(300_000)
    const updates = perSecond(batch, () => trie.update(operations))
    const undone = perSecond(1, () => trie.undo())
    if (Buffer.compare(trie.root, before) !== 0) throw new Error('an undo has led to another root')
    trie.update(operations)
    figures.push({ updates, bare, hashes: bare / updates, undo: 1000 / undone })
    console.log(
      `  ${name}, round ${i + 1}: ${round(updates)} updates/s, bare ${round(bare)} hashes/s: ` +
        `${round(bare / updates)} hashes an update`,
    )
  }
  const sample = Array.from({ length: 5_000 }, (_, i) => outrefOf(keys - 1 - i))
  const proofs = perSecond(sample.length, () => {
    for (const key of sample) trie.prove(key)
  })
  await trie.close()
  const middle = (figure) => median(figures.map((f) => f[figure]))
  console.log(
    `trie in ${name}, ${round(keys)} keys: ${round(middle('updates'))} updates/s in batches of ` +
      `${round(batch)} ` +
      `(bare Blake2b-256 ${round(middle('bare'))}/s; one update takes as long as ` +
      `${round(middle('hashes'))} hashes; ` +
      `median of ${rounds} rounds); ${round(bytes)} bytes a key; undo ${round(middle('undo'))} ms; ` +
      `${round(proofs)} proofs/s; built in ${seconds.toFixed(1)} s`,
  )
}

const folder = mkdtempSync(join(tmpdir(), 'ratatosk-bench-trie-'))
try {
  const memory = createMemoryStore()
  await measure('memory', memory, () => memory.bytes)
  await measure('LMDB', openLmdbStore({ path: folder }), () => statSync(join(folder, 'data.mdb')).size)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
