import type { FastifyRequest, RouteOptions } from 'fastify'

/** In the config of each route that {@link watchHandler} has seen. */
const watched = Symbol('watched')

/** Requests whose handler has begun. */
const begun = new WeakSet<FastifyRequest>()

/** An `onRoute` hook: {@link isBeforeHandler} knows the requests to the route. */
export function watchHandler(route: RouteOptions): void {
  const { config, handler } = route
  if (config !== undefined && watched in config) return
  route.config = Object.assign({ ...config }, { [watched]: true })
  route.handler = function handle(request, reply) {
    begun.add(request)
    return handler.call(this, request, reply)
  }
}

/** Whether the handler of a watched route has not begun: a hook, a parser or a schema raised an error. */
export function isBeforeHandler(request: FastifyRequest): boolean {
  return watched in (request.routeOptions.config ?? {}) && !begun.has(request)
}
