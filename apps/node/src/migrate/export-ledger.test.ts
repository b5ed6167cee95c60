import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromHex } from '@ratatosk/cbor'
import { SourceChain } from '@ratatosk/test-kit'
import { expect, onTestFinished, test } from 'vitest'
import { loadGenesis } from '../network/genesis.js'
import { networkOf } from '../network/network.js'
import { flawedOutputs } from '../test/flawed-outputs.js'
import { exportOutputs, exportTransactions } from './export-ledger.js'

async function folderOf(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-export-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

async function* pagesOf<Item>(...pages: readonly (readonly Item[])[]): AsyncGenerator<readonly Item[], void> {
  yield* pages
}

test('an empty line separates transactions that may conflict', async () => {
  const folder = await folderOf()
  const [a, b, c] = [Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(3)]
  const parts = [pagesOf([a], [b]), pagesOf<Uint8Array>(), pagesOf([], [c])]
  const { file, count } = await exportTransactions(folder, parts, 0n)
  expect(count).toBe(3)
  expect(await readFile(file, 'utf8')).toBe('01\n02\n\n03\n')
})

test('a genesis that no node could read is refused', async () => {
  const { genesis } = new SourceChain(3)
  const pages = () => pagesOf(genesis.map(({ reference, output }) => ({ ...reference, output })))
  const { file, count } = await exportOutputs(await folderOf(), pages())
  expect(count).toBe(3)
  const { length } = await readFile(file, 'utf8')
  await expect(exportOutputs(await folderOf(), pages(), length - 1)).rejects.toMatchObject({
    code: 'NODE_BACKUP',
    message: expect.stringMatching(/^The first 3 confirmed outputs take .* at most/),
  })
})

test('outputs that no genesis may have are left out, and counted', async () => {
  const folder = await folderOf()
  const { genesis } = new SourceChain(3)
  const outputs = genesis.map(({ reference, output }) => ({ ...reference, output }))
  const flawed = [...Object.values(flawedOutputs), 'a0'].map((hex, index) => ({
    transactionId: new Uint8Array(32),
    index,
    output: fromHex(hex),
  }))
  const pages = pagesOf(flawed.slice(0, 1), [...flawed.slice(1), ...outputs])
  const { file: GENESIS_FILE, count, leftOut } = await exportOutputs(folder, pages)
  expect(count).toBe(3)
  expect(leftOut).toMatchObject({
    count: 3,
    reasons: [expect.stringMatching(/Byron/), expect.stringMatching(/shortest form/), expect.any(String)],
  })
  const loaded = await loadGenesis({ GENESIS_FILE }, networkOf('devnet'))
  expect(loaded?.outputs).toHaveLength(3)
})
