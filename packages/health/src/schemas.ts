import { type Static, Type } from '@sinclair/typebox'
import { type Subsystem, subsystems } from './readiness.js'

/** Body of `GET /health/live`. */
export const Liveness = Type.Object({ status: Type.Literal('ok') }, { title: 'Liveness', description: 'Up' })
export type Liveness = Static<typeof Liveness>

/** Body of `GET /health/ready` when every subsystem answers. */
export const Ready = Type.Object({ status: Type.Literal('ready') }, { title: 'Ready', description: 'Ready' })
export type Ready = Static<typeof Ready>

/** Body of `GET /health/ready` when one or more subsystems do not answer. */
export const NotReady = Type.Object(
  {
    status: Type.Literal('not_ready'),
    failing: Type.Array(Type.Unsafe<Subsystem>(Type.String({ enum: [...subsystems] })), {
      description: 'Subsystems that do not answer: database, queue, layer1, in this order',
    }),
  },
  { title: 'NotReady', description: 'A subsystem does not answer' },
)
export type NotReady = Static<typeof NotReady>

export const liveSchema = {
  operationId: 'live',
  summary: 'Liveness',
  tags: ['health'],
  response: { 200: Liveness },
}

export const readySchema = {
  operationId: 'ready',
  summary: 'Readiness of database, queue and layer-1 provider',
  tags: ['health'],
  response: { 200: Ready, 503: NotReady },
}
