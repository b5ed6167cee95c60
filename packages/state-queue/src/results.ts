import { Type } from '@sinclair/typebox'

// The results of ports, as far as they are read.

const outRef = Type.String({ pattern: '^[0-9a-f]{64}#[0-9]+$' })
const headerHash = Type.Uint8Array({ minByteLength: 28, maxByteLength: 28 })
const time = Type.BigInt()

/** A `StateQueueView`. */
export const Queue = Type.Object(
  {
    roots: Type.Array(Type.Object({ outRef, headerHash, endTime: time })),
    blocks: Type.Array(
      Type.Object({
        headerHash,
        height: Type.Optional(Type.BigInt()),
        startTime: time,
        endTime: time,
        maturesAt: time,
      }),
    ),
    strays: Type.Optional(Type.Array(Type.Object({ outRef, headerHash: Type.Optional(headerHash) }))),
    fault: Type.Optional(Type.String()),
  },
  { title: 'StateQueueView' },
)

/** `RootUnits`. */
export const Units = Type.Object(
  {
    resetInProgress: Type.Boolean(),
    stateQueueAddress: Type.String(),
    rootUnit: Type.String(),
    outRefs: Type.Array(outRef),
  },
  { title: 'RootUnits' },
)

export const Lovelace = Type.BigInt({ title: 'a bigint' })
