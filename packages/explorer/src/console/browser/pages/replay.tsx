import { useSignal, useSignalEffect } from '@preact/signals'
import { Outcome, useAction } from '../controls.js'
import { type History, type PastEvent, readHistory } from '../events.js'
import { grouped } from '../format.js'
import { Empty, Name, State } from '../parts.js'
import { link } from '../router.js'
import { now } from '../store.js'

const hourMs = 3_600_000
const tickMs = 100
const most = 12

/** The last hour, from the events that the node has kept. */
export function Replay() {
  const past = useSignal<History | undefined>(undefined)
  const { runs, problem, run } = useAction()
  return (
    <>
      <section class="stack">
        <h2>The last hour</h2>
        <p class="row">
          <button
            type="button"
            id="load"
            class="main"
            disabled={runs.value}
            onClick={() =>
              run(async () => {
                past.value = undefined
                past.value = await readHistory(now.value - hourMs)
              })
            }
          >
            {runs.value ? 'Reading …' : past.value === undefined ? 'Read the last hour' : 'Read it again'}
          </button>
          <Outcome problem={problem.value}>at most the newest 5 000 events of each kind</Outcome>
        </p>
        {past.value?.isWhole === false && (
          <Empty>The node was too slow: the newest events are missing. Read again.</Empty>
        )}
        {past.value?.isWhole && past.value.events.length === 0 && (
          <Empty>Nothing has happened. Send a transaction, then read again.</Empty>
        )}
      </section>
      {past.value && past.value.events.length > 0 && <Player past={past.value.events} />}
    </>
  )
}

function Player({ past }: { readonly past: readonly PastEvent[] }) {
  const [first, last] = [past[0]?.at ?? 0, past.at(-1)?.at ?? 0]
  const at = useSignal(first)
  const speed = useSignal(10)
  const plays = useSignal(false)
  useSignalEffect(() => {
    if (!plays.value) return
    const timer = window.setInterval(() => {
      at.value = Math.min(last, at.value + tickMs * speed.value)
      if (at.value === last) plays.value = false
    }, tickMs)
    return () => window.clearInterval(timer)
  })
  const shown = past.slice(0, countUntil(past, at.value))
  return (
    <>
      <section class="stack">
        <h2 id="moment">{new Date(at.value).toLocaleTimeString()}</h2>
        <p class="row">
          <button
            type="button"
            id="play"
            onClick={() => {
              if (at.value === last) at.value = first
              plays.value = !plays.value
            }}
          >
            {plays.value ? 'Stop' : 'Play'}
          </button>
          <label>
            Speed{' '}
            <input
              type="range"
              id="speed"
              min={1}
              max={60}
              value={speed.value}
              onInput={({ currentTarget }) => {
                speed.value = Number(currentTarget.value)
              }}
            />{' '}
            {speed.value}×
          </label>
        </p>
        <label>
          <span class="dim">Moment</span>
          <input
            type="range"
            id="cursor"
            min={first}
            max={Math.max(last, first + 1)}
            step={1}
            value={at.value}
            onInput={({ currentTarget }) => {
              at.value = Math.min(last, Number(currentTarget.value))
            }}
          />
        </label>
        <Counts shown={shown} />
      </section>
      <section>
        <h2>Events</h2>
        <ol class="list" id="past">
          {shown
            .slice(-most)
            .reverse()
            .map((event) => (
              <Line key={keyOf(event)} event={event} />
            ))}
        </ol>
      </section>
    </>
  )
}

/** A rejected submission need not be a transaction. */
function keyOf({ at, kind, id, txHash, headerHash, state }: PastEvent): string {
  return `${at} ${kind} ${id ?? txHash ?? headerHash} ${state}`
}

/** How many events there are until a moment. */
function countUntil(past: readonly PastEvent[], moment: number): number {
  const after = past.findIndex(({ at }) => at > moment)
  return after === -1 ? past.length : after
}

function Counts({ shown }: { readonly shown: readonly PastEvent[] }) {
  const states = new Map<string, string>()
  for (const { headerHash, state } of shown) if (headerHash && state) states.set(headerHash, state)
  const blocksIn = (...wanted: string[]) =>
    [...states.values()].filter((state) => wanted.includes(state)).length
  const count = (kind: PastEvent['kind']) => shown.filter((event) => event.kind === kind).length
  const figures = [
    ['accepted', count('accepted')],
    ['rejected', count('rejected')],
    ['blocks on the way', blocksIn('built', 'submitted')],
    ['in the state queue', blocksIn('committed', 'mature')],
    ['merged', blocksIn('merged')],
  ] as const
  return (
    <dl class="facts" id="figures">
      {figures.map(([name, figure]) => (
        <>
          <dt>{name}</dt>
          <dd data-figure={name} data-count={figure}>
            {grouped(figure)}
          </dd>
        </>
      ))}
    </dl>
  )
}

function Line({
  event: { at, kind, txHash, code, headerHash, height, state },
}: {
  readonly event: PastEvent
}) {
  return (
    <li>
      <span class="dim">{new Date(at).toLocaleTimeString()}</span>
      <State state={state ?? kind} />
      {headerHash && <a href={link('block', headerHash)}>Block {grouped(height ?? 0)}</a>}
      {txHash && <Name name={txHash} page="tx" />}
      {code && <span class="bad">{code}</span>}
    </li>
  )
}
