// A server of /tx, /txs and /utxos over a schema, as the node has them: node query-server.mjs <schema>.
// Prints its URL.
import { openStore } from '@ratatosk/store'
import { txQuery } from '@ratatosk/tx-query'
import fastify from 'fastify'
import { databaseUrl } from '../services.mjs'

const store = await openStore({ url: databaseUrl, schema: process.argv[2] })
const server = fastify()
await server.register(txQuery, {
  ledger: {
    transaction: (id) => store.transaction(id),
    history: (address, page) => store.historyPages(address, page),
    utxosAt: (address) => store.utxoPages(address),
    blockTransactions: (headerHash) => store.blockTransactionPages(headerHash),
  },
  network: 'testnet',
})
process.once('SIGTERM', async () => {
  await server.close()
  await store.close()
})
console.log(await server.listen({ host: '127.0.0.1', port: 0 }))
