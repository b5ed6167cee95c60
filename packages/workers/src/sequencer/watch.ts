import { alignRoots } from './life/align-roots.js'
import { type Commitment, commitBlock } from './life/commit-block.js'
import { reconcile, type Standing } from './life/reconcile.js'
import type { Work } from './life/work.js'
import type { Refusal } from './refusal.js'
import type { Operation } from './types.js'

/** What is shared between what is done by itself and what is asked for. */
export interface Watch {
  readonly work: Work
  /** What is being done. */
  doing: Operation | 'reconcile' | undefined
  /** A block is being built. */
  readonly committing: boolean
  /** Why nothing is committed or merged. */
  fault: Refusal | undefined
  /** As it was found last; undefined where it is to be found again. */
  standing: Standing | undefined
  /** Brings store, trie and layer 1 to agree. */
  look(): Promise<Standing>
  commit(standing: Standing): Promise<Commitment>
}

export function createWatch(work: Work): Watch {
  let aligned = false
  const watch = {
    work,
    doing: undefined as Watch['doing'],
    committing: false,
    fault: undefined as Watch['fault'],
    standing: undefined as Watch['standing'],

    async look() {
      if (!aligned) {
        await alignRoots(work, await work.store.blocks.newest())
        aligned = true
      }
      const standing = await reconcile(work)
      watch.standing = standing
      if (watch.fault !== undefined) work.log.info({}, 'store and layer 1 agree again')
      watch.fault = undefined
      return standing
    },

    async commit(standing: Standing) {
      watch.committing = true
      try {
        return await commitBlock(work, standing)
      } finally {
        watch.committing = false
        watch.standing = undefined
      }
    },
  }
  return watch
}
