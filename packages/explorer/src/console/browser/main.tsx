import { render } from 'preact'
import { areEventsLost } from './events.js'
import { duration } from './format.js'
import { open, pages } from './pages/table.js'
import { Empty } from './parts.js'
import { areRoutesRead, link, readRoutes, route } from './router.js'
import { follow, now, overview, paused, setPaused, unreachableSince } from './store.js'

function Console() {
  const { page } = route.value
  const served = pages()
  const shown = served.find((each) => each.page === page)
  const title = shown?.title ?? (areRoutesRead() ? 'No page' : 'Reading')
  document.title = `${title} – Ratatosk console`
  return (
    <>
      <header>
        <a class="brand" href={link('')}>
          Ratatosk
        </a>
        <nav aria-label="Pages">
          {served
            .filter(({ isListed }) => isListed)
            .map(({ page: name, title }) => (
              <a key={name} href={link(name)} {...(name === page && { 'aria-current': 'page' as const })}>
                {title}
              </a>
            ))}
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
        <h1 class="unseen">{title}</h1>
        {shown?.show(route.value) ??
          (areRoutesRead() ? (
            <Empty>
              There is no such page on this node.{' '}
              <a class="inline" href={link('')}>
                Live
              </a>
            </Empty>
          ) : (
            <Empty>Reading what this node serves …</Empty>
          ))}
      </main>
      <footer class="dim">
        {overview.value &&
          `${overview.value.network} · role ${overview.value.role} · version ${overview.value.version} · `}
        <a class="inline" href="docs">
          API
        </a>
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
        setPaused(!paused.value)
      }}
    >
      {paused.value ? 'Paused' : isLive ? 'Live' : 'No events'}
    </button>
  )
}

/** Whether keys are text. */
function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement
}

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || isField(event.target)) return
  event.preventDefault()
  document.getElementById('search')?.focus()
})

const root = document.getElementById('console')
if (root !== null) {
  root.textContent = ''
  render(<Console />, root)
  follow()
  // Until then, pages that need more are hidden.
  const tryRoutes = () => readRoutes().catch(() => window.setTimeout(tryRoutes, 2000))
  tryRoutes()
}
