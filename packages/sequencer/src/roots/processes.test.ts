import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { CborWriter, toHex } from '@ratatosk/cbor'
import { decodeTransaction } from '@ratatosk/ledger'
import { fundsOf, keyOf } from '@ratatosk/test-kit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openRoots } from './open-roots.js'
import {
  after,
  noEvents,
  type Outputs,
  outputsOfGenesis,
  piecesOf,
  rootOf,
  successiveBlocks,
  transactionsRootOf,
} from './test/blocks.js'
import { opened, temporaryFolder } from './test/open.js'

const rounds = Number(process.env.RATATOSK_CRASH_ROUNDS ?? 1)
const dying = fileURLToPath(new URL('../../dist/roots/test/dying-process.js', import.meta.url))

test(`a process killed ${rounds} times leaves the root before a block or after it`, {
  timeout: 60_000 + rounds * 10_000,
}, async () => {
  expect(existsSync(dying), 'the package is built').toBe(true)
  const path = await temporaryFolder()
  const key = keyOf(9)
  const genesis = fundsOf(key, 200, 1_000_000n)
  const blocks = successiveBlocks(key, genesis)
  const states: Outputs[] = [outputsOfGenesis(genesis)]
  function stateAt(height: number): Outputs {
    while (states.length <= height) states.push(after(states.at(-1)!, blocks.next().value))
    return states[height]!
  }

  const fresh = await openRoots({ path })
  await fresh.rebuild(piecesOf(stateAt(0).values()))
  await fresh.close()

  let height = 0
  for (let round = 0; round < rounds; round++) {
    const child = fork(dying, ['apply', path, String(height)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    let applied = height
    let applying = height
    child.on('message', (message: { applied: number } | { applying: number }) => {
      if ('applied' in message) applied = message.applied
      else applying = message.applying
    })
    while (applied < height + 2) await once(child, 'message')
    while (applying === applied) await once(child, 'message')
    await setTimeout((round * 7) % 30)
    child.kill('SIGKILL')
    await once(child, 'close')

    const roots = await openRoots({ path })
    const root = toHex(await roots.root())
    expect([applied, applied + 1].map((n) => toHex(rootOf(stateAt(n))))).toContain(root)
    // The block that was being applied was not recorded: back to the one before it.
    expect(await roots.revert(rootOf(stateAt(applied)))).toBe(true)
    expect(await roots.root()).toStrictEqual(rootOf(stateAt(applied)))
    // A state that is not kept is rebuilt, and the next round continues from it.
    height = applied - 1
    if (round % 2 === 0) {
      expect(await roots.rebuild(piecesOf(stateAt(height).values()))).toStrictEqual(rootOf(stateAt(height)))
    } else {
      expect(await roots.revert(rootOf(stateAt(height)))).toBe(true)
    }
    await roots.close()
  }
})

test('a process that exits while it applies a block does exit, and leaves the root before it or after it', {
  timeout: 180_000,
}, async () => {
  const path = await temporaryFolder()
  const genesis = fundsOf(keyOf(9), 1_000, 1_000_000n)
  const outputs = outputsOfGenesis(genesis)
  const before = rootOf(outputs)
  const afterwards = rootOf(after(outputs, successiveBlocks(keyOf(9), genesis).next().value))
  const fresh = await openRoots({ path })
  await fresh.rebuild(piecesOf(outputs.values()))
  await fresh.close()

  for (const moment of rounds > 1 ? [0.5, 0.6, 0.7, 0.8, 0.9] : [0.7]) {
    const child = fork(dying, ['exit', path, String(moment)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    expect(await once(child, 'close')).toStrictEqual([7, null])
    const roots = await openRoots({ path })
    expect([before, afterwards]).toContainEqual(await roots.root())
    expect(await roots.revert(before)).toBe(true)
    await roots.close()
  }
})

describe('a hostile block', () => {
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
})
