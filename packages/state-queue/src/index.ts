import { createHash } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { toHex } from '@ratatosk/cbor'
import {
  hasMethods,
  layer1ErrorHandler,
  noStore,
  type OperatorAccess,
  openScope,
  operationError,
  operationResult,
  operatorAccessRules,
  portResult,
  sideEffectingGet,
} from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { drawStateQueue, isBroken } from './draw-state-queue.js'
import {
  type CommitmentWallet,
  Lovelace,
  Queue,
  type RootUnitsReader,
  type RootUnitsRepair,
  type StateQueueReader,
  type StateQueueView,
  Units,
} from './ports.js'
import { repairSchema, rootUnitDiagnosticsSchema, stateQueueSchema, walletBalanceSchema } from './schemas.js'

export { drawStateQueue } from './draw-state-queue.js'
export type {
  CommitmentWallet,
  QueuedBlock,
  RepairResult,
  RootUnits,
  RootUnitsReader,
  RootUnitsRepair,
  StateQueueReader,
  StateQueueRoot,
  StateQueueView,
  StrayOutput,
} from './ports.js'
export {
  Repaired,
  RootUnitDiagnostics,
  repairSchema,
  rootUnitDiagnosticsSchema,
  StateQueueAnswer,
  stateQueueSchema,
  WalletBalance,
  walletBalanceSchema,
} from './schemas.js'

/**
 * Options of {@link stateQueue}. A route is served if its port is given; at least one port is required.
 * `allowedHosts` and `operatorToken` guard the repair only.
 */
export interface StateQueueOptions extends RegisterOptions, OperatorAccess {
  /** Source of `GET /stateQueue`. */
  queue?: StateQueueReader
  /** Source of `GET /stateQueue/root-unit-diagnostics`. */
  rootUnits?: RootUnitsReader
  /** Carries out `GET /stateQueue/repair-root-units`. */
  repair?: RootUnitsRepair
  /** Source of `GET /commitment-wallet/balance`. */
  wallet?: CommitmentWallet
}

const name = '@ratatosk/state-queue'
const rules = {
  queue: Type.Optional(hasMethods('read')),
  rootUnits: Type.Optional(hasMethods('read')),
  repair: Type.Optional(hasMethods('repair')),
  wallet: Type.Optional(hasMethods('lovelace')),
  ...operatorAccessRules,
}

const plugin: FastifyPluginAsyncTypebox<StateQueueOptions> = async (fastify, options) => {
  openScope(fastify, name, rules, options)
  const { queue, rootUnits, repair, wallet } = options
  if (!queue && !rootUnits && !repair && !wallet) {
    throw new TypeError(`${name}: one of queue, rootUnits, repair, wallet is required`)
  }
  const operation = sideEffectingGet(options)

  fastify.setErrorHandler(layer1ErrorHandler)

  if (queue) {
    let drawn: string | undefined
    fastify.get('/stateQueue', { schema: stateQueueSchema, onRequest: noStore }, async ({ signal, log }) => {
      const view = portResult('queue.read', Queue, await queue.read(signal))
      const current = fingerprint(view)
      // Requests are unlimited, so a drawing that the log already has is logged for debugging only.
      const level = current === drawn ? 'debug' : isBroken(view) ? 'warn' : 'info'
      drawn = current
      log[level](drawStateQueue(view, Date.now()))
      return { headers: [...view.blocks, ...(view.strays ?? [])].flatMap(hashOf) }
    })
  }

  if (rootUnits) {
    fastify.get(
      '/stateQueue/root-unit-diagnostics',
      { schema: rootUnitDiagnosticsSchema, onRequest: noStore },
      async ({ signal }) => {
        const units = portResult('rootUnits.read', Units, await rootUnits.read(signal))
        const { resetInProgress, stateQueueAddress, rootUnit, outRefs } = units
        const count = outRefs.length
        const status = count === 1 ? ('ok' as const) : ('invalid' as const)
        return { status, resetInProgress, stateQueueAddress, rootUnit, count, outRefs: [...outRefs] }
      },
    )
  }

  if (repair) {
    fastify.get('/stateQueue/repair-root-units', { ...operation, schema: repairSchema }, async () => {
      const result = operationResult('repair.repair', await repair.repair())
      if (result.kind !== 'repaired') throw operationError('repair', result)
      return { message: 'State-queue root-unit repair completed successfully!' as const }
    })
  }

  if (wallet) {
    fastify.get(
      '/commitment-wallet/balance',
      { schema: walletBalanceSchema, onRequest: noStore },
      async ({ signal }) => {
        const lovelace = portResult('wallet.lovelace', Lovelace, await wallet.lovelace(signal))
        return { lovelaceBalance: String(lovelace) }
      },
    )
  }
}

const hashOf = ({ headerHash }: { readonly headerHash?: Uint8Array }): string[] =>
  headerHash === undefined ? [] : [toHex(headerHash)]

/**
 * Fastify plugin with the state queue of layer 1: `GET /stateQueue`, `/stateQueue/root-unit-diagnostics`,
 * `/stateQueue/repair-root-units` and `/commitment-wallet/balance`.
 *
 * Encapsulated: it sets an error handler in its own scope, and one server can hold several instances, each
 * under its `prefix`. Throws a `TypeError` at startup for options that cannot work.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(stateQueue, { wallet: { lovelace: async () => 5_000_000n } })
 * ```
 */
export const stateQueue = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default stateQueue

/** Text that two views share if they show the same outputs and the same fault; time does not change it. */
function fingerprint({ roots, blocks, strays = [], fault = '' }: StateQueueView): string {
  const hash = createHash('sha256')
  for (const { outRef, headerHash } of roots) hash.update(`root ${outRef} `).update(headerHash)
  for (const { headerHash, height = '' } of blocks) hash.update(headerHash).update(` ${height}\n`)
  for (const { outRef } of strays) hash.update(`stray ${outRef}\n`)
  return hash.update(fault).digest('base64')
}
