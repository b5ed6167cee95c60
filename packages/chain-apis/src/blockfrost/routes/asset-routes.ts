import { fromHex } from '@ratatosk/cbor'
import { blake2b160, splitUnit } from '@ratatosk/ledger'
import { bech32 } from 'bech32'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { encodeJson, lazyList } from '../../json.js'
import { addressText } from '../../view/address-text.js'
import type { ChainOutput, ChainView } from '../../view/chain-view.js'
import { isWithin } from '../../view/outputs.js'
import { assetMetadata } from '../asset-metadata.js'
import { plutusJson, tooLarge } from '../data-json.js'
import { badRequest, invalidPath, notFound } from '../errors.js'
import { limitedPages } from '../limited-outputs.js'
import { type BlockfrostSource, List, rangeNames, readRange, sendJson } from '../paging.js'
import { placedJson, utxoJson } from '../transaction-json.js'

/** Routes for assets and policies. */
export function addAssetRoutes(fastify: FastifyInstance, source: BlockfrostSource): void {
  const { chain, maxOutputs } = source
  const utxos = { config: { operation: 'utxos' as const } }

  fastify.get('/assets', utxos, async (request) => minted(chain, undefined, new List(request, maxOutputs)))

  // A wildcard, because Fastify limits parameters to 100 characters by default, and units are longer.
  fastify.get<{ Params: { '*': string } }>('/assets/*', utxos, async (request, reply) => {
    const [asset = '', name, ...rest] = request.params['*'].split('/')
    if (rest.length > 0) throw invalidPath()
    if (name === undefined)
      return reply.type('application/json').send(await assetJson(chain, readAsset(asset)))
    if (asset === 'policy') {
      const list = new List(request, maxOutputs)
      const policy = readPolicy(name)
      const assets = await minted(chain, policy, list)
      if (assets.length > 0) return assets
      const [known] = await chain.assets(policy, { offset: 0, limit: 1 })
      if (known === undefined) throw notFound()
      return assets
    }
    const answer = assetLists.get(name)
    if (answer === undefined) throw invalidPath()
    const list = new List(request, maxOutputs, ranged.has(name) ? rangeNames : [])
    const unit = readAsset(asset)
    const range = readRange(list)
    if ((await chain.asset(unit)) === undefined) throw notFound()
    return answer({ source, unit, list, range, reply })
  })
}

interface AssetRequest {
  readonly source: BlockfrostSource
  /** Of an asset that was ever minted. */
  readonly unit: string
  readonly list: List
  readonly range: ReturnType<typeof readRange>
  readonly reply: FastifyReply
}

/** The lists below an asset, by the last part of their path. */
const answers: Readonly<Record<string, (request: AssetRequest) => Promise<unknown>>> = {
  addresses: async ({ source, unit, list }) => list.of(await holders(source, unit)),

  history: async ({ source: { chain }, unit, list }) =>
    (await list.read((part) => chain.mints(unit, part))).map(({ hash, quantity }) => ({
      tx_hash: hash,
      amount: String(quantity),
      action: quantity < 0n ? 'burned' : 'minted',
    })),

  transactions: async ({ source: { chain }, unit, list, range }) =>
    (await list.read((part) => chain.history({ unit }, part, range))).map((each) => placedJson(chain, each)),

  txs: async ({ source: { chain }, unit, list }) =>
    (await list.read((part) => chain.history({ unit }, part))).map(({ hash }) => hash),

  async utxos({ source: { chain, maxOutputs }, unit, list, range, reply }) {
    async function* pages(): AsyncGenerator<ChainOutput[]> {
      const query = { unit, spent: false }
      for await (const page of limitedPages(chain, query, maxOutputs, list.order))
        yield page.filter(({ created }) => isWithin(created, range))
    }
    return sendJson(
      reply,
      lazyList(await list.take(pages()), (output) => assetUtxoJson(chain, output)),
    )
  },
}
const assetLists = new Map(Object.entries(answers))
const ranged = new Set(['transactions', 'utxos'])

function assetUtxoJson(chain: ChainView, output: ChainOutput) {
  const { tx_index: _index, ...json } = utxoJson(output)
  const { transactionHash: hash, created: place } = output
  const { datum } = output.output
  const { block_height, block_time } = placedJson(chain, { hash, place })
  const inline_datum_json = datum.kind === 'inline' ? plutusJson(datum.data) : null
  return { ...json, inline_datum_json, block_height, block_time }
}

/** Who holds an asset, in the order of their first outputs. */
async function holders({ chain, maxOutputs }: BlockfrostSource, unit: string) {
  const { policy, name } = splitUnit(unit)
  const quantities = new Map<string, bigint>()
  for await (const outputs of limitedPages(chain, { unit, spent: false }, maxOutputs)) {
    for (const { output } of outputs) {
      const address = addressText(output.address)
      const quantity = output.value.assets.get(policy)?.get(name) ?? 0n
      quantities.set(address, (quantities.get(address) ?? 0n) + quantity)
    }
  }
  return Array.from(quantities, ([address, quantity]) => ({ address, quantity: String(quantity) }))
}

/** The assets ever minted in order of their first mint, with what is left of them: `0` once burned. */
async function minted(chain: ChainView, policy: string | undefined, list: List) {
  const assets = await list.read((part) => chain.assets(policy, part))
  return assets.map(({ unit, quantity }) => ({ asset: unit, quantity: String(quantity) }))
}

/** @throws {BlockfrostError} 400 if the text is not the id of a policy */
function readPolicy(text: string): string {
  const policy = text.toLowerCase()
  if (/^[0-9a-f]{56}$/.test(policy)) return policy
  throw badRequest('Invalid or malformed policy format.')
}

/** @throws {BlockfrostError} 400 if the text is not the unit of an asset: policy id and asset name in hex */
export function readAsset(text: string): string {
  const unit = text.toLowerCase()
  if (/^[0-9a-f]{56}([0-9a-f]{2}){0,32}$/.test(unit)) return unit
  throw badRequest('Invalid or malformed asset format.')
}

/** An asset with its metadata on the chain: there is no registry. */
export async function assetJson(chain: ChainView, unit: string): Promise<string> {
  const asset = await chain.asset(unit)
  if (asset === undefined) throw notFound()
  const found = await assetMetadata(chain, unit, asset)
  if (found === undefined) throw tooLarge()
  const { policy, name } = splitUnit(unit)
  return encodeJson({
    asset: unit,
    policy_id: policy,
    asset_name: name === '' ? null : name,
    fingerprint: fingerprint(unit),
    quantity: String(asset.quantity),
    initial_mint_tx_hash: asset.first,
    mint_or_burn_count: asset.mints,
    onchain_metadata: found.metadata,
    onchain_metadata_standard: found.standard,
    onchain_metadata_extra: found.extra,
    metadata: null,
  })
}

/** The name of an asset for people (CIP-14). */
export function fingerprint(unit: string): string {
  return bech32.encode('asset', bech32.toWords(blake2b160(fromHex(unit))))
}
