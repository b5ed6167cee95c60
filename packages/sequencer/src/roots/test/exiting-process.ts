import { setTimeout } from 'node:timers/promises'
import { fundsOf, keyOf } from '@ratatosk/test-kit'
import { openRoots } from '../open-roots.js'
import { successiveBlocks } from './blocks.js'

// Run by a test: exits with 7 while it applies a block to a folder, at about the given part of the time that
// this takes.
const [path = '', moment = '0'] = process.argv.slice(2)
const block = successiveBlocks(keyOf(9), fundsOf(keyOf(9), 1_000, 1_000_000n)).next().value

const roots = await openRoots({ path })
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
await setTimeout(took * Number(moment))
process.exit(7)
