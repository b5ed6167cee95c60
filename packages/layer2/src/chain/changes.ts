import type { ChainChange, ChainTip, ChainView } from '@ratatosk/chain-apis'
import type { Store } from '@ratatosk/store'
import { genesisTip, type Head, readBlockHash } from './finality.js'

interface Watched {
  head(): Promise<Head>
  readonly blocks: Pick<Store['blocks'], 'byHash'>
  readonly chain: Pick<Store['chain'], 'newestSequence'>
}

/** Poll interval in milliseconds. */
const pollMs = 250
/** Number of blocks whose hashes are kept to find out how far a roll-back went. */
const maxSeen = 2_160

/** Emits changes of a view; polls once for all listeners, while there are any. */
export function watchChanges({ head, blocks, chain }: Watched): ChainView['subscribe'] {
  const listeners = new Set<(change: ChainChange) => void>()
  let timer: NodeJS.Timeout | undefined
  let polling: Promise<void> | undefined
  /** The newest blocks that listeners may know, oldest first. */
  let seen: ChainTip[] = []
  let newestSequence: bigint | undefined

  function emit(change: ChainChange): void {
    for (const listener of [...listeners]) listener(change)
  }

  async function poll(): Promise<void> {
    const [{ tip, block }, sequence] = await Promise.all([head(), chain.newestSequence()])
    const last = seen.at(-1)
    if (last === undefined) {
      remember(tip)
      // A listener may have read before the first poll.
      emit({ type: 'block' })
    } else if (last.hash !== tip.hash) {
      if (block !== undefined && (await isOnChain(last, tip))) {
        remember(tip)
        emit({ type: 'block' })
      } else {
        await rollBack(tip)
      }
    }
    if (sequence !== newestSequence) {
      newestSequence = sequence
      emit({ type: 'transaction' })
    }
  }

  async function rollBack(tip: ChainTip): Promise<void> {
    while (seen.length > 0) {
      const candidate = seen.at(-1)
      if (candidate !== undefined && (await isOnChain(candidate, tip))) break
      seen.pop()
    }
    const to = seen.at(-1) ?? genesisTip
    emit({ type: 'roll-back', to })
    if (tip.hash === to.hash) return
    remember(tip)
    emit({ type: 'block' })
  }

  /** Whether a block is still on the chain that ends with `tip`. */
  async function isOnChain({ height, hash }: ChainTip, tip: ChainTip): Promise<boolean> {
    if (height === 0) return true
    if (height > tip.height) return false
    const headerHash = readBlockHash(hash)
    const block = headerHash && (await blocks.byHash(headerHash))
    return block !== undefined && block.state !== 'removed' && Number(block.height) === height
  }

  function remember(tip: ChainTip): void {
    seen.push(tip)
    if (seen.length > maxSeen) seen.shift()
  }

  function schedulePoll(): void {
    if (listeners.size === 0) return
    timer = setTimeout(run, pollMs)
    timer.unref()
  }

  function run(): void {
    // A failed poll is repeated; readers of the view meet the same failure and report it.
    polling = poll()
      .catch(() => {})
      .finally(() => {
        polling = undefined
        schedulePoll()
      })
  }

  return (listener) => {
    listeners.add(listener)
    if (listeners.size === 1) {
      seen = []
      newestSequence = undefined
      clearTimeout(timer)
      // At once, so that a roll-back after the listener's first read is noticed.
      if (polling === undefined) run()
    }
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) clearTimeout(timer)
    }
  }
}
