import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, readdir, truncate } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { anyPlacement, temporaryDirectory } from '../test/backends.js'
import { submit } from '../test/node.js'
import { launch, spawnGroup, spawnNode } from '../test/node-process.js'
import { transferFrom } from '../test/transfers.js'

// Six starts.
t.setTimeout(600_000)

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
