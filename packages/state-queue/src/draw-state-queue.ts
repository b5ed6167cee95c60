import { toHex } from '@ratatosk/cbor'
import type { QueuedBlock, StateQueueView, StrayOutput } from './ports.js'

/** Number of blocks drawn at either end of a long list. */
const shownAtEnds = 8

/** Number of outputs outside of the list that are named. */
const shownStrays = 4

/**
 * Draws a state queue for a log: the confirmed state, then one line per block, oldest first. The middle of a
 * long list is omitted. A broken queue ends with its fault.
 *
 * @param now POSIX milliseconds, relative to which ages and maturity are shown
 *
 * @example
 * ```
 * State queue: 3 blocks, 1 mature
 *   confirmed  8f3a0c21…  2 h ago
 *   ├─ 12      77aa01bc…  12 min ago  mature
 *   ├─ 13      91bb0123…  2 min ago   matures in 28 s
 *   └─ 14      5c0001ff…  3 s ago     matures in 2 min
 * ```
 */
export function drawStateQueue(view: StateQueueView, now: number): string {
  const { roots, blocks, strays = [], fault } = view
  if (isAbsent(view)) return 'State queue: not initialised'

  const rows: string[][] = roots.map(({ headerHash, endTime, outRef }) => [
    'confirmed',
    short(headerHash),
    headerHash.some((byte) => byte !== 0) ? since(endTime, now) : 'genesis',
    roots.length === 1 ? '' : shortOutRef(outRef),
  ])
  const elided = blocks.length > 2 * shownAtEnds + 1 ? blocks.length - 2 * shownAtEnds : 0
  blocks.forEach((block, place) => {
    if (elided === 0 || place < shownAtEnds || place >= blocks.length - shownAtEnds) {
      const last = place === blocks.length - 1 && fault === undefined
      rows.push(blockRow(block, last ? '└─' : '├─', now))
    }
  })
  const lines = aligned(rows)
  if (elided > 0) lines.splice(roots.length + shownAtEnds, 0, `│  … ${elided} more …`)
  if (fault !== undefined) lines.push(`${blocks.length > 0 ? '└─' : ''}× ${oneLine(fault)}`)
  if (strays.length > 0) lines.push(`outside of the list: ${strayNames(strays)}`)
  return [heading(view, now), ...lines.map((line) => `  ${line}`)].join('\n')
}

/** Whether the queue exists and has a fault. A queue that is not initialised is not broken. */
export function isBroken(view: StateQueueView): boolean {
  return view.fault !== undefined && !isAbsent(view)
}

const isAbsent = ({ roots, blocks, strays = [] }: StateQueueView) =>
  roots.length + blocks.length + strays.length === 0

function heading({ blocks, fault }: StateQueueView, now: number): string {
  const parts = [counted(blocks.length, 'block')]
  const mature = blocks.filter(({ maturesAt }) => maturesAt <= now).length
  if (mature > 0) parts.push(`${mature} mature`)
  if (fault !== undefined) parts.push('broken')
  return `State queue: ${parts.join(', ')}`
}

function blockRow({ headerHash, height, endTime, maturesAt }: QueuedBlock, link: string, now: number) {
  const maturity = maturesAt <= now ? 'mature' : `matures in ${duration(Number(maturesAt) - now)}`
  return [`${link} ${height ?? '?'}`, short(headerHash), since(endTime, now), maturity]
}

function strayNames(strays: readonly StrayOutput[]): string {
  const named = strays.slice(0, shownStrays).map(({ outRef }) => shortOutRef(outRef))
  if (strays.length > named.length) named.push('…')
  return `${counted(strays.length, 'output')} (${named.join(', ')})`
}

/** Pads columns to their widest cell, with two spaces in between. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length)
    })
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

const short = (hash: Uint8Array) => `${toHex(hash).slice(0, 8)}…`

/** Shortens the transaction id. */
const shortOutRef = (outRef: string) => outRef.replace(/^(.{8})[^#]*/, '$1…')

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

/** A fault can quote data from layer 1, which must not break the line. */
const oneLine = (text: string) => text.replace(/\p{C}+/gu, ' ')

/** A block can end slightly after `now`, because clocks differ. */
const since = (time: bigint, now: number) => `${duration(Math.max(0, now - Number(time)))} ago`

/** Milliseconds in the largest unit that gives at least two, rounded down. */
function duration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000)
  if (seconds < 120) return `${seconds} s`
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}
