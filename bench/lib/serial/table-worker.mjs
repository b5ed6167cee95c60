// A process that validates and writes full batches as a validation worker does: before the lock, and under
// it.
import { openStore } from '@ratatosk/store'
import { commitUnlockedBatch } from '../../../packages/workers/dist/commit-batch.js'
import { examine } from '../../../packages/workers/dist/examine.js'
import { batchesOf, conditions, context, requireAccepted, taken } from './conditions.mjs'

const [url, schema] = process.argv.slice(2)
const store = await openStore({ url, schema })
let deliveries = []

const tasks = {
  examine(transactions) {
    deliveries = taken(transactions.map((cbor) => examine(cbor, context)))
  },
  async commit(size) {
    for (const batch of batchesOf(deliveries, size)) {
      const validated = await store.withUnlockedLedger((unlocked) =>
        commitUnlockedBatch(unlocked, batch, [], conditions, () => true),
      )
      requireAccepted(validated, batch.length)
    }
  },
}

process.on('message', async ({ task, value }) => {
  await tasks[task](value)
  process.send('done')
})
process.on('disconnect', () => process.exit())
process.send('done')
