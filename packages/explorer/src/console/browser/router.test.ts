import { expect, test, vi } from 'vitest'

vi.stubGlobal('location', { hash: '#/tx/%' })
vi.stubGlobal('window', new EventTarget())

test('a subject that is not URL-encoded is taken as it is', async () => {
  const { route, routeOf } = await import('./router.js')
  expect(route.value).toEqual({ page: 'tx', subject: '%' })
  expect(routeOf('#/search/a%2Fb/c')).toEqual({ page: 'search', subject: 'a/b/c' })
  expect(routeOf('')).toEqual({ page: '', subject: '' })
})
