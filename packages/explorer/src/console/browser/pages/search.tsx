import type { ExplorerSearch } from '@ratatosk/client'
import { Empty, Load, Name } from '../parts.js'
import { go, link } from '../router.js'
import { hasPage } from '../routes.js'

/** Opens the page of what a text names. */
export function open(text: string): void {
  if (text.trim() !== '') go('search', text.trim())
}

export function Search({ text }: { readonly text: string }) {
  return (
    <Load<ExplorerSearch>
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

/** The pages of what a search finds. */
const pages: Readonly<Record<string, string>> = {
  transaction: 'tx',
  block: 'block',
  output: 'output',
  address: 'address',
  asset: 'asset',
}

function pageOf(kind: string, id: string): string | undefined {
  const page = pages[kind]
  return page !== undefined && hasPage(page) ? link(page, id) : undefined
}
