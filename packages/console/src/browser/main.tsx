import { type ComponentChildren, render } from 'preact'
import { areEventsLost } from './events.js'
import { duration } from './format.js'
import { Block } from './pages/block.js'
import { Live } from './pages/live.js'
import { Queue } from './pages/queue.js'
import { open, Search } from './pages/search.js'
import { Transaction } from './pages/transaction.js'
import { Trust } from './pages/trust.js'
import { Empty } from './parts.js'
import { link, type Route, route } from './router.js'
import { follow, now, overview, paused, unreachableSince } from './store.js'

/** The pages. Those with a title are in the navigation. */
const pages: readonly {
  readonly page: string
  readonly title?: string
  readonly show: (route: Route) => ComponentChildren
}[] = [
  { page: '', title: 'Live', show: () => <Live /> },
  { page: 'queue', title: 'Queue', show: () => <Queue /> },
  { page: 'trust', title: 'Trust', show: () => <Trust /> },
  { page: 'block', show: ({ subject }) => <Block key={subject} id={subject} /> },
  { page: 'tx', show: ({ subject }) => <Transaction key={subject} hash={subject} /> },
  { page: 'search', show: ({ subject }) => <Search text={subject} /> },
]

function Console() {
  const { page } = route.value
  const shown = pages.find((each) => each.page === page)
  return (
    <>
      <header>
        <a class="brand" href={link('')}>
          Ratatosk
        </a>
        <nav aria-label="Pages">
          {pages.map(({ page: name, title }) =>
            title === undefined ? null : (
              <a key={name} href={link(name)} {...(name === page && { 'aria-current': 'page' as const })}>
                {title}
              </a>
            ),
          )}
        </nav>
        <search>
          <form
            onSubmit={(event) => {
              event.preventDefault()
              const text = new FormData(event.currentTarget).get('q')
              open(typeof text === 'string' ? text : '')
            }}
          >
            <input
              id="search"
              name="q"
              type="search"
              maxLength={200}
              placeholder="Hash, height, address …  ( / )"
              aria-label="Search"
            />
          </form>
        </search>
        <Connection />
      </header>
      <main class={unreachableSince.value === undefined ? '' : 'stale'}>
        {shown === undefined ? (
          <Empty>
            There is no such page. <a href={link('')}>Live</a>
          </Empty>
        ) : (
          shown.show(route.value)
        )}
      </main>
      <footer class="dim">
        {overview.value &&
          `${overview.value.network} · role ${overview.value.role} · version ${overview.value.version} · `}
        <a href="docs">API</a>
      </footer>
    </>
  )
}

function Connection() {
  const since = unreachableSince.value
  if (since !== undefined)
    return (
      <span class="connection lost" role="status">
        Unreachable for {duration(now.value - since)}
      </span>
    )
  const isLive = !paused.value && !areEventsLost.value
  return (
    <button
      type="button"
      class={isLive ? 'connection' : 'connection paused'}
      aria-pressed={paused.value}
      onClick={() => {
        paused.value = !paused.value
      }}
    >
      {paused.value ? 'Paused' : isLive ? 'Live' : 'No events'}
    </button>
  )
}

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target instanceof HTMLInputElement) return
  event.preventDefault()
  document.getElementById('search')?.focus()
})

const root = document.getElementById('console')
if (root !== null) {
  root.textContent = ''
  render(<Console />, root)
  follow()
}
