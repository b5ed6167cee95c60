import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'

const hook = new URL('./answers-hook.js', import.meta.url).href
const turns = new URL('./turns.js', import.meta.url).href

/** Serves one answer and asks for it. */
const server = (path: string, status: number, body: string) => `
import { createServer } from 'node:http'
const server = createServer((_, response) => {
  response.writeHead(${status}, { 'content-type': 'application/json' })
  response.write(${JSON.stringify(body.slice(0, 3))})
  response.end(${JSON.stringify(body.slice(3))})
})
server.listen(0, '127.0.0.1', async () => {
  await (await fetch('http://127.0.0.1:' + server.address().port + '${path}')).text()
  server.close()
  server.closeAllConnections()
})`

/** Runs a program in another process, and that one in another. */
const inChild = (program: string) => `
import { spawn } from 'node:child_process'
spawn(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(program)}], { stdio: 'inherit' })`

async function run(program: string): Promise<{ code: number; stderr: string }> {
  const child = spawn(process.execPath, [`--import=${hook}`, '--input-type=module', '-e', program], {
    // Options of its own, or tap adds those of this process, with this process's hook.
    env: { PATH: process.env.PATH, NODE_OPTIONS: '--no-deprecation' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [code] = await once(child, 'close')
  return { code, stderr }
}

t.test('lets documented answers pass, and those of other servers', async (t) => {
  t.same(await run(server('/health/live', 200, '{"status":"ok"}')), { code: 0, stderr: '' })
  t.same(await run(server('/health/live', 404, '{"error":"Not Found","code":"DISABLED"}')), {
    code: 0,
    stderr: '',
  })
  t.same(await run(server('/elsewhere', 418, '{}')), { code: 0, stderr: '' })
})

for (const [what, program, fault] of [
  ['a body', server('/health/live', 200, '{"status":"fine"}'), 'GET /health/live 200: .*must be equal'],
  [
    'a status',
    server('/health/live', 418, '{"status":"ok"}'),
    'GET /health/live 418: the status is not documented',
  ],
  ['a path of an archivist', server('/block/1', 200, '{"hash":1}'), 'GET /block/1 200: '],
  [
    'a height as text by Blockfrost',
    server('/l2/blockfrost/api/v0/blocks/latest', 200, '{"height":"1"}'),
    'GET /blocks/latest: Blockfrost does not answer so: ',
  ],
] as const) {
  t.test(`fails the process if ${what} is not documented`, async (t) => {
    t.match(await run(program), { code: 1, stderr: new RegExp(`does not describe these answers:\n${fault}`) })
  })

  t.test(`fails the process if ${what} of a process that it starts is not documented`, async (t) => {
    t.match(await run(inChild(program)), { code: 1, stderr: new RegExp(fault) })
  })
}

/** Runs a program with the hook, which serves, does something, and stops. */
async function runWork(work: string): Promise<{ code: number; stderr: string }> {
  const program = `
import { createServer } from 'node:http'
import { setTimeout } from 'node:timers/promises'
const used = () => process.cpuUsage().user / 1000
const busy = (ms) => { for (const since = used(); used() - since < ms;); }
const served = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
await new Promise((done) => served.once('listening', done))
await (await fetch('http://127.0.0.1:' + served.address().port + '/planted')).text()
${work}
await setTimeout(50)
served.close()
served.closeAllConnections()`
  const child = spawn(process.execPath, [`--import=${hook}`, '--input-type=module', '-e', program], {
    // Not below a folder of tests, whose code does not count.
    cwd: '/',
    // Options of its own, or tap adds those of this process, with this process's hook.
    env: { PATH: process.env.PATH, NODE_OPTIONS: '--no-deprecation' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [code] = await once(child, 'close')
  return { code, stderr }
}

t.test('fails the process if a turn is busy for 400 ms, and names what ran', async (t) => {
  const { code, stderr } = await runWork('await setTimeout(50); busy(400)')
  t.equal(code, 1)
  t.match(stderr, /^The event loop took long turns:\n.*: a turn of \d+ ms, \d+ ms of them on the processor/)
  t.match(stderr, /last requests: GET \/planted; most of it in .*busy \(/)
})

t.test('fails the process if a loop of 10,000 queries of an embedded database is one turn', async (t) => {
  const { code, stderr } = await runWork(`
const { createPGlite } = await import('${new URL('./pglite.js', import.meta.url)}')
const database = await createPGlite()
for (let i = 0; i < 10_000; i++) await database.query('SELECT 1')
await database.close()`)
  t.equal(code, 1)
  t.match(stderr, /a turn of \d{3,} ms/)
})

t.test('lets turns pass that wait, that the test takes itself, or that come before a start', async (t) => {
  const passes = { code: 0, stderr: '' }
  const wait = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)'
  t.same(await runWork(wait), passes)
  const loop = '(ms, used) => { for (const since = used(); used() - since < ms;); }'
  const own = `runInThisContext('${loop}', '/planted.tap.js')(400, used)`
  t.same(await runWork(`const { runInThisContext } = await import('node:vm'); ${own}`), passes)
  const starts = 'await whileStarting(async () => busy(400))'
  t.same(await runWork(`const { whileStarting } = await import('${turns}'); ${starts}`), passes)
})

t.test('lets the collection of garbage pass', async (t) => {
  const collect = `
const { setFlagsFromString } = await import('node:v8')
setFlagsFromString('--expose-gc')
const collect = (await import('node:vm')).runInNewContext('gc')
let kept = []
for (let i = 0; i < 20; i++) { for (let j = 0; j < 20_000; j++) kept.push({ j }); await setTimeout(1) }
await setTimeout(50)
for (const since = performance.now(); performance.now() - since < 600;) collect()`
  t.same(await runWork(collect), { code: 0, stderr: '' })
})
