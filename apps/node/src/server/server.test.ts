import { fastify } from 'fastify'
import { pino } from 'pino'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { readSettings } from '../settings/read.js'
import { createServer } from './create-server.js'
import { landingPage } from './serve.js'

describe('create server', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  test('a plugin that never finishes ends the start with its name', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const server = createServer(readSettings({}), pino({ level: 'silent' }))
    server.register(function forgetful(_server, _options, _done) {})
    const ready = expect(server.ready()).rejects.toThrow(/did not start in time: 'forgetful'/)
    await new Promise(setImmediate)
    await vi.advanceTimersByTimeAsync(600_000)
    await ready
  })
})

describe('landing page', () => {
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
})
