import { isDecodeError, toHex } from '@ratatosk/cbor'
import { type Address, blake2b224 } from '@ratatosk/ledger'
import { bech32 } from 'bech32'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { lazyList } from '../../json.js'
import { createPause } from '../../pause.js'
import { addressText, readAddressText, readBech32, stakeAddress } from '../../view/address-text.js'
import type { ChainOutput, ChainView, HolderQuery } from '../../view/chain-view.js'
import { assetMetadata } from '../asset-metadata.js'
import { type BlockfrostError, badRequest, invalidPath, notFound } from '../errors.js'
import { flowJson, limitedPages, unspentTotal } from '../limited-outputs.js'
import { type BlockfrostSource, List, rangeNames, readRange, sendJson, sendOutputs } from '../paging.js'
import { type Amount, placedJson, utxoJson } from '../transaction-json.js'
import { readAsset } from './asset-routes.js'

/** Routes for addresses and payment credentials. */
export function addAddressRoutes(fastify: FastifyInstance, source: BlockfrostSource): void {
  const { chain, maxOutputs } = source
  const utxos = { config: { operation: 'utxos' as const } }

  // A wildcard, because Fastify limits parameters to 100 characters by default, and addresses are longer.
  fastify.get<{ Params: { '*': string } }>('/addresses/*', utxos, async (request, reply) => {
    const [text = '', list, asset, ...rest] = request.params['*'].split('/')
    if (rest.length > 0 || (asset !== undefined && list !== 'utxos')) throw invalidPath()
    switch (list) {
      case undefined:
        return holderJson(chain, readHolder(chain, text), maxOutputs)
      case 'extended': {
        const json = await holderJson(chain, readHolder(chain, text), maxOutputs)
        return { ...json, amount: await extendedAmount(chain, json.amount) }
      }
      case 'total': {
        const holder = readHolder(chain, text)
        const sums = await flowJson(chain, holder.query, maxOutputs)
        if (sums === undefined) throw notFound()
        return { address: holder.text, ...sums }
      }
      case 'utxos': {
        const part = new List(request, maxOutputs)
        const holder = readHolder(chain, text)
        if (asset === undefined) return sendUtxos(reply, source, holder, part)
        if (asset === 'lovelace') return sendAdaOutputs(reply, source, holder, part)
        return sendUtxos(reply, source, holder, part, readAsset(asset))
      }
      case 'transactions':
        return transactionsOf(chain, text, new List(request, maxOutputs, rangeNames))
      case 'txs':
        return (await transactionsOf(chain, text, new List(request, maxOutputs))).map(
          ({ tx_hash }) => tx_hash,
        )
      default:
        throw invalidPath()
    }
  })
}

async function holderJson(chain: ChainView, holder: Holder, maxOutputs: number) {
  const { text, query, address } = holder
  const total = await unspentTotal(chain, query, maxOutputs)
  if (total.outputs === 0) await requireKnown(chain, holder)
  const stake = address !== undefined && 'stake' in address ? address.stake : undefined
  return {
    address: text,
    amount: total.json(),
    stake_address: stake === undefined ? null : stakeAddress(chain.networkId, stake),
    type: address?.kind === 'byron' ? 'byron' : 'shelley',
    script:
      address === undefined
        ? text.startsWith('script')
        : 'payment' in address && address.payment.kind === 'script',
  }
}

async function sendUtxos(
  reply: FastifyReply,
  source: BlockfrostSource,
  holder: Holder,
  list: List,
  unit?: string,
): Promise<FastifyReply> {
  const { chain } = source
  const query = { ...holder.query, ...(unit !== undefined && { unit }), spent: false }
  const requireBoth = async () => {
    await requireKnown(chain, holder)
    if (unit !== undefined && (await chain.asset(unit)) === undefined) throw notFound()
  }
  if (list.isUnpaged) {
    await requireBoth()
    return sendOutputs(reply, source, query, list, utxoJson)
  }
  const outputs = await list.read((part) => chain.outputs(query, part))
  if (outputs.length === 0) await requireBoth()
  return sendJson(reply, lazyList(outputs, utxoJson))
}

