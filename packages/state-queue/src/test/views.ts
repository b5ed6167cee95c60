import type { QueuedBlock, StateQueueRoot } from '../index.js'

/** 2026-01-01T00:00:00Z. */
export const now = 1_767_225_600_000

const maturityWindow = 60_000

export const outRef = (byte: number, index = 0) => `${Buffer.alloc(32, byte).toString('hex')}#${index}`

/** A root whose confirmed block ended that many seconds ago; without a number, at genesis. */
export function root(byte: number, secondsAgo?: number): StateQueueRoot {
  return {
    outRef: outRef(byte),
    headerHash: Buffer.alloc(28, secondsAgo === undefined ? 0 : byte),
    endTime: secondsAgo === undefined ? 0n : BigInt(now - secondsAgo * 1000),
  }
}

/** A block that ended that many seconds ago and matures a minute after its end. */
export function block(byte: number, secondsAgo: number, height?: bigint): QueuedBlock {
  const endTime = now - secondsAgo * 1000
  return {
    headerHash: Buffer.alloc(28, byte),
    startTime: BigInt(endTime - 1000),
    endTime: BigInt(endTime),
    maturesAt: BigInt(endTime + maturityWindow),
    ...(height !== undefined && { height }),
  }
}
