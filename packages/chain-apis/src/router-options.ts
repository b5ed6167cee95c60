/**
 * Options for the router of a server of these APIs, of which a plugin has no choice. Some clients join a base
 * URL that ends in a slash to a path that starts with one. An address in the place of a shorter id gets the
 * answer of its route: Fastify limits parts of a path to 100 characters.
 *
 * @example
 * ```ts
 * const server = fastify({ routerOptions })
 * ```
 */
export const routerOptions = { ignoreDuplicateSlashes: true, maxParamLength: 250 } as const
