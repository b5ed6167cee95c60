import { Readable } from 'node:stream'
import { metadataLabels } from '@ratatosk/ledger'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { clientOf } from '../../client-signal.js'
import type { LongLists } from '../../long-lists.js'
import type { ChainTransaction, ChainView } from '../../view/chain-view.js'
import { BlockfrostError, notFound } from '../errors.js'
import { cborJson, maxMetadataLength, metadatumJson } from '../metadata-json.js'
import { type Paging, readPaging } from '../paging.js'

interface ByLabel {
  Params: { label: string }
  Querystring: Paging
}

export function addMetadataRoutes(fastify: FastifyInstance, chain: ChainView, lists: LongLists): void {
  const config = { config: { operation: 'transaction' as const } }

  fastify.get<ByLabel>('/metadata/txs/labels/:label', config, ({ params, query }, reply) =>
    // `null` where Blockfrost has no JSON either.
    answer(reply, params.label, query, (cbor) => ({
      json_metadata: cbor.length > maxMetadataLength ? null : metadatumJson(cbor),
    })),
  )
  fastify.get<ByLabel>('/metadata/txs/labels/:label/cbor', config, ({ params, query }, reply) =>
    answer(reply, params.label, query, cborJson),
  )

  /** Sends a page transaction by transaction: their metadata may have a megabyte each. */
  async function answer(
    reply: FastifyReply,
    text: string,
    query: Paging,
    json: (cbor: Uint8Array) => object,
  ): Promise<FastifyReply> {
    const label = readLabel(text)
    const hashes = await chain.labelled(label, readPaging(query))
    if (hashes.length === 0) throw notFound()
    const itemsOf = (transactions: readonly ChainTransaction[]) =>
      transactions.flatMap(({ hash, transaction: { auxiliaryData } }) =>
        (auxiliaryData === undefined ? [] : metadataLabels(auxiliaryData))
          .filter((each) => each.label === label)
          .map(({ cbor }) => ({ tx_hash: hash, ...json(cbor) })),
      )
    const list = await lists.read(transactionsOf(hashes), itemsOf, clientOf(reply))
    return reply.type('application/json').send(Readable.from(list))
  }

  /** One transaction per page. One that has left the chain meanwhile is left out. */
  async function* transactionsOf(hashes: readonly string[]): AsyncGenerator<ChainTransaction[], void> {
    for (const hash of hashes) {
      const found = await chain.transaction(hash)
      if (found !== undefined) yield [found.transaction]
    }
  }
}

/** @throws {BlockfrostError} 400 if the text is not an integer of 64 bits */
function readLabel(text: string): bigint {
  const label = /^\d{1,20}$/.test(text) ? BigInt(text) : -1n
  if (label >= 0n && label < 2n ** 64n) return label
  throw new BlockfrostError(400, 'Missing, out of range or malformed label.')
}
