import txQuery from '@ratatosk/tx-query'
import fastify from 'fastify'
import { MemoryLedger } from './memory-ledger.js'

// The address holds 5 ADA in the first ledger and nothing in the second, which belongs to mainnet.
const [first, second] = [new MemoryLedger(), new MemoryLedger()]
const address = `60${'11'.repeat(28)}`
first.utxos.set(address, [
  {
    reference: { transactionId: Buffer.alloc(32, 0xab), index: 0 },
    output: Buffer.from(`a200581d${address}011a004c4b40`, 'hex'),
  },
])

const server = fastify()
await server.register(txQuery, { prefix: '/first', ledger: first, network: 'testnet' })
await server.register(txQuery, { prefix: '/second', ledger: second, network: 'mainnet' })

console.log(await server.listen({ port: Number(process.env.PORT ?? 3000) }))
