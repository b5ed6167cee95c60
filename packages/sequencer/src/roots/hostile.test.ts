import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { CborWriter } from '@ratatosk/cbor'
import { decodeTransaction } from '@ratatosk/ledger'
import { fundsOf, keyOf } from '@ratatosk/test-kit'
import { expect, onTestFinished, test } from 'vitest'
import { after, noEvents, outputsOfGenesis, piecesOf, rootOf, transactionsRootOf } from './test/blocks.js'
import { opened } from './test/open.js'

const program = fileURLToPath(new URL('../../dist/roots/test/hostile-process.js', import.meta.url))
const mebibyte = 1024 * 1024

test('a large block that spends what does not exist is refused in little memory', {
  timeout: 60_000,
}, async () => {
  const child = fork(program, [String(16 * mebibyte)], { execArgv: ['--max-old-space-size=128'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said: unknown[] = []
  child.on('message', (message) => said.push(message))
  expect(await once(child, 'close')).toStrictEqual([0, null])
  expect(said).toEqual([{ code: 'BLOCK_INPUT_MISSING', isUnchanged: true }])
})

test('a block that is tested in pieces has the roots of the whole', { timeout: 60_000 }, async () => {
  const genesis = fundsOf(keyOf(4), 2, 1_000_000n)
  const outputs = outputsOfGenesis(genesis)
  const [first] = genesis
  let spent = first!.reference
  // Each spends what the one before it produces; scripts make them large.
  const block = Array.from({ length: 12 }, () => {
    const body = new CborWriter()
      .map(3)
      .uint(0)
      .array(1)
      .array(2)
      .bytes(spent.transactionId)
      .uint(spent.index)
    body.uint(1).array(1).raw(first!.output).uint(2).uint(0)
    const witnesses = new CborWriter().map(1).uint(3).array(1).bytes(new Uint8Array(mebibyte))
    const cbor = new CborWriter().array(4).raw(body.toBytes()).raw(witnesses.toBytes())
    const bytes = cbor.raw(Uint8Array.of(0xf5, 0xf6)).toBytes()
    spent = { transactionId: decodeTransaction(bytes).id, index: 0 }
    return bytes
  })
  const roots = await opened()
  await roots.rebuild(piecesOf(outputs.values()))
  expect(await roots.apply(block)).toStrictEqual({
    utxosRoot: rootOf(after(outputs, block)),
    transactionsRoot: transactionsRootOf(block, outputs),
    ...noEvents,
  })
})
