import { openStore } from '@ratatosk/store'
import { SourceChain } from '@ratatosk/test-kit'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { expect, it } from 'vitest'
import { checkBlockVersion } from './block-version.js'

it('takes a new database and one of this block version, and refuses any other', async () => {
  const { archive, ...store } = await openTestStore(openStore)
  await checkBlockVersion({ ...store, archive })

  const chain = new SourceChain()
  const { height, headerHash, header } = await chain.commit(1)
  const block = { headerHash, header, merged: false }
  await archive.put([{ ...block, height, body: Uint8Array.of(0) }])
  await checkBlockVersion({ ...store, archive })

  const old = await chain.commit(1, { blockVersion: 1n })
  await archive.put([
    {
      headerHash: old.headerHash,
      header: old.header,
      merged: false,
      height: old.height,
      body: Uint8Array.of(0),
    },
  ])
  await expect(checkBlockVersion({ ...store, archive })).rejects.toMatchObject({
    code: 'NODE_DATABASE',
    message: expect.stringMatching(/^The archive holds blocks of block version 1.*another DATABASE_SCHEMA/),
  })

  const lease = (await store.leases.acquire('sequencer', 'a test', 60_000))!
  const id = new Uint8Array(32).fill(7)
  await store.withLedger((ledger) =>
    ledger.apply({ transactions: [{ id, cbor: Uint8Array.of(1), spent: [], produced: [] }] }),
  )
  const [transaction] = await store.blocks.oldest(1)
  await store.blocks.build(
    {
      headerHash: old.headerHash,
      header: old.header,
      previousHeaderHash: new Uint8Array(28),
      utxosRoot: old.fields.utxosRoot,
      startTime: old.fields.startTime,
      endTime: old.fields.endTime,
      firstSequence: transaction!.sequence,
      lastSequence: transaction!.sequence,
      transactions: 1,
      commitTransaction: { id, cbor: Uint8Array.of(2) },
    },
    lease,
  )
  await expect(checkBlockVersion({ ...store, archive })).rejects.toMatchObject({
    code: 'NODE_DATABASE',
    message: expect.stringMatching(/^The database holds blocks of block version 1.*POST \/reset/),
  })
})
