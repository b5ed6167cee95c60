import { headerFieldIndex } from '@ratatosk/block'
import { blake2b256 } from '@ratatosk/ledger'
import type { Block } from '@ratatosk/store'
import type { Trie } from '@ratatosk/trie'
import { expect, test } from 'vitest'
import { until } from '../test/agreement.js'
import { chunkOf, nodeOf, openAnswering, outputsOf } from '../test/asking.js'
import { accept, transfers } from '../test/rollup.js'

const questions = Number(process.env.RATATOSK_QUESTIONS ?? 200)
const blocks = Math.min(100, Math.ceil(questions / 10))
const kinds = ['chunk', 'subtree', 'leaf', 'entry'] as const
/** Milliseconds between two commits while questions are asked and answered. */
const commitEveryMs = 200

test(`answers ${questions} questions about ${blocks} blocks while blocks are committed`, {
  timeout: 60_000 + questions * 1000,
}, async (context) => {
  const scene = await openAnswering(context, transfers(1), {
    history: 5000,
    options: { blockValidityMs: 600_000 },
  })
  const { store, chain, sequencer, asker } = scene
  const waiting = transfers(39, 1, 100)
  let [accepted, lost] = [1, 0]
  sequencer.subscribe((active) => {
    if (!active) lost++
  })
  const about: { readonly block: Block; readonly outputs: Trie }[] = []
  async function commit(): Promise<void> {
    const next = waiting.shift()
    if (next === undefined) return
    await accept(store, [next])
    accepted++
    // Not at the end of a turn.
    await until(async () => (await sequencer.run('commit')).kind === 'committed', 60_000)
  }
  for (let height = 0; height < blocks; height++) {
    await commit()
    about.push({ block: (await store.blocks.newest())!, outputs: await outputsOf(store) })
  }
  let isDone = false
  const committing = (async () => {
    while (!isDone) {
      await commit()
      await new Promise((resolve) => setTimeout(resolve, commitEveryMs))
    }
  })()
  const began = performance.now()
  // Layer 1 takes no bound beyond its forecast of 129,600 slots.
  const last = BigInt(chain.devnet.tip().slot) + 100_000n
  for (let number = 0; number < questions; number++) {
    const { block, outputs } = about[number % blocks]!
    const kind = kinds[Math.floor(number / blocks) % kinds.length]!
    const path = blake2b256(Uint8Array.of(number & 255, number >> 8))
    const wanted =
      kind === 'chunk'
        ? chunkOf(block, number % 3)
        : nodeOf(outputs, headerFieldIndex.utxosRoot, kind, path, 0)
    await asker.ask(block, wanted, last + BigInt((number * 7919) % 997))
  }
  const askedMs = Math.round(performance.now() - began)
  await until(async () => {
    const { sent, open } = sequencer.questions
    return sent >= questions && open === 0
  }, questions * 1000)
  const answeredMs = Math.round(performance.now() - began)
  isDone = true
  await committing
  expect(await asker.open()).toEqual([])
  expect(sequencer.questions.unanswered).toEqual([])
  expect(lost).toBe(0)
  const heights = Number((await store.blocks.newest())!.height)
  const counts = await store.blocks.counts(heights)
  const inBlocks = counts.reduce((sum, { transactions }) => sum + transactions, 0)
  console.log(
    `${questions} questions: asked in ${askedMs} ms, the last answered after ${answeredMs} ms;`,
    `${heights - blocks - 1} blocks committed beside`,
  )
  expect(inBlocks).toBe(accepted)
})
