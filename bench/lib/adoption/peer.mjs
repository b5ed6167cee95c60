// A thread that serves the blocks of a store, as another operator's node does.
import { parentPort, workerData } from 'node:worker_threads'
import archivist, { archiveOfBlocks } from '@ratatosk/archivist'
import { openStore } from '@ratatosk/store'
import fastify from 'fastify'

const store = await openStore({ url: workerData.url, schema: workerData.schema })
const server = fastify({ forceCloseConnections: true })
await server.register(archivist, { archive: archiveOfBlocks(store.blocks), prefix: '/archivist' })
parentPort.postMessage(`${await server.listen({ host: '127.0.0.1', port: 0 })}/archivist`)
parentPort.once('message', async () => {
  await server.close()
  await store.close()
  process.exit()
})
