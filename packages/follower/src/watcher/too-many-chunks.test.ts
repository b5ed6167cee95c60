import { chunkKey, encodeChunkRecord, maxChunks } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import { expect, test } from 'vitest'
import { blockOf, framesOf } from '../../../fraud/dist/test/lying-blocks.js'
import { summonsContracts as contracts } from '../../../protocol/dist/test/protocol-scene.js'
import type { InvalidBlock } from '../index.js'
import { openOperator } from './test/operator.js'
import { openWatched, openWatcher, until } from './test/scene.js'

test.each([maxChunks + 1, 2 ** 53 - 1])(
  'asks for no other chunk of a block that counts %i of them',
  { timeout: 120_000 },
  async (count) => {
    const watched = await openWatched({ contracts })
    const { transactions } = watched.story
    const chunkHash = blake2b256(framesOf(...transactions))
    const committed = blockOf(transactions, {
      entries: (map) =>
        map.set(toHex(chunkKey(0)), encodeChunkRecord({ first: 0, chunks: count, chunkHash })),
    })
    const { entries: _, ...block } = (await watched.commit(committed)) as InvalidBlock & { entries?: unknown }
    const { answered } = await openOperator(watched, committed)
    const withheld = { judge: async () => false }
    const { errors } = openWatcher(watched, [block], { withheld, patienceMs: 20_000 })
    const newest = async () => (await watched.store.verdicts.list({ limit: 1 })).verdicts[0]
    await until('it is removed', async () => (await newest())?.state === 'removed')
    expect(await newest()).toMatchObject({ policy: 'ledger', fraud: 'strangeEntry' })
    expect(answered.filter(({ kind }) => kind === 'chunk').map(({ key }) => toHex(key))).toEqual(['00000000'])
    expect(errors).toEqual([])
  },
)
