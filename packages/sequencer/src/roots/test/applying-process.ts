import { fundsOf, keyOf } from '@ratatosk/test-kit'
import { openRoots } from '../open-roots.js'
import { successiveBlocks } from './blocks.js'

// Run by a test, to be killed: applies block after block to a folder and says which it begins and which it
// has applied.
const [path = '', applied = '0'] = process.argv.slice(2)
const key = keyOf(9)
const blocks = successiveBlocks(key, fundsOf(key, 200, 1_000_000n))
for (let height = 1; height <= Number(applied); height += 1) blocks.next()

const roots = await openRoots({ path })
for (let height = Number(applied) + 1; ; height += 1) {
  const block = blocks.next().value
  process.send?.({ applying: height })
  await roots.apply(block)
  process.send?.({ applied: height })
}
