import { arrivalResponses, connectionResponses, orBusy } from '@ratatosk/http'
import { type Static, type TInteger, type TOptional, type TString, Type } from '@sinclair/typebox'

/** Body of `GET /health/live`. */
export const Liveness = Type.Object(
  { status: Type.Literal('ok') },
  { title: 'Liveness', description: 'The process is up' },
)
export type Liveness = Static<typeof Liveness>

const readyNotes = { title: 'Ready', description: 'Every subsystem responds' }

/** Body of a 200 of `GET /health/ready`, next to the counters that are not 0. */
export const Ready = Type.Object({ status: Type.Literal('ready') }, readyNotes)
export type Ready = Static<typeof Ready>

/**
 * Body of a 503 of `GET /health/ready`: the names of the failing subsystems, in the order of the probes, next
 * to the counters that are not 0.
 */
export interface NotReady<Name extends string = string> {
  status: 'not_ready'
  failing: Name[]
  /** Why, for those of which clients may know it. */
  reasons?: Partial<Record<Name, string>>
}

/** Schemas of the counters, which are present in a body unless they are 0. */
function counts(counters: readonly string[]): Record<never, TOptional<TInteger>> {
  const count = Type.Optional(Type.Integer({ minimum: 1, description: 'Absent if 0' }))
  return Object.fromEntries(counters.map((name) => [name, count]))
}

function reasonsOf(subsystems: readonly string[]): Record<never, TOptional<TString>> {
  return Object.fromEntries(subsystems.map((name) => [name, Type.Optional(Type.String())]))
}

/**
 * Schema of a {@link NotReady}.
 *
 * @param subsystems the names that `failing` may contain
 * @param counters the names of the counters
 */
export function notReady<Name extends string>(subsystems: readonly Name[], counters: readonly string[] = []) {
  // JSON Schema does not allow an empty enum.
  const names = subsystems.length > 0 ? { enum: [...subsystems] } : {}
  return Type.Object(
    {
      status: Type.Literal('not_ready'),
      failing: Type.Array(Type.Unsafe<Name>(Type.String(names)), {
        description: 'Subsystems that are not ready, in the order of the enum',
      }),
      reasons: Type.Optional(Type.Object(reasonsOf(subsystems), { description: 'Why, if it is known' })),
      ...counts(counters),
    },
    { title: 'NotReady', description: 'One or more subsystems are not ready' },
  )
}

/** Route schema of `GET /health/live`, for OpenAPI documents. */
export const liveSchema = {
  operationId: 'getLiveness',
  summary: 'Liveness',
  description: 'Always 200 while the process is up.',
  tags: ['health'],
  response: { 200: Liveness, ...arrivalResponses() },
}

/** Route schema of `GET /health/ready`, for OpenAPI documents. */
export const readySchema = <Name extends string>(
  subsystems: readonly Name[],
  counters: readonly string[] = [],
) => ({
  operationId: 'getReadiness',
  summary: 'Readiness of the subsystems that the server depends on',
  description: 'Asks the subsystems concurrently, each with a time limit.',
  tags: ['health'],
  response: {
    ...connectionResponses(),
    200: Type.Object({ ...Ready.properties, ...counts(counters) }, readyNotes),
    503: orBusy(notReady(subsystems, counters)),
  },
})
