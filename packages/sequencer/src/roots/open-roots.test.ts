import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { fundsOf, keyOf } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { openRoots } from './open-roots.js'
import { outputsOfGenesis, piecesOf, rootOf, successiveBlocks } from './test/blocks.js'
import { opened, places } from './test/open.js'

const key = keyOf(4)
const genesis = fundsOf(key, 10, 1_000_000n)
const outputs = outputsOfGenesis(genesis)
const [block] = successiveBlocks(key, genesis)

test('a thread that ends rejects what was asked of it, and says so', async () => {
  const started = once(process, 'worker') as Promise<[Worker]>
  const roots = await openRoots()
  const [worker] = await started
  await roots.rebuild(piecesOf(outputs.values()))
  const applied = roots.apply(block!)
  const next = roots.root()
  const ended = { code: 'ROOTS_THREAD_ENDED' }
  await Promise.all([
    worker.terminate(),
    expect(applied).rejects.toMatchObject(ended),
    expect(next).rejects.toMatchObject(ended),
  ])
  await expect(roots.root()).rejects.toMatchObject(ended)
  await expect(roots.rebuild(piecesOf([]))).rejects.toMatchObject(ended)
  await roots.close()
})

test('a folder that is opened again is as it was, with its history', async () => {
  const { path } = await places.at(-1)!.optionsOf()
  const first = await openRoots({ path: path! })
  await first.rebuild(piecesOf(outputs.values()))
  const { utxosRoot } = await first.apply(block!)
  await first.close()
  const second = await opened({ path: path! })
  expect(await second.root()).toStrictEqual(utxosRoot)
  expect(await second.revert(rootOf(outputs))).toBe(true)
})

test('options that cannot work are refused', async () => {
  await expect(openRoots({ history: -1 })).rejects.toThrow(RangeError)
  await expect(openRoots({ path: '/dev/null/roots' })).rejects.toMatchObject({ code: 'ROOTS_FAILED' })
})
