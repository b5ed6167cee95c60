import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, readdir, truncate } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ask, until } from '@ratatosk/test-kit/http'
import type { FastifyPluginAsync } from 'fastify'
import t, { type Test } from 'tap'
import { isStartError, type Node, pluginRow, readSettings, startNode } from '../index.js'
import { anyPlacement, temporaryDirectory } from '../test/backends.js'
import { submit } from '../test/node.js'
import { launch, spawnGroup, spawnNode } from '../test/node-process.js'
import { transferFrom } from '../test/transfer.js'

// Six starts.
t.setTimeout(600_000)

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

/** The process that uses a data directory, by the name of its lock. */
async function userOf(directory: string): Promise<number | undefined> {
  const lock = (await readdir(directory)).find((name) => name.startsWith('lock.'))
  return lock === undefined ? undefined : Number(lock.split('.')[1])
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

for (const LOG_FORMAT of ['pretty', 'json']) {
  const skip = process.platform !== 'linux' && 'The program "script" differs'
  t.test(`a node closes with its terminal, which shows ${LOG_FORMAT}`, { skip }, async (t) => {
    const place = await anyPlacement(t)
    // The shell of a terminal that closes sends SIGHUP to what it runs, and so does the kernel.
    const terminal = spawn('script', ['-qfc', 'bash --norc -i', '/dev/null'], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, PORT: '0', LOG_LEVEL: 'debug', LOG_FORMAT, LAUNCH: launch, ...place },
    })
    t.teardown(() => terminal.kill('SIGKILL'))
    let output = ''
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    terminal.stdin.write(`'${process.execPath}' -e "$LAUNCH"\n`)
    await until(async () => output.includes('Ratatosk is up'), { what: 'the node is up', timeoutMs: 120_000 })
    const pid = (await userOf(place.DATA_DIR ?? '')) ?? t.fail('no process uses DATA_DIR')
    t.ok(isRunning(Number(pid)))

    terminal.kill('SIGKILL')
    await until(async () => !isRunning(Number(pid)), { what: 'the node has ended', timeoutMs: 10_000 })
    t.equal(await userOf(place.DATA_DIR ?? ''), undefined, 'it closed')
  })
}

t.test('a signal to its whole group ends a node in order', async (t) => {
  const DATA_DIR = join(await temporaryDirectory(t), 'data')
  const started = await spawnGroup(t, { DATA_DIR })
  started.kill('SIGTERM')
  await until(async () => started.output().includes('Shutting down: '), { what: 'it shuts down' })
  t.equal(await started.stopAll('SIGTERM'), 0)
  const lines = started.output().trim().split('\n')
  t.equal(lines.filter((line) => line.includes('"Shutting down: ')).length, 1)
  t.match(lines.at(-1), '"msg":"Closed"')
  t.notMatch(started.output(), 'ending at once')
  t.notOk(await exists(join(DATA_DIR, 'postgresql', 'postmaster.pid')), 'the embedded PostgreSQL was stopped')
  t.equal(await userOf(DATA_DIR), undefined)
})

t.test('a person who presses Ctrl-C again, seconds later, ends the node at once', async (t) => {
  const started = await spawnGroup(t, await anyPlacement(t))
  // A request that does not end.
  const { hostname, port } = new URL(started.url)
  const socket = connect(Number(port), hostname)
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(
    'POST /submit HTTP/1.1\r\nhost: node\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\n84',
  )
  socket.on('error', () => undefined)
  await until(async () => (await ask(`${started.url}/health/live`)).status === 200)
  started.kill('SIGINT')
  await until(async () => started.output().includes('Shutting down: '), { what: 'it shuts down' })
  const again = setInterval(() => started.kill('SIGINT'), 500)
  t.teardown(() => clearInterval(again))
  t.equal(await started.ended, 1)
  t.match(started.output(), 'A second request to end, SIGINT: ending at once')
  t.notMatch(started.output(), '"msg":"Closed"')
})

t.test('a fault of native code ends the node, and the next one goes on', async (t) => {
  const place = await anyPlacement(t)
  const first = await spawnNode(t, place)
  const transfers = await Promise.all([0, 1, 2, 3].map((index) => transferFrom(4, index)))
  // Reading a page that is mapped, but no longer in the file, is SIGBUS: here when the next block is built.
  await truncate(join(place.DATA_DIR ?? '', 'roots', 'data.mdb'), 8192)
  for (const { transfer } of transfers) await submit(first.url, transfer.cborHex).catch(() => undefined)
  await until(async () => !isRunning(first.pid), { what: 'the node has ended', timeoutMs: 60_000 })
  t.equal(await first.stop('SIGTERM'), 'SIGBUS')

  const second = await spawnNode(t, place)
  await until(async () => (await ask(`${second.url}/health/ready`)).status === 200, {
    what: 'the next node is ready',
    timeoutMs: 60_000,
  })
  t.match(second.output(), '"movedTo":', 'the roots are rebuilt')
  const statusOf = async (id: string) =>
    JSON.parse((await ask(`${second.url}/tx/status?tx_hash=${id}`)).body).status
  for (const { transfer } of transfers) {
    await submit(second.url, transfer.cborHex)
    await until(async () => (await statusOf(transfer.hash)) === 'merged', {
      what: 'what was submitted is merged',
      timeoutMs: 120_000,
    })
  }
  t.equal(await second.stop('SIGTERM'), 0)
})
