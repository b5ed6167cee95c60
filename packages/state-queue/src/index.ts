import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { bearerToken, layer1ErrorHandler, noStore, operationError, sideEffectingGet } from '@ratatosk/http'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { drawStateQueue, isBroken } from './draw-state-queue.js'
import type { CommitmentWallet, RootUnitsReader, RootUnitsRepair, StateQueueReader } from './ports.js'
import { repairSchema, rootUnitDiagnosticsSchema, stateQueueSchema, walletBalanceSchema } from './schemas.js'

export { drawStateQueue } from './draw-state-queue.js'
export type {
  CommitmentWallet,
  QueuedBlock,
  QueueRoot,
  RepairResult,
  RootUnits,
  RootUnitsReader,
  RootUnitsRepair,
  StateQueueReader,
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

/** Each port that is given has its route served; at least one is. */
export interface StateQueueOptions extends RegisterOptions {
  /** `GET /stateQueue`. */
  queue?: StateQueueReader
  /** `GET /stateQueue/root-unit-diagnostics`. */
  rootUnits?: RootUnitsReader
  /** `GET /stateQueue/repair-root-units`. */
  repair?: RootUnitsRepair
  /** `GET /commitment-wallet/balance`. */
  wallet?: CommitmentWallet
  /** What a repair asks for as `Authorization: Bearer`. Without it nobody is asked. */
  operatorToken?: string
}

const plugin: FastifyPluginAsyncTypebox<StateQueueOptions> = async (fastify, options) => {
  const { queue, rootUnits, repair, wallet, operatorToken } = options
  if (!queue && !rootUnits && !repair && !wallet) {
    throw new TypeError('@ratatosk/state-queue: one of queue, rootUnits, repair, wallet is required')
  }
  const guards = operatorToken === undefined ? [] : [bearerToken(operatorToken)]

  fastify.setErrorHandler(layer1ErrorHandler)

  if (queue) {
    fastify.get('/stateQueue', { schema: stateQueueSchema, onRequest: noStore }, async ({ signal, log }) => {
      const view = await queue.read(signal)
      log[isBroken(view) ? 'warn' : 'info'](drawStateQueue(view, Date.now()))
      return { headers: [...view.blocks, ...(view.strays ?? [])].flatMap(hashOf) }
    })
  }

  if (rootUnits) {
    fastify.get(
      '/stateQueue/root-unit-diagnostics',
      { schema: rootUnitDiagnosticsSchema, onRequest: noStore },
      async ({ signal }) => {
        const { resetInProgress, stateQueueAddress, rootUnit, outRefs } = await rootUnits.look(signal)
        const count = outRefs.length
        const status = count === 1 ? ('ok' as const) : ('invalid' as const)
        return { status, resetInProgress, stateQueueAddress, rootUnit, count, outRefs: [...outRefs] }
      },
    )
  }

  if (repair) {
    fastify.get(
      '/stateQueue/repair-root-units',
      { ...sideEffectingGet(...guards), schema: repairSchema },
      async () => {
        const result = await repair.repair()
        if (result.kind !== 'repaired') throw operationError('repair', result)
        return { message: 'State-queue root-unit repair completed successfully!' as const }
      },
    )
  }

  if (wallet) {
    fastify.get(
      '/commitment-wallet/balance',
      { schema: walletBalanceSchema, onRequest: noStore },
      async ({ signal }) => ({ lovelaceBalance: String(await wallet.lovelace(signal)) }),
    )
  }
}

const hashOf = ({ headerHash }: { readonly headerHash?: Uint8Array }): string[] =>
  headerHash === undefined ? [] : [Buffer.from(headerHash).toString('hex')]

/**
 * Fastify plugin: the state queue on layer 1 by `GET /stateQueue`, the health of its root by `/stateQueue/root-unit-diagnostics`,
 * its repair by `/stateQueue/repair-root-units`, and `/commitment-wallet/balance`.
 *
 * It is encapsulated: its error handler is its own, and several instances fit into one server, each under its `prefix`.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(stateQueue, { wallet: { lovelace: async () => 5_000_000n } })
 * ```
 */
export const stateQueue = fp(plugin, { name: '@ratatosk/state-queue', fastify: '5.x', encapsulate: true })

export default stateQueue
