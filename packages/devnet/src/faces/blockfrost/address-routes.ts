import { isDecodeError, slotToTime, toHex } from '@ratatosk/ledger'
import { bech32 } from 'bech32'
import type { FastifyInstance } from 'fastify'
import { addressText, readAddressText } from '../../chain/address-text.js'
import { comparePlaces } from '../../chain/output-index.js'
import type { ChainOutput, Place, UtxoQuery } from '../../chain/types.js'
import type { Devnet } from '../../types.js'
import { readStakeCredential, stakeAddress } from '../stake-credential.js'
import { seconds } from './chain-routes.js'
import { BlockfrostError, invalidPath, notFound } from './errors.js'
import { totalJson, utxoJson } from './output-json.js'
import { type Paging, page } from './paging.js'

const credentialPrefixes = new Set(['addr_vkh', 'addr_shared_vkh', 'script'])

interface ByPath {
  Params: { '*': string }
  Querystring: Paging
}

/**
 * What is asked about addresses, payment credentials and assets. The routes are wildcards because Fastify bounds a parameter
 * to 100 characters unless its host says otherwise, and addresses are longer.
 */
export function addAddressRoutes(fastify: FastifyInstance, devnet: Devnet): void {
  const utxos = { config: { operation: 'utxos' as const } }

  fastify.get<ByPath>('/addresses/*', utxos, async ({ params, query }) => {
    const [address = '', list, asset, ...rest] = params['*'].split('/')
    if (rest.length > 0 || (asset !== undefined && list !== 'utxos')) throw invalidPath()
    if (list === undefined) return addressJson(devnet, address)
    if (list === 'utxos') return page(known(devnet, address, asset), query).map(utxoJson)
    if (list === 'transactions') return page(transactionsOf(devnet, address), query)
    throw invalidPath()
  })

  fastify.get<ByPath>('/assets/*', utxos, async ({ params, query }) => {
    const [asset = '', list, ...rest] = params['*'].split('/')
    if (list !== 'addresses' || rest.length > 0) throw invalidPath()
    return page(holders(devnet, asset), query)
  })

  fastify.get<{ Params: { stake: string } }>('/accounts/:stake', async ({ params }) =>
    accountJson(devnet, params.stake),
  )
}

function addressJson(devnet: Devnet, text: string) {
  const outputs = known(devnet, text)
  const address = readAddressText(text)
  const stake = 'stake' in address ? address.stake : undefined
  return {
    address: text,
    amount: totalJson(outputs),
    stake_address: stake === undefined ? null : stakeAddress(address.networkId, stake),
    type: address.kind === 'byron' ? 'byron' : 'shelley',
    script: 'payment' in address && address.payment.kind === 'script',
  }
}

/** A registered account; there is no delegation and there are no rewards. */
function accountJson(devnet: Devnet, text: string) {
  const credential = readStakeCredential(text, 'key')
  if (credential === undefined) throw new BlockfrostError(400, 'Invalid or malformed stake address format.')
  if (devnet.stakeDeposit(credential) === undefined) throw notFound()
  const stake = toHex(credential.hash)
  const controlled = devnet.utxos().filter(({ output: { address } }) => {
    return 'stake' in address && address.stake !== undefined && toHex(address.stake.hash) === stake
  })
  return {
    stake_address: stakeAddress(devnet.networkId, credential),
    active: false,
    active_epoch: null,
    registered: true,
    controlled_amount: String(controlled.reduce((sum, { output }) => sum + output.value.lovelace, 0n)),
    rewards_sum: '0',
    withdrawals_sum: '0',
    reserves_sum: '0',
    treasury_sum: '0',
    withdrawable_amount: '0',
    pool_id: null,
    drep_id: null,
  }
}

/** Every transaction that pays to an address or spends from it, oldest first. */
function transactionsOf(devnet: Devnet, text: string) {
  known(devnet, text)
  const bytes = toHex(readAddressText(text).bytes)
  const touched = new Map<string, Place>()
  for (const { output, transactionHash, created, spent } of devnet.outputs()) {
    if (toHex(output.address.bytes) !== bytes) continue
    touched.set(transactionHash, created)
    if (spent !== undefined) touched.set(spent.transactionHash, spent)
  }
  return [...touched]
    .sort(([, a], [, b]) => comparePlaces(a, b))
    .map(([hash, { block, position }]) => ({
      tx_hash: hash,
      tx_index: position,
      block_height: block.height,
      block_time: seconds(slotToTime(devnet.slots, block.slot)),
    }))
}

/** Who holds an asset, and how much. */
function holders(devnet: Devnet, unit: string): { address: string; quantity: string }[] {
  const quantities = new Map<string, bigint>()
  for (const { output } of devnet.utxos({ unit })) {
    const address = addressText(output.address)
    const quantity = output.value.assets.get(unit.slice(0, 56))?.get(unit.slice(56)) ?? 0n
    quantities.set(address, (quantities.get(address) ?? 0n) + quantity)
  }
  if (quantities.size === 0) throw notFound()
  return Array.from(quantities, ([address, quantity]) => ({ address, quantity: String(quantity) }))
}

/** The unspent outputs of an address or credential; 404 where it was never heard of, as Blockfrost does. */
function known(devnet: Devnet, text: string, unit?: string): ChainOutput[] {
  const query = addressQuery(devnet, text)
  const outputs = devnet.utxos(unit === undefined ? query : { ...query, unit })
  if (outputs.length > 0) return outputs
  if (query.address !== undefined && devnet.knowsAddress(query.address)) return []
  if (query.paymentCredential !== undefined) return []
  throw notFound()
}

function addressQuery(devnet: Devnet, text: string): UtxoQuery {
  const credential = paymentCredential(text)
  if (credential !== undefined) return { paymentCredential: credential }
  try {
    const { networkId } = readAddressText(text)
    if (networkId === devnet.networkId) return { address: text }
  } catch (error) {
    if (!isDecodeError(error)) throw error
  }
  throw new BlockfrostError(400, 'Invalid address for this network or malformed address format.')
}

function paymentCredential(text: string): string | undefined {
  const decoded = bech32.decodeUnsafe(text, 128)
  if (decoded === undefined || !credentialPrefixes.has(decoded.prefix)) return undefined
  const bytes = Uint8Array.from(bech32.fromWords(decoded.words))
  return bytes.length === 28 ? toHex(bytes) : undefined
}
