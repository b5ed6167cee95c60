import { Readable } from 'node:stream'
import { toHex } from '@ratatosk/cbor'
import { metadataLabels, type NativeScript, type Script } from '@ratatosk/ledger'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { clientOf } from '../../client-signal.js'
import { encodeJson } from '../../json.js'
import { limitedPages } from '../../limited-outputs.js'
import type { LongLists } from '../../long-lists.js'
import { epochLength, maxSupply } from '../../mainnet-values.js'
import type { ChainTransaction, ChainView } from '../../view/chain-view.js'
import { BlockfrostError, notFound } from '../errors.js'
import { cborJson, maxMetadataLength, metadatumJson } from '../metadata-json.js'
import { type Paging, readPaging } from '../paging.js'
import { plutusJson } from '../plutus-json.js'

export function addNetworkRoutes(fastify: FastifyInstance, chain: ChainView, maxOutputs: number): void {
  fastify.get('/network/eras', async () => [
    {
      start: { time: 0, slot: 0, epoch: 0 },
      end: { time: null, slot: null, epoch: null },
      parameters: {
        epoch_length: Number(epochLength),
        slot_length: chain.slots.slotLength / 1000,
        safe_zone: 3 * chain.securityParameter,
      },
    },
  ])

  let running: Promise<object> | undefined
  // All who ask meanwhile share one answer.
  fastify.get('/network', { config: { operation: 'utxos' } }, () => {
    running ??= networkJson(chain, maxOutputs).finally(() => {
      running = undefined
    })
    return running
  })
}

/**
 * All ada of the chain is in unspent outputs: there are no rewards, treasury or delegation. The rest of the
 * maximum supply is shown as reserves, as Blockfrost's sum demands.
 */
async function networkJson(chain: ChainView, maxOutputs: number) {
  let circulating = 0n
  let locked = 0n
  for await (const outputs of limitedPages(chain, { spent: false }, maxOutputs)) {
    for (const { output } of outputs) {
      const { address, value } = output
      circulating += value.lovelace
      if ('payment' in address && address.payment.kind === 'script') locked += value.lovelace
    }
  }
  return {
    supply: {
      max: String(maxSupply),
      total: String(circulating),
      circulating: String(circulating),
      locked: String(locked),
      treasury: '0',
      reserves: String(maxSupply - circulating),
    },
    stake: { live: '0', active: '0' },
  }
}

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

const types = {
  native: 'timelock',
  PlutusV1: 'plutusV1',
  PlutusV2: 'plutusV2',
  PlutusV3: 'plutusV3',
} as const

type ByHash = { Params: { hash: string } }

export function addScriptRoutes(fastify: FastifyInstance, chain: ChainView): void {
  const script = { config: { operation: 'script' as const } }
  const datum = { config: { operation: 'datum' as const } }

  async function scriptOf(hash: string): Promise<Script> {
    const found = await chain.script(hash.toLowerCase())
    if (found === undefined) throw notFound()
    return found
  }

  async function datumOf(hash: string): Promise<Uint8Array> {
    const wanted = hash.toLowerCase()
    const found = (await chain.datums([wanted])).get(wanted)
    if (found === undefined) throw notFound()
    return found
  }

  fastify.get<ByHash>('/scripts/:hash', script, async ({ params }) => {
    const { hash, language, bytes } = await scriptOf(params.hash)
    return {
      script_hash: toHex(hash),
      type: types[language],
      serialised_size: language === 'native' ? null : bytes.length,
    }
  })
  fastify.get<ByHash>('/scripts/:hash/cbor', script, async ({ params }) => {
    const { language, bytes } = await scriptOf(params.hash)
    return { cbor: language === 'native' ? null : toHex(bytes) }
  })
  fastify.get<ByHash>('/scripts/:hash/json', script, async ({ params }) => {
    const found = await scriptOf(params.hash)
    return { json: found.language === 'native' ? nativeJson(found.script) : null }
  })

  fastify.get<ByHash>('/scripts/datum/:hash', datum, async ({ params }, reply) =>
    reply.type('application/json').send(encodeJson({ json_value: plutusJson(await datumOf(params.hash)) })),
  )
  fastify.get<ByHash>('/scripts/datum/:hash/cbor', datum, async ({ params }) => ({
    cbor: toHex(await datumOf(params.hash)),
  }))
}

function nativeJson(script: NativeScript): unknown {
  switch (script.kind) {
    case 'signature':
      return { type: 'sig', keyHash: toHex(script.keyHash) }
    case 'all':
    case 'any':
      return { type: script.kind, scripts: script.scripts.map(nativeJson) }
    case 'at-least':
      return { type: 'atLeast', required: Number(script.required), scripts: script.scripts.map(nativeJson) }
    case 'invalid-before':
      return { type: 'after', slot: Number(script.slot) }
    case 'invalid-hereafter':
      return { type: 'before', slot: Number(script.slot) }
  }
}
