import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { open } from 'lmdb'
import { expect, onTestFinished, test } from 'vitest'
import { blockOperations, hex, utf8 } from '../test/maps.js'
import { openTrie, temporaryFolder } from '../test/stores.js'
import { createTrie } from '../trie.js'
import { openLmdbStore } from './lmdb.js'
import { createMemoryStore } from './memory.js'

test('reopens a trie with its history', async () => {
  const path = await temporaryFolder()
  const first = openTrie(path)
  for (let block = 0; block < 9; block += 1) first.update(blockOperations(block))
  const { size, roots } = first
  await first.close()

  const second = openTrie(path)
  expect(second.size).toBe(size)
  expect(second.roots).toStrictEqual(roots)
  expect(second.undo()).toStrictEqual(roots.at(-2))
  second.update(blockOperations(8))
  expect(second.root).toStrictEqual(roots.at(-1))
  await second.close()

  const third = openTrie(path)
  expect(third.roots).toStrictEqual(roots)
})

test('reads the bytes of one node and no others', async () => {
  const store = openLmdbStore({ path: await temporaryFolder() })
  onTestFinished(() => store.close())
  let id = 0
  store.replace((write) => {
    id = write(Uint8Array.of(1, 2, 3))
    return { root: new Uint8Array(32), node: id, size: 1 }
  })
  // lmdb shares one larger buffer among reads. It overrides `length`, which newer engines ignore.
  expect(store.read(id).byteLength).toBe(3)
  expect([...store.read(id)]).toStrictEqual([1, 2, 3])
})

test('creates the folder', async () => {
  const path = `${await temporaryFolder()}/deep.er/trie`
  openTrie(path).insert(utf8('a'), utf8('a'))
  expect(existsSync(`${path}/data.mdb`)).toBe(true)
})

test('refuses the second of two writers that opened the folder', async () => {
  const path = await temporaryFolder()
  const conflict = expect.objectContaining({ code: 'TRIE_STORE_CONFLICT' })
  const first = openTrie(path)
  const second = openTrie(path)
  first.insert(utf8('a'), utf8('a'))
  expect(() => second.insert(utf8('b'), utf8('b'))).toThrow(conflict)
  first.undo()
  expect(() => second.insert(utf8('b'), utf8('b'))).toThrow(conflict)
  await expect(second.rebuild([])).rejects.toThrow(conflict)
  first.insert(utf8('c'), utf8('c'))
  expect(openTrie(path).root).toStrictEqual(first.root)
})

test('refuses a folder that it does not understand', async () => {
  const corrupt = expect.objectContaining({ code: 'TRIE_STORE_CORRUPT' })
  const path = await temporaryFolder()
  const trie = openTrie(path)
  trie.update(blockOperations(0))
  const database = open<unknown, string>({ path, noSubdir: false, overlappingSync: false })
  const nodes = database.openDB<Buffer, number>({ name: 'nodes', encoding: 'binary' })
  const node = openLmdbStore({ path }).head.node

  nodes.putSync(node, Buffer.of(0, 0, 3))
  expect(() => trie.has(utf8('a'))).toThrow(corrupt)
  nodes.putSync(node, Buffer.of(0x7e))
  expect(() => trie.has(utf8('a'))).toThrow(corrupt)
  nodes.removeSync(node)
  expect(() => trie.has(utf8('a'))).toThrow(corrupt)

  const meta = database.openDB<number, string>({ name: 'meta' })
  meta.putSync('format', 2)
  expect(() => openLmdbStore({ path })).toThrow(corrupt)
  meta.putSync('format', 1)
  database.openDB({ name: 'versions', encoding: 'binary' }).clearSync()
  expect(() => openLmdbStore({ path })).toThrow(corrupt)
})

test('is at the end of a block after its process was killed', { timeout: 60_000 }, async () => {
  const path = await temporaryFolder()
  const program = fileURLToPath(new URL('../../dist/test/write-blocks.js', import.meta.url))
  expect(existsSync(program), 'the package is built').toBe(true)

  const reference = createTrie({ store: createMemoryStore(), history: 0 })
  const roots = [hex(reference.root)]
  let written = 0
  for (const pause of [0, 1, 3, 7, 12, 20, 31, 45]) {
    const child = spawn(process.execPath, [program, path, String(written)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines = createInterface({ input: child.stdout })
    let acknowledged = written
    lines.on('line', (line) => {
      acknowledged = Number(line)
    })
    await once(lines, 'line')
    await setTimeout(pause)
    child.kill('SIGKILL')
    await once(lines, 'close')

    while (roots.length <= acknowledged + 1)
      roots.push(hex(reference.update(blockOperations(roots.length - 1))))
    const trie = openTrie(path)
    expect([roots[acknowledged], roots[acknowledged + 1]]).toContain(hex(trie.root))
    written = roots.indexOf(hex(trie.root))
    if (written > 0) {
      expect(hex(trie.undo())).toBe(roots[written - 1])
      trie.update(blockOperations(written - 1))
      expect(hex(trie.root)).toBe(roots[written])
    }
    await trie.close()
  }
  expect(written).toBeGreaterThanOrEqual(8)
})
