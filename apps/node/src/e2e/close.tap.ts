import { readdir } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyPluginAsync } from 'fastify'
import t, { type Test } from 'tap'
import { isStartError, type Node, pluginRow, readSettings, startNode } from '../index.js'
import { anyPlacement } from '../test/backends.js'

/** A plugin that opens a part, and records whether the store still answers when the part closes. */
function recorded(name: string, closed: string[]) {
  const plugin: FastifyPluginAsync = async (server) => {
    server.get(`/${name}`, async () => name)
  }
  return pluginRow({
    plugin,
    when: () => true,
    options: ({ onClose, store, server }: Node) => {
      onClose(async () => {
        await store.ping()
        closed.push(`${name}, ${server.server.listening ? 'listening' : 'not listening'}`)
      })
      return {}
    },
  })
}

async function settingsOf(t: Test) {
  const place = await anyPlacement(t)
  const environment = { ...place, PORT: '0', LOG_LEVEL: 'silent', LOG_FORMAT: 'json' }
  const locks = async () =>
    (await readdir(place.DATA_DIR ?? '')).filter((file) => file.startsWith('lock.')).length
  return { settings: readSettings(environment), locks }
}

t.test('parts close after the server, in reverse order of opening, before the store', async (t) => {
  const { settings, locks } = await settingsOf(t)
  const closed: string[] = []
  const node = await startNode(settings, { plugins: [recorded('first', closed), recorded('second', closed)] })
  t.equal(await (await fetch(`${node.url}/second`)).text(), 'second')
  t.equal(await locks(), 1)
  const once = node.close()
  t.equal(node.close(), once, 'closes once')
  await once
  t.same(closed, ['second, not listening', 'first, not listening'])
  t.equal(await locks(), 0, 'the data directory is free')
})

t.test('a start that fails half-way closes what it has opened, in the same order', async (t) => {
  const { settings, locks } = await settingsOf(t)
  const closed: string[] = []
  const failing = pluginRow({
    plugin: async () => undefined,
    when: () => true,
    options: () => {
      throw new Error('no options')
    },
  })
  const rows = [recorded('first', closed), recorded('second', closed), failing]
  await t.rejects(startNode(settings, { plugins: rows }), { message: 'no options' })
  t.same(closed, ['second, not listening', 'first, not listening'])
  t.equal(await locks(), 0, 'the data directory is free')
})

t.test('a plugin may take longer than the 10 s of Fastify', async (t) => {
  const { settings } = await settingsOf(t)
  const slow = pluginRow({
    plugin: () => pause(10_500),
    when: () => true,
    options: () => ({}),
  })
  const node = await startNode(settings, { plugins: [slow] })
  t.equal((await fetch(`${node.url}/health/live`)).status, 200)
  await node.close()
})

t.test('a start on a taken port opens nothing', async (t) => {
  const { settings } = await settingsOf(t)
  const closed: string[] = []
  const other = await startNode(settings)
  t.teardown(() => other.close())
  const port = Number(new URL(other.url).port)
  const second = await settingsOf(t)
  const taken = await startNode(
    { ...second.settings, PORT: port },
    { plugins: [recorded('third', closed)] },
  ).catch((error: unknown) => error)
  t.ok(isStartError(taken) && taken.code === 'NODE_LISTEN')
  t.same(closed, [])
  t.equal(await second.locks(), 0, 'the data directory is free')
})
