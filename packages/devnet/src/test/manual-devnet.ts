import { onTestFinished } from 'vitest'
import { createDevnet } from '../create-devnet.js'
import type { DevnetOptions } from '../types.js'
import { aliceGenesis } from './scenes.js'

const start = Date.UTC(2025, 0, 1)

/** A devnet without scheduled blocks at slot 5, with a clock that the test sets. */
export async function open(options: DevnetOptions = {}) {
  const time = { now: start + 5_000 }
  const devnet = await createDevnet({
    genesis: aliceGenesis,
    blockEveryMs: 0,
    clock: { now: () => time.now },
    ...options,
  })
  onTestFinished(() => devnet.close())
  return { devnet, time }
}
