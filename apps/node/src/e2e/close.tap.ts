import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '@ratatosk/test-kit/http'
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

t.test('a request on an open connection is answered while the node closes', async (t) => {
  const { settings } = await settingsOf(t)
  const entered: string[] = []
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const gated = pluginRow({
    plugin: async (server) => {
      for (const name of ['first', 'second'])
        server.get(`/${name}`, async () => {
          entered.push(name)
          await gate
          return `the ${name}`
        })
    },
    when: () => true,
    options: () => ({}),
  })
  const node = await startNode(settings, { plugins: [gated] })
  const socket = connect(Number(new URL(node.url).port), '127.0.0.1')
  let answers = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    answers += text
  })
  const ask = (name: string) => socket.write(`GET /${name} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`)
  ask('first')
  await until(() => entered.length === 1)
  const closed = node.close()
  ask('second')
  await until(() => entered.length === 2, { what: 'the second request is served', timeoutMs: 20_000 })
  open()
  await closed
  await until(() => socket.closed)
  t.match(answers, /^HTTP\/1.1 200 .*the first.*HTTP\/1.1 200 .*connection: close.*the second$/is)
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
