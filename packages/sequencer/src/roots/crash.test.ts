import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { toHex } from '@ratatosk/cbor'
import { fundsOf, keyOf } from '@ratatosk/test-kit'
import { expect, onTestFinished, test } from 'vitest'
import { openRoots } from './open-roots.js'
import { after, type Outputs, outputsOfGenesis, piecesOf, rootOf, successiveBlocks } from './test/blocks.js'
import { temporaryFolder } from './test/open.js'

const rounds = Number(process.env.RATATOSK_CRASH_ROUNDS ?? 1)
const program = fileURLToPath(new URL('../../dist/roots/test/applying-process.js', import.meta.url))
const exiting = fileURLToPath(new URL('../../dist/roots/test/exiting-process.js', import.meta.url))

test(`a process killed ${rounds} times leaves the root before a block or after it`, {
  timeout: 60_000 + rounds * 10_000,
}, async () => {
  expect(existsSync(program), 'the package is built').toBe(true)
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
    const child = fork(program, [path, String(height)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
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
    const child = fork(exiting, [path, String(moment)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    expect(await once(child, 'close')).toStrictEqual([7, null])
    const roots = await openRoots({ path })
    expect([before, afterwards]).toContainEqual(await roots.root())
    expect(await roots.revert(before)).toBe(true)
    await roots.close()
  }
})
