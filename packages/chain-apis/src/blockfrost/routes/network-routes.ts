import { toHex } from '@ratatosk/cbor'
import { metadataLabels, type NativeScript, type Script, safeZone, slotToTime } from '@ratatosk/ledger'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { encodeJson, lazyList } from '../../json.js'
import { clientOf } from '../../long-lists.js'
import { epochLength, epochOf, maxSupply } from '../../mainnet-values.js'
import type { ChainOutput, ChainTransaction, ChainView } from '../../view/chain-view.js'
import { cborJson, maxMetadataLength, metadatumJson, plutusJson } from '../data-json.js'
import { badRequest, notFound } from '../errors.js'
import { limitedPages } from '../limited-outputs.js'
import { type BlockfrostSource, List, sendJson, sendOutputs, sendPages } from '../paging.js'
import { redeemerJson, seconds, utxoJson } from '../transaction-json.js'

export function addNetworkRoutes(fastify: FastifyInstance, { chain, maxOutputs }: BlockfrostSource): void {
  // The only era ends with its epoch, or the next one if less than the safe zone is left.
  fastify.get('/network/eras', async () => {
    const slotLength = chain.slots.slotLength / 1000
    const { slot } = await chain.tip()
    const isNear = slot % epochLength >= Number(epochLength - safeZone)
    const epoch = epochOf(slot) + (isNear ? 2 : 1)
    const end = epoch * Number(epochLength)
    return [
      {
        start: { time: 0, slot: 0, epoch: 0 },
        end: { time: Math.floor(end * slotLength), slot: end, epoch },
        parameters: {
          epoch_length: Number(epochLength),
          slot_length: slotLength,
          safe_zone: Number(safeZone),
        },
      },
    ]
  })

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

/** Labels of the registry of CIP-10 that wallets and dApps write. */
const labelNames: ReadonlyMap<bigint, string> = new Map([
  [674n, 'CIP-0020 - Transaction message/comment metadata'],
  [721n, 'CIP-0025 - NFT Metadata Standard'],
  [777n, 'CIP-0027 - Royalties Standard'],
])

type ByLabel = { Params: { label: string } }

export function addMetadataRoutes(
  fastify: FastifyInstance,
  { chain, maxOutputs, lists }: BlockfrostSource,
): void {
  const config = { config: { operation: 'transaction' as const } }

  fastify.get<ByLabel>('/metadata/txs/labels/:label', config, (request, reply) =>
    // `null` where Blockfrost has no JSON either.
    answer(reply, request, (cbor) => ({
      json_metadata: cbor.length > maxMetadataLength ? null : metadatumJson(cbor),
    })),
  )
  fastify.get<ByLabel>('/metadata/txs/labels/:label/cbor', config, (request, reply) =>
    answer(reply, request, cborJson),
  )

  fastify.get('/metadata/txs/labels', config, async (request) => {
    const labels = await new List(request, maxOutputs).read((part) => chain.labels(part))
    return labels.map(({ label, count }) => ({
      label: String(label),
      cip10: labelNames.get(label) ?? null,
      count: String(count),
    }))
  })

  /** Sends a page transaction by transaction: their metadata may have a megabyte each. */
  async function answer(
    reply: FastifyReply,
    request: FastifyRequest<ByLabel>,
    json: (cbor: Uint8Array) => object,
  ): Promise<FastifyReply> {
    const part = new List(request, maxOutputs)
    const label = readLabel(request.params.label)
    const hashes = await part.read((each) => chain.labelled(label, each))
    if (hashes.length === 0) throw notFound()
    const itemsOf = (transactions: readonly ChainTransaction[]) =>
      transactions.flatMap(({ hash, transaction: { auxiliaryData } }) =>
        (auxiliaryData === undefined ? [] : metadataLabels(auxiliaryData))
          .filter((each) => each.label === label)
          .map(({ cbor }) => ({ tx_hash: hash, ...json(cbor) })),
      )
    return sendPages(reply, await lists.read(transactionsOf(hashes), itemsOf, clientOf(reply)))
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
  throw badRequest('Missing, out of range or malformed label.')
}

const types = {
  native: 'timelock',
  PlutusV1: 'plutusV1',
  PlutusV2: 'plutusV2',
  PlutusV3: 'plutusV3',
} as const

type ByHash = { Params: { hash: string } }

export function addScriptRoutes(fastify: FastifyInstance, source: BlockfrostSource): void {
  const { chain, maxOutputs } = source
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

  fastify.get('/scripts', script, async (request) => {
    const hashes = await new List(request, maxOutputs).read((part) => chain.scripts(part))
    return hashes.map((hash) => ({ script_hash: hash }))
  })
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

  fastify.get<ByHash>('/scripts/:hash/utxos', script, async (request, reply) => {
    const list = new List(request, maxOutputs)
    const hash = toHex((await scriptOf(request.params.hash)).hash)
    const query = { referenceScript: hash, spent: false }
    const toJson = (output: ChainOutput) => {
      const { tx_index: _index, ...json } = utxoJson(output)
      return json
    }
    if (list.isUnpaged) return sendOutputs(reply, source, query, list, toJson)
    return sendJson(reply, lazyList(await list.read((part) => chain.outputs(query, part)), toJson))
  })

  fastify.get<ByHash>('/scripts/:hash/redeemers', script, async (request) => {
    const list = new List(request, maxOutputs)
    const hash = toHex((await scriptOf(request.params.hash)).hash)
    const redeemers = await list.read((part) => chain.redeemers(hash, part))
    return redeemers.map(({ hash: tx_hash, dataHash, ...redeemer }) => ({
      tx_hash,
      ...redeemerJson(chain, redeemer, dataHash),
    }))
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

/** Routes for health and genesis. */
export function addChainRoutes(fastify: FastifyInstance, chain: ChainView): void {
  fastify.get('/', async () => ({ url: 'https://blockfrost.io/', version: '0.1.0' }))
  fastify.get('/health', async () => ({ is_healthy: true }))
  fastify.get('/health/clock', async () => ({
    server_time: Number(slotToTime(chain.slots, chain.currentSlot())),
  }))

  fastify.get('/genesis', async () => ({
    active_slots_coefficient: 1,
    update_quorum: 5,
    max_lovelace_supply: String(maxSupply),
    network_magic: chain.networkMagic,
    epoch_length: Number(epochLength),
    system_start: seconds(slotToTime(chain.slots, 0n)),
    slots_per_kes_period: 129_600,
    slot_length: chain.slots.slotLength / 1000,
    max_kes_evolutions: 62,
    security_param: chain.securityParameter,
  }))
}