/** The outputs without other assets than ada. */
async function sendAdaOutputs(
  reply: FastifyReply,
  { chain, maxOutputs }: BlockfrostSource,
  holder: Holder,
  list: List,
): Promise<FastifyReply> {
  async function* pages(): AsyncGenerator<ChainOutput[]> {
    const query = { ...holder.query, spent: false }
    for await (const page of limitedPages(chain, query, maxOutputs, list.order))
      yield page.filter(({ output }) => output.value.assets.size === 0)
  }
  const outputs = await list.take(pages())
  if (outputs.length === 0) await requireKnown(chain, holder)
  return sendJson(reply, lazyList(outputs, utxoJson))
}

/** All transactions that pay to a holder or spend from it. */
async function transactionsOf(chain: ChainView, text: string, list: List) {
  const holder = readHolder(chain, text)
  const range = readRange(list)
  const transactions = await list.read((part) => chain.history(holder.query, part, range))
  if (transactions.length === 0) await requireKnown(chain, holder)
  return transactions.map((transaction) => placedJson(chain, transaction))
}

/** The most assets of an answer whose metadata are read: each costs several queries. */
const maxLookUps = 100

/**
 * A sum with Blockfrost's additions: whether an asset has metadata on the chain, and the decimals that these
 * name (CIP-68). Nothing is looked up beyond 100 assets, or found in metadata too large for JSON.
 */
export async function extendedAmount(chain: ChainView, amount: readonly Amount[]) {
  const pause = createPause()
  const extended: object[] = []
  for (const [index, { unit, quantity }] of amount.entries()) {
    const isAda = unit === 'lovelace'
    const asset = isAda || index > maxLookUps ? undefined : await chain.asset(unit)
    const found = asset && (await assetMetadata(chain, unit, asset))
    extended.push({
      unit,
      quantity,
      decimals: isAda ? 6 : (found?.decimals ?? null),
      has_nft_onchain_metadata: (found?.metadata ?? null) !== null,
    })
    await pause()
  }
  return extended
}

/** Whom an address route is about: an address, or a payment credential in bech32 (CIP-5). */
interface Holder {
  /** As answers show it. */
  readonly text: string
  readonly query: HolderQuery
  /** Absent for a credential. */
  readonly address?: Address
}

/** @throws {BlockfrostError} 400 if the text is neither, or an address of another network */
export function readHolder(chain: ChainView, text: string): Holder {
  const credential = readCredential(text)
  if (credential !== undefined) return credential
  try {
    const address = readAddressText(text)
    if (address.networkId === chain.networkId && address.kind !== 'reward')
      return { text: addressText(address), query: { address: toHex(address.bytes) }, address }
  } catch (error) {
    if (!isDecodeError(error)) throw error
  }
  throw invalidAddress()
}

/** 404 for a holder that never received an output. */
async function requireKnown(chain: ChainView, { query }: Holder): Promise<void> {
  const isKnown =
    query.address === undefined
      ? (await chain.outputs(query, { offset: 0, limit: 1 })).length > 0
      : await chain.knowsAddress(query.address)
  if (!isKnown) throw notFound()
}

function readCredential(text: string): Holder | undefined {
  const named = readBech32(text, { addr_vkh: 28, addr_shared_vkh: 28, addr_vk: 32, script: 28 })
  if (named === undefined) return undefined
  const { prefix, bytes } = named
  const hash = prefix === 'addr_vk' ? blake2b224(bytes) : bytes
  return {
    text: bech32.encode(prefix === 'addr_vk' ? 'addr_vkh' : prefix, bech32.toWords(hash), 128),
    query: { paymentCredential: toHex(hash) },
  }
}

function invalidAddress(): BlockfrostError {
  return badRequest('Invalid address for this network or malformed address format.')
}
