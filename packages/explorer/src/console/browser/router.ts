import { signal } from '@preact/signals'
import type { PageRoute } from '../index.js'
import { AnswerError, read } from './api.js'

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

/** The routes of this node that pages may need; undefined until they are read. */
const routes = signal<ReadonlySet<string> | undefined>(undefined)

/** The bridge of this deployment, if it has one; without its address while layer 1 cannot be read. */
export const bridge = signal<{ readonly address?: string } | undefined>(undefined)

const layer2: PageRoute = 'GET /l2/blockfrost/api/v0/addresses/*'

/** The data that a page needs beyond `/explorer`. */
const needs: Readonly<Record<string, PageRoute>> = {
  watch: 'GET /verdicts',
  rejected: 'GET /deadLetters',
  check: 'POST /evaluate',
  wallets: 'POST /devnet/addresses/topup',
  devnet: 'POST /devnet/roll-back',
  bridge: 'GET /bridge',
  replay: 'GET /events',
  address: layer2,
  asset: layer2,
  output: 'GET /explorer/output/:ref',
}

export async function readRoutes(): Promise<void> {
  const { routes: served } = await read<{ readonly routes: readonly PageRoute[] }>('console/routes')
  routes.value = new Set(served)
  if (serves('GET /bridge')) bridge.value = await readBridge()
}

/** The route is there without a bridge too: then it answers 404. */
async function readBridge(): Promise<typeof bridge.value> {
  try {
    return await read('bridge')
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error
    return error.status === 404 ? undefined : {}
  }
}

export function serves(route: PageRoute): boolean {
  return routes.value?.has(route) ?? false
}

/** Until then, it is not known which pages there are. */
export const areRoutesRead = (): boolean => routes.value !== undefined

/** Whether this node serves what a page shows. */
export function hasPage(page: string): boolean {
  const need = needs[page]
  return need === undefined || serves(need)
}

window.addEventListener('hashchange', () => {
  route.value = routeOf(location.hash)
  window.scrollTo(0, 0)
})
