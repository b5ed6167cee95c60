import { isDecodeError, toHex } from '@ratatosk/cbor'
import { type Address, slotToTime, splitUnit } from '@ratatosk/ledger'
import { bech32 } from 'bech32'
import type { FastifyInstance } from 'fastify'
import { lazyList } from '../../json.js'
import { limitedPages } from '../../limited-outputs.js'
import { stakeAddress } from '../../stake-credential.js'
import { addressText, readAddressText } from '../../view/address-text.js'
import type { ChainOutputQuery, ChainView } from '../../view/chain-view.js'
import { assetJson, checkUnit, extendedAmount } from '../asset-json.js'
import { BlockfrostError, invalidPath, notFound } from '../errors.js'
import { Total, utxoJson } from '../output-json.js'
import { type Paging, page, readPaging } from '../paging.js'
import { sendJson } from '../send-json.js'
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
