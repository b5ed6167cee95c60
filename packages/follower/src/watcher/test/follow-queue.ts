import { BytesMap, BytesSet } from '@ratatosk/cbor'
import type { Layer1 } from '@ratatosk/layer1'
import { type Contracts, readStateQueue, soundBlocks } from '@ratatosk/protocol'
import type { InvalidBlock } from '../../index.js'
import type { Watcher } from '../index.js'

/** Judges the bodies of blocks that no peer serves. */
export interface Withheld {
  /** Judges the body that the operator has shown. An invalid one goes to the watcher. */
  judge(block: InvalidBlock, transactions: readonly Uint8Array[]): Promise<boolean>
}

/** Gives a watcher the oldest block that is not unprovable, until it is gone, as a follower does. */
export function followQueue(
  layer1: Layer1,
  contracts: Contracts,
  { watch, unavailable }: Watcher,
  blocks: readonly InvalidBlock[],
  withheld?: Withheld,
): { close(): Promise<void> } {
  /** Header hashes of blocks whose bodies are known, and whether they are valid. */
  const judged = new BytesMap<boolean>()
  const signal = new AbortController().signal

  let closed = false
  const unprovable = new BytesSet()
  let current: { readonly block: InvalidBlock; end(): Promise<void> } | undefined

  async function follow(): Promise<void> {
    const queue = readStateQueue(contracts, await layer1.utxosByPolicy(contracts.scripts.queue.policy))
    const queued = new BytesSet(soundBlocks(queue).map(({ headerHash }) => headerHash))
    const block = blocks.find(({ headerHash: each }) => queued.has(each) && !unprovable.has(each))
    if (current?.block === block) return
    await current?.end()
    current = undefined
    if (block === undefined) return
    const { headerHash, height, header } = block
    if (withheld !== undefined && !judged.has(headerHash)) {
      const shown = await unavailable({ headerHash, height, header }, signal)
      if (shown !== undefined) judged.set(headerHash, await withheld.judge(block, shown))
    }
    if (withheld !== undefined && judged.get(headerHash) !== false) return
    const controller = new AbortController()
    const ended = watch(block, controller.signal).then((result) => {
      if (result === 'unprovable') unprovable.add(headerHash)
    })
    const end = () => {
      controller.abort()
      return ended
    }
    current = { block, end }
  }

  const running = (async () => {
    while (!closed) {
      await follow().catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await current?.end()
  })()
  return {
    close() {
      closed = true
      return running
    },
  }
}
