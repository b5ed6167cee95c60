import { bech32 } from 'bech32'
import type { FastifyInstance } from 'fastify'
import { badRequest, notFound } from '../errors.js'
import { List } from '../paging.js'
import type { BlockfrostSource } from '../source.js'

/** Routes for pools and governance, which the chain does not have: all of them are empty or not there. */
export function addStakeRoutes(fastify: FastifyInstance, { maxOutputs }: BlockfrostSource): void {
  for (const [path, ...names] of [
    ['/pools'],
    ['/pools/extended'],
    ['/pools/retired'],
    ['/pools/retiring'],
    ['/governance/dreps', 'order_by', 'retired', 'expired'],
    ['/governance/proposals'],
    ['/governance/committee/votes'],
  ] as const) {
    fastify.get(path, async (request) => {
      new List(request, maxOutputs, names)
      return []
    })
  }
  for (const name of [
    '',
    '/history',
    '/metadata',
    '/relays',
    '/delegators',
    '/blocks',
    '/updates',
    '/votes',
  ]) {
    fastify.get<{ Params: { pool: string } }>(`/pools/:pool${name}`, async ({ params }) => {
      readPool(params.pool)
      throw notFound()
    })
  }
  const parts = ['', '/parameters', '/withdrawals', '/votes', '/metadata']
  for (const part of parts) {
    fastify.get<{ Params: { id: string } }>(`/governance/proposals/:id${part}`, async ({ params }) => {
      if (!isBech32(params.id, ['gov_action'])) throw badRequest('Invalid or malformed gov action id.')
      throw notFound()
    })
    fastify.get<{ Params: { index: string } }>(
      `/governance/proposals/:id/:index${part}`,
      async ({ params }) => {
        if (!/^\d+$/.test(params.index)) throw badRequest('params/cert_index must be integer')
        throw notFound()
      },
    )
  }
  for (const part of ['', '/metadata', '/delegators', '/updates', '/votes']) {
    fastify.get<{ Params: { id: string } }>(`/governance/dreps/:id${part}`, async (request) => {
      const isList = part !== '' && part !== '/metadata'
      if (isList) new List(request, maxOutputs)
      if (!isBech32(request.params.id, ['drep', 'drep_script']))
        throw badRequest('Invalid or malformed drep id.')
      if (isList) return []
      throw notFound()
    })
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
