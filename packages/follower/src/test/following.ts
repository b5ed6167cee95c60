import type { BlockRules } from '@ratatosk/block'
import { openStore, type Store } from '@ratatosk/store'
import { freeOfCharge, type SourceChain, slots } from '@ratatosk/test-kit'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { onTestFinished } from 'vitest'
import { createFollower, type Follower, type FollowerOptions, type QueueReader } from '../index.js'
import { LogLines } from './log-lines.js'

export const rules: BlockRules = { parameters: freeOfCharge, networkId: 0, slots }

export interface Following {
  readonly follower: Follower
  readonly archive: Store['archive']
  readonly log: LogLines
}

/** A follower with its own archive, closed after the test. It reads layer 1 only on `synced()`. */
export async function follow(
  chain: Pick<SourceChain, 'genesis'> & QueueReader,
  peers: readonly string[],
  options: Partial<FollowerOptions> = {},
): Promise<Following> {
  const log = new LogLines()
  const archive = options.archive ?? (await openTestStore(openStore)).archive
  const follower = await createFollower({
    chain,
    peers,
    archive,
    genesis: chain.genesis,
    rules,
    log,
    pollMs: 600_000,
    backoffMs: 20,
    ...options,
  })
  onTestFinished(() => follower.close())
  return { follower, archive: archive as Store['archive'], log }
}
