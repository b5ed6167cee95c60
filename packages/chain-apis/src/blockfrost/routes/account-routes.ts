import { toHex } from '@ratatosk/cbor'
import type { Credential } from '@ratatosk/ledger'
import type { FastifyInstance } from 'fastify'
import { lazyList } from '../../json.js'
import { limitedPages } from '../../limited-outputs.js'
import { readStakeCredential, stakeAddress } from '../../stake-credential.js'
import { addressText } from '../../view/address-text.js'
import type { ChainView } from '../../view/chain-view.js'
import { BlockfrostError, notFound } from '../errors.js'
import { Total, utxoJson } from '../output-json.js'
import { type Paging, page, readPaging, sendJson } from '../paging.js'

interface ByStake {
  Params: { stake: string }
  Querystring: Paging
}

/** Routes for stake accounts: registered ones, and those at whose addresses an output ever was. */
export function addAccountRoutes(fastify: FastifyInstance, chain: ChainView, maxOutputs: number): void {
  const utxos = { config: { operation: 'utxos' as const } }

  fastify.get<ByStake>('/accounts/:stake', async ({ params }) => {
    const credential = readCredential(params.stake)
    const { lovelace } = await totalOf(credential)
    return accountJson(chain, credential, lovelace)
  })
  fastify.get<ByStake>('/accounts/:stake/utxos', utxos, async ({ params, query }, reply) => {
    const credential = readCredential(params.stake)
    const outputs = await chain.outputs({ ...queryOf(credential), spent: false }, readPaging(query))
    if (outputs.length === 0) await requireKnown(chain, credential)
    return sendJson(reply, lazyList(outputs, utxoJson))
  })
  fastify.get<ByStake>('/accounts/:stake/addresses', utxos, async ({ params, query }) => {
    const credential = readCredential(params.stake)
    const addresses = new Set<string>()
    for await (const outputs of limitedPages(chain, queryOf(credential), maxOutputs)) {
      for (const { output } of outputs) addresses.add(addressText(output.address))
    }
    if (addresses.size === 0) await requireKnown(chain, credential)
    return page(
      Array.from(addresses, (address) => ({ address })),
      query,
    )
  })
  fastify.get<ByStake>('/accounts/:stake/addresses/assets', utxos, async ({ params, query }) => {
    const total = await totalOf(readCredential(params.stake))
    // Without lovelace, which comes first.
    return page(total.json().slice(1), query)
  })

  async function totalOf(credential: Credential): Promise<Total> {
    const total = new Total()
    const query = { ...queryOf(credential), spent: false }
    for await (const outputs of limitedPages(chain, query, maxOutputs)) total.add(outputs)
    if (total.outputs === 0) await requireKnown(chain, credential)
    return total
  }
}

/** @throws {BlockfrostError} 400 if the text is not a stake address */
function readCredential(text: string): Credential {
  const credential = readStakeCredential(text, 'key')
  if (credential !== undefined) return credential
  throw new BlockfrostError(400, 'Invalid or malformed stake address format.')
}

function queryOf({ hash }: Credential) {
  return { stakeCredential: toHex(hash) }
}

/** 404 for an account that is not registered and never had an output. */
async function requireKnown(chain: ChainView, credential: Credential): Promise<void> {
  if ((await chain.stakeDeposit(credential)) !== undefined) return
  const [known] = await chain.outputs(queryOf(credential), { offset: 0, limit: 1 })
  if (known === undefined) throw notFound()
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
