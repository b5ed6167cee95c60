import { slotToTime } from '@ratatosk/ledger'
import type { FastifyInstance } from 'fastify'
import { epochLength, epochOf } from '../../mainnet-values.js'
import type { ChainView } from '../../view/chain-view.js'
import { notFound } from '../errors.js'
import { type BlockfrostSource, directions, List, neighbours } from '../paging.js'
import { parametersJson } from '../parameters-json.js'
import { seconds } from '../transaction-json.js'
import { blocksBetween, firstBlockFrom, mostBlocks, readEpoch } from './block-routes.js'
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
  const oneJson = async (epoch: number) => (await epochsJson(chain, { first: epoch, last: epoch }))[0]

  fastify.get('/epochs/latest', tip, async () => oneJson(await latest()))
  fastify.get('/epochs/latest/parameters', parameters, async () => parametersJson(chain, await latest()))
  fastify.get<ByEpoch>('/epochs/:epoch', tip, async ({ params }) => oneJson(await known(params.epoch)))
  fastify.get<ByEpoch>('/epochs/:epoch/parameters', parameters, async ({ params }) =>
    parametersJson(chain, await known(params.epoch)),
  )
  fastify.get<ByEpoch>('/epochs/:epoch/blocks', tip, async (request) => {
    const list = new List(request, mostBlocks)
    const epoch = await known(request.params.epoch)
    const [{ first, last } = none] = await heightsOf(chain, epoch, epoch)
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

/** The first and the last of some numbers; the first is higher if there is none. */
interface Range {
  readonly first: number
  readonly last: number
}

const none: Range = { first: 1, last: 0 }

/** The heights of the blocks of some epochs in a row. Those before the first block cost no search. */
async function heightsOf(chain: ChainView, from: number, to: number): Promise<Range[]> {
  const [tip, begins] = await Promise.all([chain.tip(), chain.blockAfter(0)])
  const firstOf = async (epoch: number): Promise<number> => {
    const start = BigInt(epoch) * epochLength
    const found = begins && start <= begins.slot ? begins : await firstBlockFrom(chain, start)
    return found?.height ?? tip.height + 1
  }
  const heights: Range[] = []
  let first = await firstOf(from)
  for (let epoch = from; epoch <= to; epoch++) {
    const next = await firstOf(epoch + 1)
    heights.push({ first, last: next - 1 })
    first = next
  }
  return heights
}

/** The most epochs of a list that is read whole: 13 years. */
const mostEpochs = 1000

async function epochsJson(chain: ChainView, { first, last }: Range) {
  const epochs: object[] = []
  for (const [index, heights] of (await heightsOf(chain, first, last)).entries())
    epochs.push(await epochJson(chain, first + index, heights))
  return epochs
}

async function epochJson(chain: ChainView, epoch: number, { first, last }: Range) {
  const timeOf = (slot: bigint) => seconds(slotToTime(chain.slots, slot))
  const start = BigInt(epoch) * epochLength
  const [begins, ends, totals] =
    first > last
      ? []
      : await Promise.all([chain.blockAfter(first - 1), chain.block(last), chain.totals(first, last)])
  const from = begins?.slot ?? start
  return {
    epoch,
    start_time: timeOf(start),
    end_time: timeOf(start + epochLength),
    first_block_time: timeOf(from),
    last_block_time: timeOf(ends?.slot ?? from),
    block_count: Math.max(0, last - first + 1),
    tx_count: totals?.transactions ?? 0,
    output: String(totals?.output ?? 0),
    fees: String(totals?.fees ?? 0),
    active_stake: null,
  }
}
