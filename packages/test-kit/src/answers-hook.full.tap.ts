import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'

const hook = new URL('./answers-hook.js', import.meta.url).href

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
