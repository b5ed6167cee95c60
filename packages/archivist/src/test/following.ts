import type { Store } from '@ratatosk/store'
import { onTestFinished } from 'vitest'
import { createFollower, type Follower, type FollowerOptions } from '../follower/index.js'
import { LogLines } from './log-lines.js'
import type { SourceChain } from './source-chain.js'
import { openTestStore } from './stores.js'

export interface Following {
  readonly follower: Follower
  readonly archive: Store['archive']
  readonly log: LogLines
}

/** A follower of a chain with an archive of its own, until the test ends. It looks at layer 1 when it is asked to only. */
export async function follow(
  chain: SourceChain,
  peers: readonly string[],
  options: Partial<FollowerOptions> = {},
): Promise<Following> {
  const log = new LogLines()
  const archive = options.archive ?? (await openTestStore()).archive
  const follower = await createFollower({
    chain,
    peers,
    archive,
    genesis: chain.genesis,
    log,
    pollMs: 600_000,
    backoffMs: 20,
    ...options,
  })
  onTestFinished(() => follower.close())
  return { follower, archive: archive as Store['archive'], log }
}
