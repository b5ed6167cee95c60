import { pino } from 'pino'
import { afterEach, expect, test, vi } from 'vitest'
import { readSettings } from '../settings/read.js'
import { createServer } from './create-server.js'

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
