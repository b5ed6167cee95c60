import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'

const hook = new URL('./answers-hook.js', import.meta.url).href
const turns = new URL('./turns.js', import.meta.url).href

/** Runs a program with the hook, which serves, does something, and stops. */
async function run(work: string): Promise<{ code: number; stderr: string }> {
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
  const { code, stderr } = await run('await setTimeout(50); busy(400)')
  t.equal(code, 1)
  t.match(stderr, /^The event loop took long turns:\n.*: a turn of \d+ ms, \d+ ms of them on the processor/)
  t.match(stderr, /last requests: GET \/planted; most of it in .*busy \(/)
})

t.test('fails the process if a loop of 10,000 queries of an embedded database is one turn', async (t) => {
  const { code, stderr } = await run(`
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
  t.same(await run(wait), passes)
  const loop = '(ms, used) => { for (const since = used(); used() - since < ms;); }'
  const own = `runInThisContext('${loop}', '/planted.tap.js')(400, used)`
  t.same(await run(`const { runInThisContext } = await import('node:vm'); ${own}`), passes)
  const starts = 'await whileStarting(async () => busy(400))'
  t.same(await run(`const { whileStarting } = await import('${turns}'); ${starts}`), passes)
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
  t.same(await run(collect), { code: 0, stderr: '' })
})
