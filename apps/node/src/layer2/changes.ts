import { fromHex } from '@ratatosk/cbor'
import type { ChainChange, Tip } from '@ratatosk/chain-apis'
import type { SlotConfig } from '@ratatosk/ledger'
import type { ChainQueries } from '@ratatosk/store'
import { genesisTip, type Head } from './finality.js'

interface Watched {
  head(): Promise<Head>
  readonly chain: Pick<ChainQueries, 'newestSequence' | 'byHash'>
  readonly slots: SlotConfig
}

/** Milliseconds between two looks for changes. */
const lookEveryMs = 250
/** Blocks whose hashes are remembered, to find out how far a roll-back went. */
const remembered = 2_160

/**
 * Tells of changes of a view. While anybody listens, looks for changes of the newest block and of the
 * mempool: one look for all listeners.
 *
 * @returns the `subscribe` of a `ChainView`
 */
export function watchChanges({
  head,
  chain,
}: Watched): (listener: (change: ChainChange) => void) => () => void {
  const listeners = new Set<(change: ChainChange) => void>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  /** The newest blocks that listeners may know, oldest first. */
  let seen: Tip[] = []
  let newestSequence: bigint | undefined

  function emit(change: ChainChange): void {
    for (const listener of [...listeners]) listener(change)
  }

  async function look(): Promise<void> {
    const [{ tip, block }, sequence] = await Promise.all([head(), chain.newestSequence()])
    const last = seen.at(-1)
    if (last !== undefined && last.hash !== tip.hash) {
      const follows = block !== undefined && (await isOnChain(last, tip))
      if (follows) {
        remember(tip)
        emit({ type: 'block' })
      } else {
        await rollBack(tip)
      }
    } else if (last === undefined) {
      remember(tip)
      // A listener may have read before the first look.
      emit({ type: 'block' })
    }
    if (sequence !== newestSequence) {
      newestSequence = sequence
      emit({ type: 'transaction' })
    }
  }

  async function rollBack(tip: Tip): Promise<void> {
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

  /** Whether a block that was seen is still on the chain that ends with `tip`. */
  async function isOnChain({ height, hash }: Tip, tip: Tip): Promise<boolean> {
    if (height === 0) return true
    if (height > tip.height) return false
    const block = await chain.byHash(fromHex(hash))
    return block !== undefined && Number(block.height) === height
  }

  function remember(tip: Tip): void {
    seen.push(tip)
    if (seen.length > remembered) seen.shift()
  }

  function lookAgain(): void {
    if (listeners.size === 0) return
    timer = setTimeout(run, lookEveryMs)
    timer.unref()
  }

  function run(): void {
    // A look that fails is repeated; readers meet the same failure and report it.
    looking = look()
      .catch(() => {})
      .finally(() => {
        looking = undefined
        lookAgain()
      })
  }

  return (listener) => {
    listeners.add(listener)
    if (listeners.size === 1) {
      seen = []
      newestSequence = undefined
      clearTimeout(timer)
      // At once, so that a roll-back after the listener's first read is noticed.
      if (looking === undefined) run()
    }
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) clearTimeout(timer)
    }
  }
}
