import { bech32 } from 'bech32'
import type { FastifyInstance } from 'fastify'
import { badRequest, notFound } from '../errors.js'
import { type BlockfrostSource, List } from '../paging.js'

interface ById {
  readonly id: string
  /** Of a proposal in the transaction `id`. */
  readonly index: string
}

/** A kind of thing that a path names by its id. */
interface Named {
  readonly path: string
  /** @throws {BlockfrostError} 400 if the id is malformed */
  check(params: ById): void
  readonly single: readonly string[]
  readonly lists: readonly string[]
  /** Whether the lists of what is not there are empty, and not 404. */
  readonly hasEmptyLists?: boolean
}

const proposal = { single: ['', '/parameters', '/metadata'], lists: ['/withdrawals', '/votes'] }
const named: readonly Named[] = [
  {
    path: '/pools/:id',
    check: ({ id }) => readPool(id),
    single: ['', '/metadata', '/relays'],
    lists: ['/history', '/delegators', '/blocks', '/updates', '/votes'],
  },
  {
    ...proposal,
    path: '/governance/proposals/:id',
    check({ id }) {
      if (!isBech32(id, ['gov_action'])) throw badRequest('Invalid or malformed gov action id.')
    },
  },
  {
    ...proposal,
    path: '/governance/proposals/:id/:index',
    check({ index }) {
      if (!/^\d+$/.test(index)) throw badRequest('params/cert_index must be integer')
    },
  },
  {
    path: '/governance/dreps/:id',
    check({ id }) {
      if (!isBech32(id, ['drep', 'drep_script'])) throw badRequest('Invalid or malformed drep id.')
    },
    single: ['', '/metadata'],
    lists: ['/delegators', '/updates', '/votes'],
    hasEmptyLists: true,
  },
  {
    path: '/governance/committee/:id',
    check({ id }) {
      if (!isBech32(id, ['cc_hot', 'cc_cold'])) throw badRequest('Invalid or malformed cc credential id.')
    },
    single: [],
    lists: ['/votes'],
    hasEmptyLists: true,
  },
]

/** Routes for pools and governance, which the chain does not have: all of them are empty or not there. */
export function addStakeRoutes(fastify: FastifyInstance, { maxOutputs }: BlockfrostSource): void {
  for (const path of [
    ...['/pools', '/pools/extended', '/pools/retired', '/pools/retiring'],
    ...['/governance/proposals', '/governance/committee/votes'],
  ]) {
    fastify.get(path, async (request) => {
      new List(request, maxOutputs)
      return []
    })
  }
  fastify.get('/governance/dreps', async (request) => {
    const list = new List(request, maxOutputs, ['order_by', 'retired', 'expired'])
    if ((list.text('order_by') ?? 'amount') !== 'amount')
      throw badRequest('querystring/order_by must be equal to one of the allowed values')
    for (const name of ['retired', 'expired']) {
      if (!['true', 'false'].includes(list.text(name) ?? 'true'))
        throw badRequest(`querystring/${name} must be boolean`)
    }
    return []
  })
  for (const { path, check, single, lists, hasEmptyLists } of named) {
    for (const name of [...single, ...lists]) {
      const isList = lists.includes(name)
      fastify.get<{ Params: ById }>(path + name, async (request) => {
        if (isList) new List(request, maxOutputs)
        check(request.params)
        if (isList && hasEmptyLists === true) return []
        throw notFound()
      })
    }
  }
}

function isBech32(text: string, prefixes: readonly string[]): boolean {
  const decoded = bech32.decodeUnsafe(text, 128)
  return decoded !== undefined && prefixes.includes(decoded.prefix)
}

/** @throws {BlockfrostError} 400 if the text is not the id of a pool, in bech32 or hex */
export function readPool(text: string): void {
  if (/^[0-9a-f]{56}$/i.test(text)) return
  if (isBech32(text, ['pool'])) return
  throw badRequest('Invalid or malformed pool id format.')
}
