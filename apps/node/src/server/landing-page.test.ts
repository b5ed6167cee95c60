import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { landingPage } from './landing-page.js'

async function linksOf(...served: readonly string[]): Promise<readonly string[]> {
  const server = fastify()
  landingPage(server)
  for (const path of served) server.get(path, async () => 'served')
  const { body } = await server.inject({ url: '/', headers: { accept: 'text/html' } })
  return [...body.matchAll(/href="(\/[^"]*)"/g)].map(([, path = '']) => path)
}

test('the page for browsers links what the node serves, and nothing else', async () => {
  expect(await linksOf()).toEqual([])
  const served = ['/docs', '/health/ready', '/l2/kupo/health']
  expect(await linksOf('/nothing', ...served)).toEqual(served)
})

test('with a console, a browser is sent there and API clients get the 404', async () => {
  const server = fastify()
  landingPage(server)
  server.get('/console', async () => 'served')
  const browser = await server.inject({ url: '/', headers: { accept: 'text/html' } })
  expect([browser.statusCode, browser.headers.location, browser.headers.vary]).toEqual([
    302,
    'console',
    'accept',
  ])
  expect((await server.inject({ url: '/' })).statusCode).toBe(404)
})
