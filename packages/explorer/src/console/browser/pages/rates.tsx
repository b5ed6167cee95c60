import type { ExplorerRates } from '@ratatosk/client'
import { duration, grouped } from '../format.js'
import { rates } from '../store.js'

/** The rates of the node in the last hour. */
export function Rates() {
  const { value } = rates
  if (value === undefined) return null
  return (
    <section>
      <h2>The last hour</h2>
      <div class="figures">
        <Delay title="Accepted → committed" delay={value.acceptedToCommitted} />
        <Delay title="Committed → merged" delay={value.committedToMerged} />
      </div>
      <Bars minutes={value.minutes} />
    </section>
  )
}

function Delay({
  title,
  delay,
}: {
  readonly title: string
  readonly delay: ExplorerRates['acceptedToCommitted']
}) {
  if (delay === undefined) return null
  return (
    <p>
      <span class="dim">{title}</span> {duration(delay.p50)} <span class="dim">median,</span>{' '}
      {duration(delay.p95)} <span class="dim">for 95 % of {grouped(delay.transactions)}</span>
    </p>
  )
}

/** Accepted transactions per minute. A minute that was not counted has no bar. */
function Bars({ minutes }: Pick<ExplorerRates, 'minutes'>) {
  const most = Math.max(1, ...minutes.map(({ accepted = 0 }) => accepted))
  const sum = minutes.reduce((total, { accepted = 0 }) => total + accepted, 0)
  const isWhole = minutes.every(({ accepted }) => accepted !== undefined)
  return (
    <figure>
      <svg
        viewBox="0 0 600 60"
        preserveAspectRatio="none"
        role="img"
        aria-label="Accepted transactions per minute"
      >
        {minutes.map(({ at, accepted }, position) =>
          accepted === undefined ? null : (
            <rect
              key={at}
              x={(position * 600) / minutes.length + 1}
              y={60 - Math.max(1, (58 * accepted) / most)}
              width={600 / minutes.length - 2}
              height={Math.max(1, (58 * accepted) / most)}
            >
              <title>{`${new Date(at).toLocaleTimeString()}: ${accepted} accepted`}</title>
            </rect>
          ),
        )}
      </svg>
      <figcaption class="dim">
        {sum === 0
          ? `none accepted${isWhole ? '' : ' in the minutes that are counted'}`
          : `${grouped(sum)} accepted; the highest bar is ${grouped(most)} a minute`}
      </figcaption>
    </figure>
  )
}
