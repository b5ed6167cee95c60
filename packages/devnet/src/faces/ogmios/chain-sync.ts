import type { Tip } from '../../chain/types.js'
import type { Devnet } from '../../types.js'
import { pointJson, readPoint, tipJson } from './queries.js'
import { invalidParams, RpcError, type RpcRequest } from './rpc.js'
import { blockJson } from './transaction-json.js'

/** Chain synchronization of one connection: where it stands, and the block that it waits for. */
export interface ChainSync {
  findIntersection(params: RpcRequest['params']): unknown
  nextBlock(): Promise<unknown>
  close(): void
}

export function createChainSync(devnet: Devnet): ChainSync {
  const origin: Tip = { height: 0, slot: 0n, hash: devnet.genesisHash }
  let cursor = origin
  // The first answer, and that after an intersection, says where the cursor is.
  let turned = true
  let wake: (() => void) | undefined

  const unsubscribe = devnet.subscribe((event) => {
    if (event.type === 'roll-back' && event.to.height < cursor.height) {
      cursor = event.to
      turned = true
    }
    if (event.type === 'roll-back' || event.type === 'block') wake?.()
  })

  function find(point: unknown): Tip | undefined {
    const wanted = readPoint(point)
    if (wanted === 'origin') return origin
    const block = devnet.block(wanted.hash)
    if (block === undefined || block.slot !== wanted.slot) return undefined
    return { height: block.height, slot: block.slot, hash: block.hash }
  }

  function nextKnownBlock() {
    // Empty blocks of long ago are forgotten.
    for (let height = cursor.height + 1; height <= devnet.tip().height; height++) {
      const block = devnet.block(height)
      if (block !== undefined) return block
    }
    return undefined
  }

  return {
    findIntersection({ points = ['origin'] }) {
      if (!Array.isArray(points)) throw invalidParams('"points" must be an array.')
      const tip = tipJson(devnet.tip())
      for (const point of points) {
        const found = find(point)
        if (found === undefined) continue
        cursor = found
        turned = true
        return { intersection: pointJson(found), tip }
      }
      throw new RpcError(1000, 'No intersection found.', { tip })
    },
    async nextBlock() {
      for (;;) {
        const tip = tipJson(devnet.tip())
        if (turned) {
          turned = false
          return { direction: 'backward', point: pointJson(cursor), tip }
        }
        const block = nextKnownBlock()
        if (block !== undefined) {
          cursor = { height: block.height, slot: block.slot, hash: block.hash }
          return { direction: 'forward', block: blockJson(devnet, block), tip }
        }
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    close: unsubscribe,
  }
}
