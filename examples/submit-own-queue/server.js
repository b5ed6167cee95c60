import submit from '@ratatosk/submit'
import fastify from 'fastify'

const transactions = []
const queue = {
  add: async (cbor) => String(transactions.push(cbor)),
}

const server = fastify()
await server.register(submit, { queue })
server.get('/queue', async () => transactions.map((cbor) => Buffer.from(cbor).toString('hex')))

console.log(await server.listen({ port: Number(process.env.PORT ?? 3000) }))
