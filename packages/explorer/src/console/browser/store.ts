import { signal } from '@preact/signals'
import type {
  BlockEvent,
  ExplorerBlock,
  ExplorerBlocks,
  ExplorerOverview,
  ExplorerRates,
} from '@ratatosk/client'
import { AnswerError, createReading, read } from './api.js'
import { accepted, listen, rejected } from './events.js'
import { noteMove } from './moves.js'

const overviews = createReading<ExplorerOverview>()
const lists = createReading<readonly ExplorerBlock[]>()
const ratesReading = createReading<ExplorerRates>()

export const overview = overviews.answer
export const blocks = lists.answer
export const rates = ratesReading.answer
/** Now by the clock of the node, as its answers show it; POSIX milliseconds. */
export const now = signal(Date.now())
/** Since when the node has not answered. */
export const unreachableSince = signal<number | undefined>(undefined)
export const paused = signal(false)
/** Grows with each change of a block or transaction that pages may have to read again. */
export const version = signal(0)
/** Grows with {@link version}, but at most every 5 s, unless a person has changed something. */
export const slowVersion = signal(0)

/** Changes of blocks that are kept while the page is paused. */
const mostPending = 100
const blocksPath = 'explorer/blocks?limit=100'
/** The node shares an answer for half a second: a read after an event must be later. */
const afterEventMs = 600
/** While events come all the time, the counts are read so often. */
const busyMs = 1_000
/** While blocks change all the time, they are read so often. */
const blocksMs = 2_000
/** Blocks and rates are read so often in any case. */
const quietMs = 5_000
/** Events of so many milliseconds change the page once. */
const flushMs = 250
/** The least interval between readings that take many requests. */
const slowMs = 5_000
/** When all is read again after the page was opened: a new node has its index by then. */
const settledMs = 5_000

let ahead = 0
/** The numbers of the newest request, and of the newest one that was answered. */
let sent = 0
let heard = 0
/** Changes of blocks that the page does not show yet. */
let pending: BlockEvent[] = []
let overviewReadAt = Number.NEGATIVE_INFINITY

/** Sends a request whose answer all pages share; a late answer does not replace that to a newer request. */
async function refresh<T>(
  reading: { take(outcome: Promise<T>): unknown },
  ask: () => Promise<T>,
): Promise<void> {
  if (paused.value || document.hidden) return
  const number = ++sent
  const outcome = ask()
  reading.take(outcome)
  try {
    await outcome
    heard = Math.max(heard, number)
    unreachableSince.value = undefined
  } catch (error) {
    // An answer that says no is an answer, unless a proxy gave it.
    const isAnswer = error instanceof AnswerError && error.status !== 502 && error.status !== 504
    if (!isAnswer && number > heard) unreachableSince.value ??= now.value
  }
}

async function refreshOverview(): Promise<void> {
  overviewReadAt = performance.now()
  const { value: before } = overview
  await refresh(overviews, () => read<ExplorerOverview>('explorer/overview'))
  const { value } = overview
  if (value !== undefined && value !== before) ahead = Date.parse(value.at) - Date.now()
}

const refreshBlocks = () => refresh(lists, async () => (await read<ExplorerBlocks>(blocksPath)).blocks)

/** Calls of a moment do the work once, `ms` after the first of them, and at most every `everyMs`. */
function once(ms: number, work: () => void, everyMs = 0): () => void {
  let waits = false
  let next = 0
  return () => {
    if (waits) return
    waits = true
    const delay = Math.max(ms, next - performance.now())
    window.setTimeout(() => {
      waits = false
      next = performance.now() + everyMs
      work()
    }, delay)
  }
}

/** Lets pages read again what a person has changed. */
export function readAgain(): void {
  version.value++
  slowVersion.value++
}

/** Lets pages read what takes many requests again, unless they are paused, at most every 5 s. */
export const readSlowly = once(
  0,
  () => {
    if (!paused.value && !document.hidden) slowVersion.value++
  },
  slowMs,
)

const changed = once(
  afterEventMs,
  async () => {
    await refreshOverview()
    if (paused.value || document.hidden) return
    version.value++
    readSlowly()
  },
  busyMs,
)

const blocksChanged = once(afterEventMs, refreshBlocks, blocksMs)

const refreshRates = () => refresh(ratesReading, () => read<ExplorerRates>('explorer/rates'))

/** Reads everything again, after changes were missed. */
function catchUp(): void {
  refreshOverview()
  refreshBlocks()
  refreshRates()
  if (!paused.value && !document.hidden) readAgain()
}

/** Pauses the page, or resumes it with the present state. */
export function setPaused(isPaused: boolean): void {
  paused.value = isPaused
  showEvents()
  catchUp()
}

/** Shows the events that have come, unless the page is paused: then they wait. */
function showEvents(): void {
  if (paused.value) return
  for (const kind of [accepted, rejected]) kind.show()
  for (const event of pending) noteMove(event, stateOf(event.headerHash))
  pending = []
}

const flush = once(flushMs, () => {
  showEvents()
  changed()
})

/** The state of a block as it was last read. */
function stateOf(headerHash: string): ExplorerBlock['state'] | undefined {
  return blocks.value?.find((block) => block.headerHash === headerHash)?.state
}

/** Follows the node until the page is closed. */
export function follow(): void {
  const note =
    <Event>(kind: { add(event: Event): void }) =>
    (event: Event) => {
      kind.add(event)
      flush()
    }
  listen({
    accepted: note(accepted),
    rejected: note(rejected),
    block(event) {
      pending = [...pending, event].slice(-mostPending)
      showEvents()
      blocksChanged()
      changed()
    },
    verdict: changed,
    begun() {
      blocksChanged()
      changed()
    },
  })
  catchUp()
  window.setInterval(() => {
    if (!paused.value) now.value = Date.now() + ahead
  }, 250)
  window.setInterval(() => {
    // Not if an event has had it read just now.
    if (performance.now() - overviewReadAt > busyMs / 2) refreshOverview()
  }, busyMs)
  window.setInterval(() => {
    refreshBlocks()
    refreshRates()
  }, quietMs)
  window.setTimeout(catchUp, settledMs)
  document.addEventListener('visibilitychange', catchUp)
}
