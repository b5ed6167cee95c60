import { duration } from './format.js'
import { type Move, moves } from './moves.js'
import { Ago, Empty } from './parts.js'
import { link } from './router.js'

/** The actions of the node, one line for each event, the newest first. */
export function Moves({ since = 0, limit = 12 }: { readonly since?: number; readonly limit?: number }) {
  const shown = moves.value.filter(({ at }) => Date.parse(at) >= since).slice(0, limit)
  if (shown.length === 0)
    return <Empty>No block has changed since. The node reports it here when one does.</Empty>
  return (
    <ol class="list moves" aria-label="What the node did">
      {shown.map((move) => (
        <li
          key={`${move.headerHash} ${move.state} ${move.at}`}
          data-move={move.kind}
          data-height={move.height}
        >
          <span class={`state ${move.kind}`}>{move.kind}</span>
          <a href={link('block', move.headerHash)}>Block {move.height}</a>
          <span>{textOf(move)}</span>
          <span class="dim end">
            <Ago at={move.at} />
          </span>
        </li>
      ))}
    </ol>
  )
}

function textOf({ kind, state, from, lostMs }: Move): string {
  if (state === 'removed') return `is removed from the state queue: it was ${from}`
  if (kind === 'uncoupled') return `layer 1 rolled back: it was ${from}, now it is ${state}`
  if (kind === 'repaired') return `is ${state} again, after ${duration(lostMs ?? 0)}`
  return `is ${state}`
}
