import { signal } from '@preact/signals'
import type { ExplorerBlock, ExplorerBlocks, ExplorerOverview, ExplorerRates } from '@ratatosk/client'
import { AnswerError, read } from './api.js'
import { type EventData, listen } from './events.js'

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

/** What lists show. */
const most = 8
const blocksPath = 'explorer/blocks?limit=100'
/** The node shares an answer for half a second: a read after an event must be later. */
const afterEventMs = 600
/** Events of so many milliseconds change the page once. */
const flushMs = 250

let ahead = 0
let pending: Happened[] = []

/** Reads one of the answers that all pages share. */
async function refresh<T>(path: string, target: { value: T | undefined }): Promise<void> {
  if (paused.value || document.hidden) return
  try {
    target.value = await read<T>(path)
    unreachableSince.value = undefined
  } catch (error) {
    // An answer that says no is an answer.
    if (!(error instanceof AnswerError)) unreachableSince.value ??= now.value
  }
}

async function refreshOverview(): Promise<void> {
  await refresh('explorer/overview', overview)
  const { value } = overview
  if (value !== undefined && unreachableSince.value === undefined) ahead = Date.parse(value.at) - Date.now()
}

async function refreshBlocks(): Promise<void> {
  const list: { value: ExplorerBlocks | undefined } = { value: undefined }
  await refresh(blocksPath, list)
  if (list.value !== undefined) blocks.value = list.value.blocks
}

/** Calls of a moment do the work once, `ms` after the first of them. */
function once(ms: number, work: () => void): () => void {
  let waits = false
  return () => {
    if (waits) return
    waits = true
    window.setTimeout(() => {
      waits = false
      work()
    }, ms)
  }
}

const changed = once(afterEventMs, async () => {
  await Promise.all([refreshOverview(), refreshBlocks()])
  if (!paused.value) version.value++
})

const flush = once(flushMs, () => {
  if (!paused.value) happened.value = [...pending.reverse(), ...happened.value].slice(0, 3 * most)
  pending = []
  changed()
})

function note(event: Happened): void {
  pending.push(event)
  if (pending.length > most) pending = pending.slice(-most)
  flush()
}

/** Follows the node until the page is closed. */
export function follow(): void {
  listen({
    accepted: (event) => note({ kind: 'accepted', ...event }),
    rejected: (event) => note({ kind: 'rejected', ...event }),
    block: changed,
    back: changed,
  })
  const all = () => Promise.all([refreshOverview(), refreshBlocks(), refresh('explorer/rates', rates)])
  all()
  window.setInterval(() => {
    if (!paused.value) now.value = Date.now() + ahead
  }, 250)
  window.setInterval(refreshOverview, 1000)
  window.setInterval(() => {
    refreshBlocks()
    refresh('explorer/rates', rates)
  }, 5000)
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) all()
  })
}
