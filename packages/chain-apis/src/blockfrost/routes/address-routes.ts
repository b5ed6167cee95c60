import { fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import { type Address, type AuxiliaryData, blake2b160, slotToTime, splitUnit } from '@ratatosk/ledger'
import { bech32 } from 'bech32'
import type { FastifyInstance } from 'fastify'
import { encodeJson, lazyList } from '../../json.js'
import { limitedPages } from '../../limited-outputs.js'
import { createPause } from '../../pause.js'
import { stakeAddress } from '../../stake-credential.js'
import { addressText, readAddressText } from '../../view/address-text.js'
import type { ChainOutputQuery, ChainView } from '../../view/chain-view.js'
import { BlockfrostError, invalidPath, notFound } from '../errors.js'
import { type MetadatumJson, maxMetadataLength, metadataJson } from '../metadata-json.js'
import { Total, utxoJson } from '../output-json.js'
import { type Paging, page, readPaging, sendJson } from '../paging.js'
import { seconds } from './chain-routes.js'

const credentialPrefixes = new Set(['addr_vkh', 'addr_shared_vkh', 'script'])

interface ByPath {
  Params: { '*': string }
  Querystring: Paging
}

/**
 * Routes for addresses, payment credentials and assets. They are wildcards because Fastify limits parameters
 * to 100 characters by default (`maxParamLength`), and addresses are longer.
 */
export function addAddressRoutes(fastify: FastifyInstance, chain: ChainView, maxOutputs: number): void {
  const utxos = { config: { operation: 'utxos' as const } }

  fastify.get<ByPath>('/addresses/*', utxos, async ({ params, query }, reply) => {
    const [text = '', list, asset, ...rest] = params['*'].split('/')
    if (rest.length > 0 || (asset !== undefined && list !== 'utxos')) throw invalidPath()
    const holder = readHolder(chain, text)
    if (list === undefined) return holderJson(chain, text, holder, maxOutputs)
    if (list === 'extended') {
      const json = await holderJson(chain, text, holder, maxOutputs)
      return { ...json, amount: await extendedAmount(chain, json.amount) }
    }
    if (list === 'utxos') {
      return sendJson(reply, lazyList(await utxosOf(chain, holder, query, asset), utxoJson))
    }
    if (list === 'total') return totalJson(chain, text, holder, maxOutputs)
    if (list === 'transactions') return transactionsOf(chain, holder, query)
    throw invalidPath()
  })

  fastify.get<{ Querystring: Paging }>('/assets', utxos, async ({ query }) => minted(chain, undefined, query))
  fastify.get<ByPath>('/assets/*', utxos, async ({ params, query }, reply) => {
    const [asset = '', list, ...rest] = params['*'].split('/')
    if (asset === 'policy' && list !== undefined && rest.length === 0) {
      const assets = await minted(chain, readPolicy(list), query)
      if (assets.length === 0 && readPaging(query).offset === 0) throw notFound()
      return assets
    }
    if (list === undefined)
      return reply.type('application/json').send(await assetJson(chain, asset.toLowerCase()))
    if (list !== 'addresses' || rest.length > 0) throw invalidPath()
    return page(await holders(chain, asset.toLowerCase(), maxOutputs), query)
  })
}

/** An address, or the hash of a payment key or script in hex. */
type Holder = Address | string

function queryOf(holder: Holder): ChainOutputQuery {
  if (typeof holder === 'string') return { paymentCredential: holder }
  return { address: toHex(holder.bytes) }
}

async function holderJson(chain: ChainView, text: string, holder: Holder, maxOutputs: number) {
  const total = new Total()
  const query = { ...queryOf(holder), spent: false }
  for await (const outputs of limitedPages(chain, query, maxOutputs)) total.add(outputs)
  await requireKnown(chain, holder, total.outputs)
  const address = typeof holder === 'string' ? undefined : holder
  const stake = address !== undefined && 'stake' in address ? address.stake : undefined
  return {
    address: text,
    amount: total.json(),
    stake_address:
      address === undefined || stake === undefined ? null : stakeAddress(address.networkId, stake),
    type: address?.kind === 'byron' ? 'byron' : 'shelley',
    script:
      address === undefined
        ? text.startsWith('script')
        : 'payment' in address && address.payment.kind === 'script',
  }
}

async function utxosOf(chain: ChainView, holder: Holder, query: Paging, unit?: string) {
  const outputs = await chain.outputs(
    { ...queryOf(holder), spent: false, ...(unit !== undefined && { unit: unit.toLowerCase() }) },
    readPaging(query),
  )
  await requireKnown(chain, holder, outputs.length)
  return outputs
}

/** 404 for an address that never received an output, as in Blockfrost. */
async function requireKnown(chain: ChainView, holder: Holder, found: number): Promise<void> {
  if (found > 0 || typeof holder === 'string') return
  if (!(await chain.knowsAddress(toHex(holder.bytes)))) throw notFound()
}

/** All transactions that pay to an address or spend from it. */
async function transactionsOf(chain: ChainView, holder: Holder, query: Paging) {
  const part = readPaging(query)
  if (typeof holder === 'string') throw invalidAddress()
  const transactions = await chain.history(toHex(holder.bytes), part)
  await requireKnown(chain, holder, transactions.length)
  return transactions.map(({ hash, place: { block, position } }) => ({
    tx_hash: hash,
    tx_index: position,
    block_height: block.height,
    block_time: seconds(slotToTime(chain.slots, block.slot)),
  }))
}

/** The sums that an address ever received and sent, and its number of transactions. */
async function totalJson(chain: ChainView, text: string, holder: Holder, maxOutputs: number) {
  const received = new Total()
  const sent = new Total()
  const transactions = new Set<string>()
  for await (const outputs of limitedPages(chain, queryOf(holder), maxOutputs)) {
    received.add(outputs)
    sent.add(outputs.filter(({ spent }) => spent !== undefined))
    for (const { transactionHash, spent } of outputs) {
      transactions.add(transactionHash)
      if (spent !== undefined) transactions.add(spent.transactionHash)
    }
  }
  if (received.outputs === 0) throw notFound()
  return {
    address: text,
    received_sum: received.json(),
    sent_sum: sent.json(),
    tx_count: transactions.size,
  }
}

async function holders(
  chain: ChainView,
  unit: string,
  maxOutputs: number,
): Promise<{ address: string; quantity: string }[]> {
  checkUnit(unit)
  const { policy, name } = splitUnit(unit)
  const quantities = new Map<string, bigint>()
  for await (const outputs of limitedPages(chain, { unit, spent: false }, maxOutputs)) {
    for (const { output } of outputs) {
      const address = addressText(output.address)
      const quantity = output.value.assets.get(policy)?.get(name) ?? 0n
      quantities.set(address, (quantities.get(address) ?? 0n) + quantity)
    }
  }
  if (quantities.size === 0) throw notFound()
  return Array.from(quantities, ([address, quantity]) => ({ address, quantity: String(quantity) }))
}

/** The assets ever minted in order of their first mint, with what is left of them: `0` once burned. */
async function minted(chain: ChainView, policy: string | undefined, query: Paging) {
  const assets = await chain.assets(policy, readPaging(query))
  return assets.map(({ unit, quantity }) => ({ asset: unit, quantity: String(quantity) }))
}

/** @throws {BlockfrostError} 400 if the text is not the id of a policy */
function readPolicy(text: string): string {
  const policy = text.toLowerCase()
  if (/^[0-9a-f]{56}$/.test(policy)) return policy
  throw new BlockfrostError(400, 'Invalid or malformed policy format.')
}

/** Throws a 400 if the text is neither an address of this network nor a payment credential. */
function readHolder(chain: ChainView, text: string): Holder {
  const credential = paymentCredential(text)
  if (credential !== undefined) return credential
  try {
    const address = readAddressText(text)
    if (address.networkId === chain.networkId) return address
  } catch (error) {
    if (!isDecodeError(error)) throw error
  }
  throw invalidAddress()
}

function invalidAddress(): BlockfrostError {
  return new BlockfrostError(400, 'Invalid address for this network or malformed address format.')
}

function paymentCredential(text: string): string | undefined {
  const decoded = bech32.decodeUnsafe(text, 128)
  if (decoded === undefined || !credentialPrefixes.has(decoded.prefix)) return undefined
  const bytes = Uint8Array.from(bech32.fromWords(decoded.words))
  return bytes.length === 28 ? toHex(bytes) : undefined
}

/** @throws {BlockfrostError} 400 if a text is not the unit of an asset: policy id and asset name in hex */
function checkUnit(unit: string): void {
  if (!/^[0-9a-f]{56}([0-9a-f]{2}){0,32}$/.test(unit))
    throw new BlockfrostError(400, 'Invalid or malformed asset format.')
}

/** An asset, with its CIP-25 metadata from the last transaction that minted it: there is no registry. */
export async function assetJson(chain: ChainView, unit: string): Promise<string> {
  checkUnit(unit)
  const asset = await chain.asset(unit)
  if (asset === undefined) throw notFound()
  const { policy, name } = splitUnit(unit)
  const { metadata, standard } = tokenMetadata(await dataOf(chain, asset.last), policy, name)
  return encodeJson({
    asset: unit,
    policy_id: policy,
    asset_name: name === '' ? null : name,
    fingerprint: fingerprint(unit),
    quantity: String(asset.quantity),
    initial_mint_tx_hash: asset.first,
    mint_or_burn_count: asset.mints,
    onchain_metadata: metadata,
    onchain_metadata_standard: standard,
    onchain_metadata_extra: null,
    metadata: null,
  })
}

/** The most assets of an answer whose metadata are read: each costs several queries. */
const maxLookUps = 100

/**
 * A sum with Blockfrost's additions: whether an asset has CIP-25 metadata. It is `false` beyond 100 assets
 * and for metadata too large for JSON; without a registry, only ada has decimals.
 */
export async function extendedAmount(
  chain: ChainView,
  amount: readonly { readonly unit: string; readonly quantity: string }[],
) {
  const pause = createPause()
  const extended: object[] = []
  for (const [index, { unit, quantity }] of amount.entries()) {
    const isAda = unit === 'lovelace'
    extended.push({
      unit,
      quantity,
      decimals: isAda ? 6 : null,
      has_nft_onchain_metadata: !isAda && index <= maxLookUps && (await hasMetadata(chain, unit)),
    })
    await pause()
  }
  return extended
}

async function hasMetadata(chain: ChainView, unit: string): Promise<boolean> {
  const asset = await chain.asset(unit)
  if (asset === undefined) return false
  const { policy, name } = splitUnit(unit)
  const data = await dataOf(chain, asset.last)
  if (data === undefined || data.bytes.length > maxMetadataLength) return false
  return tokenMetadata(data, policy, name).metadata !== null
}

/** The name of an asset for people (CIP-14). */
export function fingerprint(unit: string): string {
  return bech32.encode('asset', bech32.toWords(blake2b160(fromHex(unit))))
}

async function dataOf(chain: ChainView, hash: string): Promise<AuxiliaryData | undefined> {
  return (await chain.transaction(hash))?.transaction.transaction.auxiliaryData
}

/** @throws {BlockfrostError} 400 if the data are too large for JSON */
function tokenMetadata(data: AuxiliaryData | undefined, policy: string, name: string) {
  const none = { metadata: null, standard: null }
  const tokens = metadataJson(data).find(({ label }) => label === '721')?.json
  if (tokens === undefined) return none
  // Version 1 has names as text, version 2 policies and names as bytes.
  const first = member(member(tokens, policy), Buffer.from(name, 'hex').toString())
  if (first !== undefined) return { metadata: first, standard: 'CIP25v1' }
  const second = member(member(tokens, `0x${policy}`), `0x${name}`)
  return second === undefined ? none : { metadata: second, standard: 'CIP25v2' }
}

function member(json: MetadatumJson | undefined, key: string): MetadatumJson | undefined {
  if (typeof json !== 'object' || Array.isArray(json)) return undefined
  return Object.entries(json).find(([name]) => name === key)?.[1]
}
