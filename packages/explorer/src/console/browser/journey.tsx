import type { ExplorerBlock } from '@ratatosk/client'
import { duration } from './format.js'
import { Countdown, Time } from './parts.js'

interface Step {
  readonly name: string
  readonly at: string | undefined
  /** When it is expected, if that is known. */
  readonly expected?: string | undefined
}

/** The steps from acceptance to the confirmed state, with their times. */
export function Journey({
  acceptedAt,
  block,
}: {
  readonly acceptedAt?: string
  readonly block?: ExplorerBlock
}) {
  const times = block?.times
  const steps: Step[] = [
    ...(acceptedAt === undefined ? [] : [{ name: 'accepted', at: acceptedAt }]),
    { name: 'built', at: times?.built },
    { name: 'submitted', at: times?.submitted },
    { name: 'committed', at: times?.committed },
    { name: 'mature', at: times?.mature, expected: block?.maturesAt },
    { name: 'merged', at: times?.merged },
    ...(times?.removed ? [{ name: 'removed', at: times.removed }] : []),
  ]
  return (
    <ol class="journey">
      {steps.map(({ name, at, expected }, position) => (
        <li key={name} class={at === undefined ? '' : 'done'} data-step={name} data-at={at}>
          <strong>{name}</strong>
          {at !== undefined && <Time at={at} />}
          {at === undefined && expected !== undefined && (
            <small>
              in <Countdown to={expected} />
            </small>
          )}
          <small>{sincePrevious(steps, position)}</small>
        </li>
      ))}
    </ol>
  )
}

/** Time since the newest earlier step that has one. */
function sincePrevious(steps: readonly Step[], position: number): string {
  const at = steps[position]?.at
  const before = steps.slice(0, position).findLast((step) => step.at !== undefined)?.at
  if (at === undefined || before === undefined) return ''
  return `+${duration(Date.parse(at) - Date.parse(before))}`
}
