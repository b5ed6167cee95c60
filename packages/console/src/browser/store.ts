import { signal } from '@preact/signals'
import type { ExplorerBlock, ExplorerBlocks, ExplorerOverview, ExplorerRates } from '@ratatosk/client'
import { AnswerError, read } from './api.js'
import { type EventData, listen } from './events.js'
import { noteMove } from './moves.js'

/** An accepted transaction or a rejected submission. */
export interface Happened extends EventData {
  readonly kind: 'accepted' | 'rejected'
}

export const overview = signal<ExplorerOverview | undefined>(undefined)
export const blocks = signal<readonly ExplorerBlock[] | undefined>(undefined)
export const rates = signal<ExplorerRates | undefined>(undefined)
export const happened = signal<readonly Happened[]>([])
/** Now by the clock of the node, as far as its answers show it; POSIX milliseconds. */
export const now = signal(Date.now())
/** Since when the node has not answered. */
export const unreachableSince = signal<number | undefined>(undefined)
export const paused = signal(false)
/** Grows with each change of a block or transaction that pages may have to read again. */
export const version = signal(0)
/** Grows with {@link version}, but at most every 5 s, unless a person has changed something. */
export const slowVersion = signal(0)

/** What lists show. */
const most = 8
const blocksPath = 'explorer/blocks?limit=100'
/** The node shares an answer for half a second: a read after an event must be later. */
const afterEventMs = 600
/** While events come all the time, the counts are read so often, and the blocks when one has changed. */
const busyMs = 1_000
/** Events of so many milliseconds change the page once. */
const flushMs = 250
/** The rates are read at most so often. */
const ratesMs = 2_000
/** What takes many requests is read at most so often. */
const slowMs = 5_000
/** When all is read once more after the page was opened: a new node has its index by then. */
const settledMs = 5_000

let ahead = 0
let pending: Happened[] = []
/** Whether an event has reported a change of a block since the blocks were read. */
let areBlocksOld = false
let overviewReadAt = Number.NEGATIVE_INFINITY

/** Reads one of the answers that all pages share. */
async function refresh<T>(path: string, target: { value: T | undefined }): Promise<void> {
  if (paused.value || document.hidden) return
  try {
    target.value = await read<T>(path)
    unreachableSince.value = undefined
  } catch (error) {
    // An answer that says no is an answer, unless a proxy gave it.
    if (!(error instanceof AnswerError) || error.status === 502 || error.status === 504)
      unreachableSince.value ??= now.value
  }
}

async function refreshOverview(): Promise<void> {
  overviewReadAt = performance.now()
  await refresh('explorer/overview', overview)
  const { value } = overview
  if (value !== undefined && unreachableSince.value === undefined) ahead = Date.parse(value.at) - Date.now()
}

async function refreshBlocks(): Promise<void> {
  const list: { value: ExplorerBlocks | undefined } = { value: undefined }
  await refresh(blocksPath, list)
  if (list.value !== undefined) blocks.value = list.value.blocks
}

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
    const readsBlocks = areBlocksOld
    areBlocksOld = false
    await Promise.all([refreshOverview(), readsBlocks && refreshBlocks()])
    if (paused.value || document.hidden) return
    version.value++
    readSlowly()
  },
  busyMs,
)

const refreshRates = () => refresh('explorer/rates', rates)

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
  catchUp()
}

const counted = once(afterEventMs, refreshRates, ratesMs)

const flush = once(flushMs, () => {
  if (!paused.value) happened.value = [...pending.reverse(), ...happened.value].slice(0, 3 * most)
  pending = []
  changed()
  counted()
})

function note(event: Happened): void {
  pending.push(event)
  if (pending.length > most) pending = pending.slice(-most)
  flush()
}

/** The state of a block as it was last read. */
function stateOf(headerHash: string): ExplorerBlock['state'] | undefined {
  return blocks.value?.find((block) => block.headerHash === headerHash)?.state
}

/** Follows the node until the page is closed. */
export function follow(): void {
  listen({
    accepted: (event) => note({ kind: 'accepted', ...event }),
    rejected: (event) => note({ kind: 'rejected', ...event }),
    block(event) {
      if (!paused.value) noteMove(event, stateOf(event.headerHash))
      areBlocksOld = true
      changed()
    },
    verdict: changed,
    back() {
      areBlocksOld = true
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
  }, 5000)
  window.setTimeout(catchUp, settledMs)
  document.addEventListener('visibilitychange', catchUp)
}
