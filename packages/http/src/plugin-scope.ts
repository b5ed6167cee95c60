import { AjvCompiler } from '@fastify/ajv-compiler'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { TSchema } from '@sinclair/typebox'
import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify'
import { watchHandler } from './error-handler.js'
import { guardLast } from './guards.js'
import { checkOptions } from './options.js'

/** The parts of a Fastify instance that {@link openScope} needs. */
export interface PluginScope
  extends Pick<
    FastifyInstance,
    | 'getSchemas'
    | 'serializerCompiler'
    | 'setReplySerializer'
    | 'setSerializerCompiler'
    | 'setValidatorCompiler'
    | 'validatorCompiler'
  > {
  readonly server: object
  readonly prefix: string
  addHook(name: 'onRoute', hook: (this: FastifyInstance, route: RouteOptions) => void): unknown
}

/** The operation ids that the routes of a server have. */
const taken = new WeakMap<object, Set<string>>()

/** Of an instance that {@link openScope} has received, and of those in it. */
const opened = Symbol('opened')

function idsOf({ server }: PluginScope): Set<string> {
  const ids = taken.get(server) ?? new Set()
  taken.set(server, ids)
  return ids
}

/** Counts the operation ids of a host's own routes as taken, if they are registered later. */
export function noteOperationIds(host: PluginScope): void {
  const ids = idsOf(host)
  host.addHook('onRoute', function note(this: object, { method, schema }) {
    const { operationId } = (schema ?? {}) as { readonly operationId?: string }
    if (operationId !== undefined && method !== 'HEAD' && !(opened in this)) ids.add(operationId)
  })
}

/**
 * Begins a plugin: checks its options by {@link checkOptions}, and keeps the operation ids of its routes
 * unique on the server: one that the server has already gets the prefix of the plugin behind it. Requests are
 * validated, and answers serialised, as Fastify does it, whatever compilers and serializer the host has set;
 * the option `transform` of `@fastify/swagger` is not called. `errorHandler` then answers errors of the
 * host's hooks as the host does, and a host's rate limit counts what guards refuse.
 *
 * @param scope the encapsulated instance that the plugin receives
 * @throws {TypeError} for an option that does not work, or does not exist
 *
 * @example
 * ```ts
 * const plugin = async (fastify, options) => {
 *   openScope(fastify, 'shop', { stock: hasMethods('count') }, options)
 *   fastify.get('/nuts', { schema: { operationId: 'listNuts' } }, handler)
 * }
 * ```
 */
export function openScope(
  scope: PluginScope,
  plugin: string,
  rules: Readonly<Record<string, TSchema>>,
  options: object,
): void {
  checkOptions(plugin, rules, options)
  const ids = idsOf(scope)
  Object.assign(scope, { [opened]: true })
  compileAsFastify(scope)
  scope.addHook('onRoute', (route) => {
    route.config = { ...untransformed, ...route.config }
    watchHandler(route)
    guardLast(route)
    if (route.method === 'HEAD' || route.schema === undefined) return
    const { operationId } = route.schema as { readonly operationId?: string }
    if (operationId === undefined) return
    const described = { operationId: unused(operationId, scope.prefix, ids) }
    route.schema = { ...route.schema, ...described }
  })
}

/** Config of a route whose schemas are those of JSON Schema: a host may have a transform for others. */
const untransformed: FastifyContextConfig & { readonly swaggerTransform: false } = { swaggerTransform: false }

/** Undoes what a host sets for schemas of another kind, such as those of Zod, and for its own answers. */
function compileAsFastify(scope: PluginScope): void {
  if (scope.serializerCompiler !== undefined) {
    const compile = SerializerSelector()(scope.getSchemas())
    scope.setSerializerCompiler((route) => compile({ httpStatus: '', ...route }))
  }
  if (scope.validatorCompiler !== undefined)
    scope.setValidatorCompiler(AjvCompiler()({}, { customOptions: {}, plugins: [] }))
  // Fastify's default, which its types do not name.
  scope.setReplySerializer(null as never)
}

/** The id, or one made of it and the prefix if it is taken; takes it. */
function unused(id: string, prefix: string, ids: Set<string>): string {
  const longer = `${id}${prefix.replaceAll(/\W+/g, '_').replace(/_$/, '')}`
  let free = ids.has(id) ? longer : id
  for (let number = 2; ids.has(free); number++) free = `${longer}_${number}`
  ids.add(free)
  return free
}
