import { equalBytes } from '@ratatosk/cbor'
import type { Layer1 } from '@ratatosk/layer1'
import { administratorAddress } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { summonsContracts as contracts } from '../../../protocol/dist/test/protocol-scene.js'
import { honest } from './test/lies.js'
import { followReally } from './test/real-follower.js'
import { newest, openWatched, openWatcher, until, type Watched } from './test/scene.js'

/* A body that comes late, after an outage of the peers or of the store. No one asks for it, for ada. */

const timeout = 120_000
/** Longer than the time that passes while the test waits for the body. */
const patienceMs = 1_200_000

/** Counts the reads of layer 1. */
function counting(layer1: Layer1) {
  const counts = { tips: 0 }
  const counted: Layer1 = {
    ...layer1,
    tip(options) {
      counts.tips++
      return layer1.tip(options)
    },
  }
  /** Resolves when the watcher has had time to ask. */
  const readAgain = async () => {
    const enough = counts.tips + 20
    await until('it has read layer 1 again', () => counts.tips >= enough)
  }
  return { counted, readAgain }
}

/** Commits a valid block, whose body comes after the follower has missed it. */
async function missOnce(watched: Watched, tellsWatcher: boolean) {
  const { transactions } = honest(watched.story)
  const { header, headerHash } = await watched.commit(honest(watched.story))
  const { counted, readAgain } = counting(watched.scene.layer1)
  let isAway = true
  const { watcher, errors } = openWatcher(watched, [], {
    layer1: counted,
    patienceMs,
    // As it is behind an invalid block.
    ...(tellsWatcher && { archive: { byHeight: async () => undefined } }),
    follow: ({ watch, unavailable, available }) =>
      followReally(
        watched,
        {
          watch,
          async unavailable(block, signal) {
            const shown = await unavailable(block, signal)
            isAway = false
            return shown
          },
          available: tellsWatcher ? available : () => undefined,
        },
        [{ header, transactions }],
        () => isAway,
      ),
  })
  const { archive } = watched.store
  await until('it is archived', async () => (await archive.byHeight(1n)) !== undefined)
  expect(equalBytes((await archive.byHeight(1n))!.headerHash, headerHash)).toBe(true)
  return { watcher, errors, readAgain }
}

test.each([
  ['the follower says so', true],
  ['the archive has it', false],
])('is not asked for once %s', { timeout }, async (_what, tellsWatcher) => {
  const watched = await openWatched({ contracts })
  const { watcher, errors, readAgain } = await missOnce(watched, tellsWatcher)
  await watched.pass(BigInt(patienceMs))
  await readAgain()
  expect(watcher.questions()).toEqual({ asked: 0, answered: 0, unanswered: 0 })
  expect(await newest(watched)).toBeUndefined()
  expect(errors).toEqual([])
})

test('is not asked for if it comes while the question is built', { timeout }, async () => {
  const watched = await openWatched({ contracts })
  const block = await watched.commit(honest(watched.story))
  const { counted, readAgain } = counting(watched.scene.layer1)
  let hasCome = false
  const { watcher } = openWatcher(watched, [block], {
    layer1: {
      ...counted,
      utxosAt(address, options) {
        // The reference scripts are read for a question.
        if (address === administratorAddress(contracts)) hasCome = true
        return counted.utxosAt(address, options)
      },
    },
    archive: {
      byHeight: async (height) =>
        hasCome ? { ...block, header: new Uint8Array(), height, merged: false } : undefined,
    },
    withheld: { judge: async () => true },
    patienceMs: 20_000,
  })
  await until('a question is built', () => hasCome)
  await readAgain()
  expect(watcher.questions().asked).toBe(0)
  expect(await newest(watched)).toMatchObject({ state: 'valid', transactions: [] })
})
