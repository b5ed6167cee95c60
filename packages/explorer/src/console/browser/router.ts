import { signal } from '@preact/signals'

/** A page and what it is about, from the part of the URL after `#/`. */
export interface Route {
  readonly page: string
  readonly subject: string
}

export const route = signal<Route>(routeOf(location.hash))

/** The route in the part of a URL from `#` on; a subject that is not URL-encoded is taken as it is. */
export function routeOf(hash: string): Route {
  const [page = '', ...rest] = hash.replace(/^#\/?/, '').split('/')
  const subject = rest.join('/')
  try {
    return { page, subject: decodeURIComponent(subject) }
  } catch {
    return { page, subject }
  }
}

export function go(page: string, subject = ''): void {
  location.hash = link(page, subject)
}

/** The `href` of a page. */
export function link(page: string, subject = ''): string {
  return subject === '' ? `#/${page}` : `#/${page}/${encodeURIComponent(subject)}`
}

window.addEventListener('hashchange', () => {
  route.value = routeOf(location.hash)
  window.scrollTo(0, 0)
})
