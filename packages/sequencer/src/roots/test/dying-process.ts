import { setTimeout } from 'node:timers/promises'
import { fundsOf, keyOf } from '@ratatosk/test-kit'
import { openRoots } from '../open-roots.js'
import { successiveBlocks } from './blocks.js'

// Run by a test. `apply`, to be killed: applies block after block to a folder, in which `given` are, and says
// which it begins and which it has applied. `exit`: exits with 7 while it applies a block, at about the
// `given` part of the time that this takes.
const [task = '', path = '', given = '0'] = process.argv.slice(2)
const key = keyOf(9)
const blocks = successiveBlocks(key, fundsOf(key, task === 'apply' ? 200 : 1_000, 1_000_000n))
const roots = await openRoots({ path })
if (task === 'apply') await applyAll(Number(given))
else await exitAt(Number(given))

async function applyAll(applied: number): Promise<never> {
  for (let height = 1; height <= applied; height += 1) blocks.next()
  for (let height = applied + 1; ; height += 1) {
    const block = blocks.next().value
    process.send?.({ applying: height })
    await roots.apply(block)
    process.send?.({ applied: height })
  }
}

async function exitAt(part: number): Promise<never> {
  const block = blocks.next().value
  const before = await roots.root()
  // The second time is the first that is as fast as the others.
  let took = 0
  for (const _ of ['cold', 'warm']) {
    const started = performance.now()
    await roots.apply(block)
    took = performance.now() - started
    await roots.revert(before)
  }
  void roots.apply(block)
  await setTimeout(took * part)
  process.exit(7)
}
