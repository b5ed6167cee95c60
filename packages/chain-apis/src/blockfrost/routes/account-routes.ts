import { isDecodeError, toHex } from '@ratatosk/cbor'
import type { Credential } from '@ratatosk/ledger'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { lazyList } from '../../json.js'
import { addressText, readAddressText, stakeAddress } from '../../view/address-text.js'
import type { AddressTransaction, Awaitable, ChainView, ListPart, Place } from '../../view/chain-view.js'
import { comparePlaces, isWithin } from '../../view/outputs.js'
import { badRequest, notFound } from '../errors.js'
import { flowJson, limitedPages, unspentTotal } from '../limited-outputs.js'
import { type BlockfrostSource, List, rangeNames, readRange, sendJson, sendOutputs } from '../paging.js'
import { placedJson, utxoJson } from '../transaction-json.js'

type ByStake = { Params: { stake: string } }

/** Routes for stake accounts: those that were registered, that withdrew, or that ever had an output. */
export function addAccountRoutes(fastify: FastifyInstance, source: BlockfrostSource): void {
  const { chain, maxOutputs } = source
  const utxos = { config: { operation: 'utxos' as const } }
  const listOf = (request: FastifyRequest, others?: readonly string[]) =>
    new List(request, maxOutputs, others)

  fastify.get<ByStake>('/accounts/:stake', utxos, async ({ params }) => {
    const credential = readCredential(chain, params.stake)
    const { lovelace } = await totalOf(credential)
    return accountJson(chain, credential, lovelace)
  })
  fastify.get<ByStake>('/accounts/:stake/utxos', utxos, async (request, reply) => {
    const list = listOf(request)
    const credential = readCredential(chain, request.params.stake)
    const query = { ...queryOf(credential), spent: false }
    if (list.isUnpaged) {
      await requireKnown(chain, credential)
      return sendOutputs(reply, source, query, list, utxoJson)
    }
    const outputs = await list.read((part) => chain.outputs(query, part))
    if (outputs.length === 0) await requireKnown(chain, credential)
    return sendJson(reply, lazyList(outputs, utxoJson))
  })
  fastify.get<ByStake>('/accounts/:stake/addresses', utxos, async (request) => {
    const list = listOf(request)
    const credential = readCredential(chain, request.params.stake)
    const addresses = new Set<string>()
    for await (const outputs of limitedPages(chain, queryOf(credential), maxOutputs)) {
      for (const { output } of outputs) addresses.add(addressText(output.address))
    }
    if (addresses.size === 0) await requireKnown(chain, credential)
    return list.of(Array.from(addresses, (address) => ({ address })))
  })
  fastify.get<ByStake>('/accounts/:stake/addresses/assets', utxos, async (request) => {
    const list = listOf(request)
    return list.of((await totalOf(readCredential(chain, request.params.stake))).assets())
  })
  fastify.get<ByStake>('/accounts/:stake/addresses/total', utxos, async ({ params }) => {
    const credential = readCredential(chain, params.stake)
    const sums = await flowJson(chain, queryOf(credential), maxOutputs)
    if (sums !== undefined) return { stake_address: stakeAddress(chain.networkId, credential), ...sums }
    await requireKnown(chain, credential)
    const none = [{ unit: 'lovelace', quantity: '0' }]
    const stake = stakeAddress(chain.networkId, credential)
    return { stake_address: stake, received_sum: none, sent_sum: none, tx_count: 0 }
  })
  fastify.get<ByStake>('/accounts/:stake/transactions', utxos, async (request) => {
    const list = listOf(request, rangeNames)
    const credential = readCredential(chain, request.params.stake)
    const range = readRange(list)
    const transactions = await transactionsOf(source, credential)
    if (transactions.length === 0) await requireKnown(chain, credential)
    const within = transactions.filter(({ place }) => isWithin(place, range))
    return list.of(within).map(({ address, ...each }) => ({ address, ...placedJson(chain, each) }))
  })
  fastify.get<ByStake>('/accounts/:stake/registrations', utxos, async (request) => {
    const registrations = await eventsOf(request, chain.registrations)
    return registrations.map(({ deposit, ...each }) => ({
      ...eventJson(chain, each),
      action: deposit === undefined ? 'deregistered' : 'registered',
      deposit: deposit === undefined ? null : String(deposit),
    }))
  })
  fastify.get<ByStake>('/accounts/:stake/withdrawals', utxos, async (request) => {
    const withdrawals = await eventsOf(request, chain.withdrawals)
    return withdrawals.map((each) => ({ ...eventJson(chain, each), amount: '0' }))
  })
  // The chain has no delegation, so there is nothing to list.
  for (const name of ['history', 'rewards', 'delegations', 'mirs']) {
    fastify.get<ByStake>(`/accounts/:stake/${name}`, utxos, async (request) => {
      listOf(request)
      await requireKnown(chain, readCredential(chain, request.params.stake))
      return []
    })
  }

  async function eventsOf<Event>(
    request: FastifyRequest<ByStake>,
    read: (credential: Credential, part: ListPart) => Awaitable<readonly Event[]>,
  ): Promise<readonly Event[]> {
    const list = listOf(request)
    const credential = readCredential(chain, request.params.stake)
    const events = await list.read((part) => read(credential, part))
    if (events.length === 0) await requireKnown(chain, credential)
    return events
  }

  async function totalOf(credential: Credential) {
    const total = await unspentTotal(chain, queryOf(credential), maxOutputs)
    if (total.outputs === 0) await requireKnown(chain, credential)
    return total
  }
}

