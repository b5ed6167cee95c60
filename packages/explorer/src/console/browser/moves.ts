import { signal } from '@preact/signals'
import type { BlockEvent } from '@ratatosk/client'

type State = BlockEvent['state']

/** A change of a block that `/events` has reported. */
export interface Move {
  readonly headerHash: string
  readonly height: number
  readonly state: State
  readonly at: string
  /** Uncoupled: an earlier state than before. Repaired: the state again from which it was uncoupled. */
  readonly kind: 'moved' | 'uncoupled' | 'repaired'
  /** The state from which it was uncoupled. */
  readonly from?: State
  /** How long it was uncoupled, in milliseconds. */
  readonly lostMs?: number
}

const order: readonly State[] = ['built', 'submitted', 'committed', 'mature', 'merged']
/** Moves that are kept, and blocks whose state is remembered. */
const most = 100

/** The changes of blocks since the page was opened, the newest first. */
export const moves = signal<readonly Move[]>([])

/** The newest known state of each block, and the state that a roll-back has taken from it. */
const known = new Map<
  string,
  { readonly state: State; readonly lost?: { readonly state: State; at: string } }
>()

/** Notes an event; `before` is the state of the block before, if it was read elsewhere. */
export function noteMove(event: BlockEvent, before: State | undefined): void {
  const { headerHash, height, state, at } = event
  const { state: previous = before, lost } = known.get(headerHash) ?? {}
  const place = order.indexOf(state)
  const isBack = previous !== undefined && (state === 'removed' || place < order.indexOf(previous))
  const isRepaired = !isBack && lost !== undefined && place >= order.indexOf(lost.state)
  known.delete(headerHash)
  known.set(headerHash, {
    state,
    ...(isBack ? { lost: lost ?? { state: previous, at } } : lost && !isRepaired && { lost }),
  })
  for (const [oldest] of known) if (known.size > most) known.delete(oldest)
  const move: Move = {
    headerHash,
    height,
    state,
    at,
    kind: isBack ? 'uncoupled' : isRepaired ? 'repaired' : 'moved',
    ...(isBack && { from: previous }),
    ...(isRepaired && { lostMs: Date.parse(at) - Date.parse(lost.at) }),
  }
  moves.value = [move, ...moves.value].slice(0, most)
}
