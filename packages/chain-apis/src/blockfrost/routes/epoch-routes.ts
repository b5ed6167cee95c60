import { slotToTime } from '@ratatosk/ledger'
import type { FastifyInstance } from 'fastify'
import { epochLength, epochOf } from '../../mainnet-values.js'
import type { ChainView } from '../../view/chain-view.js'
import { blocksBetween, firstBlockFrom, mostBlocks } from '../blocks.js'
import { notFound } from '../errors.js'
import { directions, neighbours } from '../neighbours.js'
import { List } from '../paging.js'
import { parametersJson } from '../parameters-json.js'
import { seconds } from '../places-json.js'
import type { BlockfrostSource } from '../source.js'
import { readEpoch } from './block-routes.js'
import { readPool } from './stake-routes.js'

type ByEpoch = { Params: { epoch: string } }

/** Routes for epochs and protocol parameters. Nothing happens at the boundary of an epoch. */
export function addEpochRoutes(fastify: FastifyInstance, { chain }: BlockfrostSource): void {
  const tip = { config: { operation: 'tip' as const } }
  const parameters = { config: { operation: 'parameters' as const } }
  const latest = async () => epochOf((await chain.tip()).slot)
  /** 404 for an epoch that has not begun. */
  const known = async (text: string) => {
    const epoch = readEpoch(text)
    if (epoch > (await latest())) throw notFound()
    return epoch
  }

  fastify.get('/epochs/latest', tip, async () => epochJson(chain, await latest()))
  fastify.get('/epochs/latest/parameters', parameters, async () => parametersJson(chain, await latest()))
  fastify.get<ByEpoch>('/epochs/:epoch', tip, async ({ params }) =>
    epochJson(chain, await known(params.epoch)),
  )
  fastify.get<ByEpoch>('/epochs/:epoch/parameters', parameters, async ({ params }) =>
    parametersJson(chain, await known(params.epoch)),
  )
  fastify.get<ByEpoch>('/epochs/:epoch/blocks', tip, async (request) => {
    const list = new List(request, mostBlocks)
    const { first, last } = await heightsOf(chain, await known(request.params.epoch))
    const blocks = await list.read(({ offset, limit, order }) => {
      const isOldestFirst = order === 'oldest-first'
      const from = isOldestFirst ? first + offset : Math.max(first, last - offset - limit + 1)
      const to = isOldestFirst ? Math.min(last, from + limit - 1) : last - offset
      return blocksBetween(chain, from, to, order)
    })
    return blocks.map(({ hash }) => hash)
  })
  for (const direction of directions) {
    fastify.get<ByEpoch>(`/epochs/:epoch/${direction}`, tip, async (request) => {
      const list = new List(request, mostEpochs, [], false)
      const epoch = await known(request.params.epoch)
      const range = { lowest: 0, highest: await latest() }
      return list.read((part) => epochsJson(chain, neighbours(direction, epoch, part, range)))
    })
  }
  fastify.get<ByEpoch>('/epochs/:epoch/stakes', tip, async (request) => {
    new List(request, mostBlocks, [], false)
    await known(request.params.epoch)
    return []
  })
  for (const [name, isOrdered] of [
    ['blocks', true],
    ['stakes', false],
  ] as const) {
    fastify.get<{ Params: { epoch: string; pool: string } }>(
      `/epochs/:epoch/${name}/:pool`,
      tip,
      async (request) => {
        new List(request, mostBlocks, [], isOrdered)
        await known(request.params.epoch)
        readPool(request.params.pool)
        throw notFound()
      },
    )
  }
}

/** The heights of the first and the last block of an epoch; the first is higher if there is none. */
async function heightsOf(chain: ChainView, epoch: number): Promise<{ first: number; last: number }> {
  const start = BigInt(epoch) * epochLength
  // A chain may begin years after its first slot.
  const begins = await chain.blockAfter(0)
  if (begins === undefined || epochOf(begins.slot) > epoch) return { first: 1, last: 0 }
  const [first, next] = await Promise.all([
    firstBlockFrom(chain, start),
    firstBlockFrom(chain, start + epochLength),
  ])
  const last = next === undefined ? (await chain.tip()).height : next.height - 1
  return { first: first?.height ?? last + 1, last }
}

/** The most epochs of a list that is read whole: 13 years. */
const mostEpochs = 1000

async function epochsJson(chain: ChainView, { first, last }: { first: number; last: number }) {
  const epochs: object[] = []
  for (let epoch = first; epoch <= last; epoch++) epochs.push(await epochJson(chain, epoch))
  return epochs
}

async function epochJson(chain: ChainView, epoch: number) {
  const timeOf = (slot: bigint) => seconds(slotToTime(chain.slots, slot))
  const start = BigInt(epoch) * epochLength
  const { first, last } = await heightsOf(chain, epoch)
  const [begins, ends, totals] = await Promise.all([
    chain.blockAfter(first - 1),
    chain.block(last),
    chain.totals(first, last),
  ])
  const isEmpty = first > last || begins === undefined
  const from = isEmpty ? start : begins.slot
  return {
    epoch,
    start_time: timeOf(start),
    end_time: timeOf(start + epochLength),
    first_block_time: timeOf(from),
    last_block_time: timeOf(isEmpty ? start : (ends?.slot ?? from)),
    block_count: Math.max(0, last - first + 1),
    tx_count: totals.transactions,
    output: String(totals.output),
    fees: String(totals.fees),
    active_stake: null,
  }
}
