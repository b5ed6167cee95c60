import { setTimeout as pause } from 'node:timers/promises'
import { equalBytes } from '@ratatosk/cbor'
import { isLayer1Error } from '@ratatosk/layer1'
import { emptyRoot } from '@ratatosk/trie'
import { createQuestionBook, type Job } from './context.js'
import { openContext, openState, type WatcherState } from './state.js'
import { openTurn, tick, type Watching } from './tick.js'
import type { DisputedBlock, Watcher, WatcherOptions } from './types.js'

/** Polls between two attempts that lack ada. */
const retryPolls = 10

/**
 * Removes the invalid blocks that a follower finds: records each finding, searches a fraud proof, and sends
 * the transactions that remove the block and slash its operator. Asks operators on layer 1 for what they
 * hide: bodies, and maps of false roots. Each is stored before it is sent, and looked up before it is sent
 * again. Prunes the blocks behind a removed one.
 *
 * @example
 * const watcher = createWatcher({
 *   contracts, rules, layer1, wallet, verdicts: store.verdicts, archive: store.archive, evaluator, log
 * })
 * const { watch, unavailable, available } = watcher
 * const follower = await createFollower({ ...options, watch, unavailable, available })
 */
export function createWatcher(options: WatcherOptions): Watcher {
  const { contracts, pollMs = 1000 } = options
  const closing = new AbortController()
  const { signal } = closing
  const state = openState()
  const { missing, line } = state
  const turn = openTurn(options)
  const context = openContext({ ...options, pollMs }, state, signal)
  const watching: Watching = { context, state, turn, pollMs, delayMs: retryPolls * pollMs }

  let ticking: Promise<void> = Promise.resolve()
  async function run(): Promise<void> {
    while (!signal.aborted) {
      state.wake = new AbortController()
      state.failure = undefined
      ticking = attempt(watching)
      await ticking
      const ms = line.isEmpty() ? pollMs : 0
      await pause(ms, undefined, { signal: state.wake.signal }).catch(() => undefined)
    }
  }
  const running = run()
  return {
    async watch(block, ended) {
      const book = missing.get(block.headerHash)?.book ?? createQuestionBook()
      let giveUp = (): void => undefined
      const givenUp = new Promise<'unprovable'>((resolve) => {
        giveUp = () => resolve('unprovable')
      })
      const gone = new Promise<undefined>((resolve) => {
        ended.addEventListener('abort', () => resolve(undefined), { once: true })
        if (ended.aborted) resolve(undefined)
      })
      missing.delete(block.headerHash)
      const given: Job = { block, book, signal: ended, isRecorded: false, failures: 0, giveUp }
      state.job = given
      state.wake.abort()
      const result = await Promise.race([givenUp, gone])
      if (state.job === given) state.job = undefined
      await ticking
      return result
    },

    async unavailable(block) {
      const { header, headerHash } = block
      if (equalBytes(header.transactionsRoot, emptyRoot())) return []
      if (contracts.summons === undefined) return undefined
      const book = createQuestionBook()
      const known = missing.get(headerHash) ?? { block, book, wantedAt: 0, hasCome: false, isRecorded: false }
      known.wantedAt = performance.now()
      known.hasCome = false
      missing.set(headerHash, known)
      return known.transactions
    },

    available(headerHash) {
      const known = missing.get(headerHash)
      if (known !== undefined) known.hasCome = true
    },

    status: () => statusOf(state),

    summon(wanted, client) {
      if (signal.aborted) return Promise.reject(signal.reason)
      const result = line.add(wanted, client)
      state.wake.abort()
      return result
    },

    questions: () => ({ ...state.counts }),

    close() {
      closing.abort(new Error('The watcher is closed'))
      state.wake.abort()
      return running.finally(() => line.fail(signal.reason)).finally(turn.release)
    },
  }
}

/** Runs a tick, and reports why it failed. */
async function attempt(watching: Watching): Promise<void> {
  const { state, context, delayMs } = watching
  try {
    const isWhole = await tick(watching)
    if (state.failure !== undefined) report(watching, state.failure)
    else if (isWhole) state.trouble = undefined
  } catch (error) {
    state.line.fail(error)
    if (context.signal.aborted) return
    report(watching, error)
    // A search is expensive.
    if (!isLayer1Error(error)) state.retryAt = performance.now() + delayMs
  }
}

/** Logs a new problem once. */
function report({ state, context }: Watching, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error)
  const fields = isLayer1Error(error) ? { code: error.code } : { err: error }
  if (reason !== state.trouble?.reason) context.log.warn(fields, `The watcher waits: ${reason}`)
  state.trouble = { reason, since: state.trouble?.since ?? performance.now() }
}

const statusOf = ({
  unprovable,
  unavailable,
  waits,
  lack,
  unread,
  trouble,
}: WatcherState): ReturnType<Watcher['status']> => ({
  ...(unprovable && { unprovable: fieldsOf(unprovable) }),
  ...(unavailable && { unavailable: fieldsOf(unavailable) }),
  ...(waits !== undefined && { waits }),
  ...(lack && { lack: lack.reason }),
  ...(unread !== undefined && { unread }),
  ...(trouble && { trouble: trouble.reason, troubleMs: performance.now() - trouble.since }),
})

function fieldsOf({ headerHash, height, reason }: DisputedBlock): DisputedBlock {
  return { headerHash, height, reason }
}
