import { decodeBech32Address, decodeTransactionOutput } from '@ratatosk/ledger'

const schema = {
  tags: ['ledger'],
  operationId: 'getBalance',
  summary: 'Sum of the lovelace at an address',
  querystring: {
    type: 'object',
    required: ['address'],
    properties: { address: { type: 'string', description: 'Bech32 address' } },
  },
  response: {
    200: {
      description: 'The sum over the unspent outputs of the address',
      type: 'object',
      required: ['lovelace', 'outputs'],
      properties: { lovelace: { type: 'string' }, outputs: { type: 'integer' } },
    },
  },
}

/**
 * Fastify plugin: `GET /balance?address=`.
 *
 * @param options `outputsAt`: pages of the unspent outputs at an address, each with its CBOR in `output`
 */
export async function balance(fastify, { outputsAt }) {
  fastify.get('/balance', { schema }, async ({ query }, reply) => {
    let address
    try {
      address = decodeBech32Address(query.address)
    } catch (error) {
      return reply.code(400).send({ error: `Invalid address: ${error.message}` })
    }
    let lovelace = 0n
    let outputs = 0
    for await (const page of outputsAt(address.bytes)) {
      for (const { output } of page) lovelace += decodeTransactionOutput(output).value.lovelace
      outputs += page.length
    }
    return { lovelace: String(lovelace), outputs }
  })
}
