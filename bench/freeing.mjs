// Blocks of 4,000 transfers on a trie of a million keys in LMDB: each deletes a key and inserts two, in no
// order of their paths. What the update takes, and beside it freeing the nodes of versions that are no longer
// kept, which begins when there are enough of them.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTrie } from '@ratatosk/trie'
import { openLmdbStore } from '@ratatosk/trie/lmdb'
import { processorMicros, round } from './lib/figures.mjs'
import { numbered } from './lib/numbered.mjs'

const keys = Number(process.env.BENCH_KEYS ?? 1_000_000)
const count = Number(process.env.BENCH_BLOCKS ?? 240)
const blockSize = Number(process.env.BENCH_BLOCK ?? 4000)
/** Blocks that one report covers. */
const part = 60
const freedAtOnce = 3000

const value = Buffer.alloc(65)
const keyOf = (n) => numbered(36, n)

function* entries() {
  for (let n = 0; n < keys; n++) yield [keyOf(n), value]
}

/** MB that this process has written to disk so far. */
const written = () => Number(/^write_bytes: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))[1]) / 1e6

/** Adds what some work takes to `sums`. */
function measure(sums, work) {
  const [cpu, wrote, started] = [process.cpuUsage(), written(), performance.now()]
  work()
  sums.cpu += processorMicros(cpu)
  sums.written += written() - wrote
  sums.longest = Math.max(sums.longest, performance.now() - started)
}

const nothing = () => ({ cpu: 0, written: 0, longest: 0 })
const told = ({ cpu, written, longest }) =>
  `${round(cpu / part / blockSize)} µs of processor time per transaction, ` +
  `${round(written / part)} MB written per block, at most ${round(longest)} ms`

const folder = mkdtempSync(join(tmpdir(), 'ratatosk-bench-freeing-'))
try {
  const trie = createTrie({ store: openLmdbStore({ path: folder, freesLater: true }) })
  await trie.rebuild(entries())
  let [updating, freeing] = [nothing(), nothing()]
  for (let block = 1; block <= count; block++) {
    const operations = []
    for (let n = (block - 1) * blockSize; n < block * blockSize; n++) {
      operations.push({ type: 'delete', key: keyOf(n) })
      for (const made of [2 * n, 2 * n + 1])
        operations.push({ type: 'insert', key: keyOf(keys + made), value })
    }
    measure(updating, () => trie.update(operations))
    let left = Infinity
    while (left > 0) measure(freeing, () => (left = trie.free(freedAtOnce)))
    if (block % part !== 0) continue
    console.log(`blocks ${block - part + 1} to ${block} of ${round(blockSize)} over ${round(keys)} keys`)
    console.log(`  updates: ${told(updating)}`)
    console.log(`  freeing: ${told(freeing)}; ratio ${(freeing.cpu / updating.cpu).toFixed(2)}`)
    console.log(`  file: ${round(statSync(join(folder, 'data.mdb')).size / 1e6)} MB`)
    ;[updating, freeing] = [nothing(), nothing()]
  }
  await trie.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
