import type { Transaction } from '@ratatosk/ledger'
import type { FastifyInstance } from 'fastify'
import { clientOf } from '../../client-signal.js'
import { lazyList } from '../../json.js'
import { mempoolTransactions } from '../../transaction-pages.js'
import { addressText } from '../../view/address-text.js'
import type { ChainView } from '../../view/chain-view.js'
import { holdsFor } from '../../view/outputs.js'
import { invalidPath, notFound } from '../errors.js'
import { readHolder } from '../holder.js'
import { outputJson } from '../output-json.js'
import { List, sendJson } from '../paging.js'
import type { BlockfrostSource } from '../source.js'
import { touchedOutputs } from '../touched.js'
import { inputsOf, sizesJson } from './transaction-routes.js'

/** Routes for transactions that are in no block yet. */
export function addMempoolRoutes(
  fastify: FastifyInstance,
  { chain, maxOutputs, lists }: BlockfrostSource,
): void {
  const config = { config: { operation: 'transaction' as const } }

  fastify.get('/mempool', config, async (request) =>
    (await new List(request, maxOutputs).read((part) => chain.mempool(part))).map(({ hash }) => ({
      tx_hash: hash,
    })),
  )
  // A wildcard, because Fastify limits parameters to 100 characters by default, and addresses are longer.
  fastify.get<{ Params: { '*': string } }>('/mempool/addresses/*', config, async (request, reply) => {
    const list = new List(request, maxOutputs)
    if (request.params['*'].includes('/')) throw invalidPath()
    const { query } = readHolder(chain, request.params['*'])
    const found: object[] = []
    const pages = touchedOutputs(chain, mempoolTransactions(chain, maxOutputs), maxOutputs)
    for await (const page of lists.pages(pages, clientOf(reply)))
      for (const { hash, outputs } of page)
        if (outputs.some((output) => holdsFor(output, query))) found.push({ tx_hash: hash })
    return list.of(found)
  })
  fastify.get<{ Params: { hash: string } }>('/mempool/:hash', config, async ({ params }, reply) => {
    const found = await chain.transaction(params.hash.toLowerCase())
    if (found === undefined || found.place !== undefined) throw notFound()
    return sendJson(reply, await pendingJson(chain, found.transaction.transaction))
  })
}

/** A transaction of the mempool. Inputs whose outputs are in the mempool too have no address. */
async function pendingJson(chain: ChainView, transaction: Transaction) {
  const { body, witnesses } = transaction
  const inputs = await inputsOf(chain, transaction)
  return {
    tx: sizesJson(chain, transaction),
    inputs: inputs.map(({ found, place, kind }) => ({
      ...(found && { address: addressText(found.output.address) }),
      ...place,
      ...kind,
    })),
    outputs: lazyList(body.outputs.entries(), ([index, output]) => ({
      ...outputJson(output),
      output_index: index,
      collateral: false,
    })),
    redeemers: witnesses.redeemers.map(({ index, purpose, executionUnits }) => ({
      tx_index: index,
      purpose,
      unit_mem: String(executionUnits.memory),
      unit_steps: String(executionUnits.steps),
    })),
  }
}
