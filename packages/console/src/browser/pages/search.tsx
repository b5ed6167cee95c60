import type { ExplorerSearch } from '@ratatosk/client'
import { Empty, Load, Name } from '../parts.js'
import { go, link } from '../router.js'

/** Opens the page of what a text names. */
export function open(text: string): void {
  if (text.trim() !== '') go('search', text.trim())
}

/** What a text names. */
export function Search({ text }: { readonly text: string }) {
  return (
    <Load<ExplorerSearch>
      key={text}
      path={`explorer/search?q=${encodeURIComponent(text)}`}
      show={({ matches, couldBe }) => (
        <section>
          <h2>Search</h2>
          {matches.length === 0 && (
            <Empty>
              <code>{text}</code> is not here.{' '}
              {couldBe.length === 0 ? 'Nothing has such a name.' : `It could be: ${couldBe.join(', ')}.`}
            </Empty>
          )}
          <ul class="list">
            {matches.map(({ kind, id, path }) => (
              <li key={path}>
                {kind} <Name name={id} /> <a href={pageOf(kind, id) ?? path.slice(1)}>open</a>
              </li>
            ))}
          </ul>
        </section>
      )}
    />
  )
}

function pageOf(kind: string, id: string): string | undefined {
  if (kind === 'transaction') return link('tx', id)
  if (kind === 'block') return link('block', id)
  return kind === 'output' ? link('tx', id.slice(0, 64)) : undefined
}
