import { AjvCompiler, type BuildCompilerFromPool } from '@fastify/ajv-compiler'
import { type SerializerFactory, SerializerSelector } from '@fastify/fast-json-stringify-compiler'

type Validator = ReturnType<ReturnType<BuildCompilerFromPool>>

interface LazySchemas {
  readonly schemaController: {
    readonly compilersFactory: {
      readonly buildValidator: BuildCompilerFromPool
      readonly buildSerializer: SerializerFactory
    }
  }
}

/** Calls `make` when its result is needed for the first time. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/**
 * Options of `fastify()` for a server that compiles the schemas of a route for its first request: those of
 * all routes together take longer than the rest of a start.
 *
 * @example const server = fastify({ ...lazySchemas() })
 */
export function lazySchemas(): LazySchemas {
  const validators: BuildCompilerFromPool = AjvCompiler()
  const serializers = SerializerSelector()
  return {
    schemaController: {
      compilersFactory: {
        buildValidator(...given) {
          const compiler = once(() => validators(...given))
          return (route) => lazyValidator(once(() => compiler()(route)))
        },
        buildSerializer(...given) {
          const compiler = once(() => serializers(...given))
          return (route) => {
            const compiled = once(() => compiler()(route))
            return (answer) => compiled()(answer)
          }
        },
      },
    },
  }
}

function lazyValidator(compiled: () => Validator): Validator {
  const validate = (...data: Parameters<Validator>) => {
    const result = compiled()(...data)
    return Object.assign(validate, { errors: compiled().errors ?? null }) && result
  }
  // Fastify passes the request too, in which Ajv replaces a body or a query that it coerces.
  return Object.assign(validate, { schemaEnv: true }) as unknown as Validator
}