/** Each address of an account with each of its transactions, oldest first. */
async function transactionsOf({ chain, maxOutputs }: BlockfrostSource, credential: Credential) {
  const found = new Map<string, AddressTransaction & { readonly address: string }>()
  const add = (address: string, hash: string, place: Place) =>
    found.set(`${hash} ${address}`, {
      address,
      hash,
      place: { block: place.block, position: place.position },
    })
  for await (const outputs of limitedPages(chain, queryOf(credential), maxOutputs)) {
    for (const { output, transactionHash, created, spent } of outputs) {
      const address = addressText(output.address)
      add(address, transactionHash, created)
      if (spent !== undefined) add(address, spent.transactionHash, spent)
    }
  }
  return [...found.values()].sort((a, b) => comparePlaces(a.place, b.place))
}

/** @throws {BlockfrostError} 400 if the text is not a stake address of this network */
function readCredential(chain: ChainView, text: string): Credential {
  try {
    const address = readAddressText(text)
    if (address.kind === 'reward' && address.networkId === chain.networkId) return address.stake
  } catch (error) {
    if (!isDecodeError(error)) throw error
  }
  throw badRequest('Invalid or malformed stake address format.')
}

function queryOf({ hash }: Credential) {
  return { stakeCredential: toHex(hash) }
}

/** 404 for an account that nothing is known of. */
async function requireKnown(chain: ChainView, credential: Credential): Promise<void> {
  const one = { offset: 0, limit: 1 }
  if ((await chain.outputs(queryOf(credential), one)).length > 0) return
  if ((await chain.registrations(credential, one)).length > 0) return
  if ((await chain.withdrawals(credential, one)).length === 0) throw notFound()
}

function eventJson(chain: ChainView, event: AddressTransaction) {
  const { tx_index: _index, ...json } = placedJson(chain, event)
  return { ...json, tx_slot: Number(event.place.block.slot) }
}

/** The chain has no delegation and no rewards. */
async function accountJson(chain: ChainView, credential: Credential, controlled: bigint) {
  return {
    stake_address: stakeAddress(chain.networkId, credential),
    active: false,
    active_epoch: null,
    registered: (await chain.stakeDeposit(credential)) !== undefined,
    controlled_amount: String(controlled),
    rewards_sum: '0',
    withdrawals_sum: '0',
    reserves_sum: '0',
    treasury_sum: '0',
    withdrawable_amount: '0',
    pool_id: null,
    drep_id: null,
  }
}
