import { signal } from '@preact/signals'

/** A page and what it is about, from the part of the URL after `#/`. */
export interface Route {
  readonly page: string
  readonly subject: string
}

export const route = signal<Route>(current())

function current(): Route {
  const [page = '', ...rest] = location.hash.replace(/^#\/?/, '').split('/')
  return { page, subject: decodeURIComponent(rest.join('/')) }
}

export function go(page: string, subject = ''): void {
  location.hash = link(page, subject)
}

/** The `href` of a page. */
export function link(page: string, subject = ''): string {
  return subject === '' ? `#/${page}` : `#/${page}/${encodeURIComponent(subject)}`
}

window.addEventListener('hashchange', () => {
  route.value = current()
  window.scrollTo(0, 0)
})
