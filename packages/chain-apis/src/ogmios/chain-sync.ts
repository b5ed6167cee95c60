import { maxPoints } from '../limits.js'
import type { ChainBlock, ChainChange, ChainTip, ChainView } from '../view/chain-view.js'
import type { BlockReader } from './block-reader.js'
import { pointJson, readPoint, tipJson } from './queries.js'
import { checkList, RpcError, type RpcRequest } from './rpc.js'

/** Chain synchronization of one connection: its cursor, and a wait for the next block. */
interface ChainSync {
  findIntersection(params: RpcRequest['params']): Promise<unknown>
  nextBlock(): Promise<unknown>
  close(): void
}

export function createChainSync(chain: ChainView, blocks: BlockReader): ChainSync {
  const origin: ChainTip = { height: 0, slot: 0n, hash: chain.genesisHash }
  let cursor = origin
  // True at the start and after an intersection or roll-back: the next response says where the cursor is.
  let movedBack = true
  let wake: (() => void) | undefined
  let closed = false

  let unsubscribe: (() => void) | undefined
  const listen = () => {
    unsubscribe ??= chain.subscribe(follow)
  }

  function follow(event: ChainChange): void {
    if (event.type === 'roll-back' && event.to !== undefined && event.to.height < cursor.height) {
      cursor = event.to
      movedBack = true
    }
    if (event.type === 'roll-back' || event.type === 'block') wake?.()
  }

  async function find(point: unknown): Promise<ChainTip | undefined> {
    const wanted = readPoint(point)
    if (wanted === 'origin') return origin
    const block = await chain.block(wanted.hash)
    if (block === undefined || block.slot < wanted.slot) return undefined
    // An open block has the current slot, so its slot grows.
    if (block.open !== true && block.slot !== wanted.slot) return undefined
    return { height: block.height, slot: wanted.slot, hash: block.hash }
  }

  /** Where synchronization continues from a point: the point itself, or the block before one that is open. */
  async function closedAt(point: ChainTip): Promise<ChainTip> {
    const block = await chain.block(point.hash)
    if (block?.open !== true) return point
    const previous = await chain.block(block.previous)
    return previous === undefined ? origin : tipOf(previous)
  }

  return {
    async findIntersection({ points = ['origin'] }) {
      checkList('points', points, maxPoints)
      listen()
      const tip = tipJson(await chain.tip())
      for (const point of points) {
        if (closed) break
        const found = await find(point)
        if (found === undefined) continue
        cursor = await closedAt(found)
        movedBack = true
        return { intersection: pointJson(found), tip }
      }
      throw new RpcError(1000, 'No intersection found.', { tip })
    },
    async nextBlock() {
      listen()
      while (!closed) {
        const changed = new Promise<void>((resolve) => {
          wake = resolve
        })
        const tip = tipJson(await chain.tip())
        if (closed) return undefined
        if (movedBack) {
          movedBack = false
          return { direction: 'backward', point: pointJson(cursor), tip }
        }
        const block = await chain.blockAfter(cursor.height)
        if (block !== undefined && block.open !== true && !movedBack) {
          const body = await blocks.read(block, () => !closed)
          // A block that was removed while it was read is not delivered.
          if (body !== undefined && !movedBack) {
            cursor = tipOf(block)
            return { direction: 'forward', block: body, tip }
          }
          continue
        }
        if (!movedBack) await changed
      }
      return undefined
    },
    close() {
      closed = true
      unsubscribe?.()
      wake?.()
    },
  }
}

function tipOf({ height, slot, hash }: ChainBlock): ChainTip {
  return { height, slot, hash }
}
