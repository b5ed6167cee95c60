import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { onServices, temporaryDirectory } from '../test/backends.js'
import { manyTransfers } from '../test/many-transfers.js'
import { spawnNode } from '../test/node-process.js'

t.setTimeout(900_000)

const services = await onServices()
const caddyfile = readFileSync(new URL('../../../../ops/Caddyfile', import.meta.url), 'utf8')
/** Earlier versions of Caddy repeat a request without its body. */
const hasCaddy = /^v?2\.(1[1-9]|[2-9]\d)\./.test(versionOf('caddy', 'version'))
const hasNginx = /nginx\/1\./.test(versionOf('nginx', '-v'))
const missing = hasCaddy || hasNginx ? false : 'neither Caddy 2.11 nor nginx is installed'
const patient = { timeoutMs: 120_000 }
/** Of each kind, in a second. */
const [submissionRate, readRate] = [40, 80]

type Upstreams = Readonly<Record<'api' | 'reader', readonly string[]>>

function versionOf(program: string, argument: string): string {
  const { stdout, stderr } = spawnSync(program, [argument], { encoding: 'utf8' })
  return `${stdout ?? ''}${stderr ?? ''}`
}

/** The shipped file, in which the names of containers are replaced by processes here. */
const caddyFor = (upstreams: Upstreams) =>
  caddyfile.replace(/dynamic a \{\s*name (api|reader)[^}]*\}/g, (_, role: keyof Upstreams) =>
    ['to', ...upstreams[role]].join(' '),
  )

const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/** As the Caddyfile. */
const nginxFor = ({ api, reader }: Upstreams, port: string, directory: string) => `
daemon off; pid ${directory}/pid; error_log stderr; user root; events {}
http {
  access_log off; client_max_body_size 1m;
  ${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}
  upstream api { ${api.map((each) => `server ${each};`).join(' ')} keepalive 16; }
  upstream reader { ${reader.map((each) => `server ${each};`).join(' ')} keepalive 16; }
  server {
    listen 127.0.0.1:${port}; proxy_http_version 1.1;
    proxy_set_header Connection ""; proxy_set_header X-Forwarded-For $remote_addr;
    proxy_next_upstream error timeout non_idempotent;
    location = /submit { proxy_pass http://api; }
    location / { proxy_pass http://reader; }
  }
}`

/** Starts Caddy, or nginx where that is missing; returns its address. */
async function startProxy(t: Test, upstreams: Upstreams): Promise<string> {
  const directory = await temporaryDirectory(t)
  const [file, port] = [join(directory, 'configuration'), await freePort()]
  writeFileSync(file, hasCaddy ? caddyFor(upstreams) : nginxFor(upstreams, port, directory))
  const [program, args] = hasCaddy
    ? ['caddy', ['run', '--config', file, '--adapter', 'caddyfile']]
    : ['nginx', ['-c', file, '-p', directory]]
  const child = spawn(program, args, {
    stdio: 'ignore',
    env: { PATH: process.env.PATH, HOME: directory, SITE_ADDRESS: `http://127.0.0.1:${port}` },
  })
  t.teardown(async () => {
    child.kill()
    await once(child, 'close')
  })
  const url = `http://127.0.0.1:${port}`
  await until(async () => (await ask(`${url}/health/live`).catch(() => undefined))?.status === 200, patient)
  return url
}

/** Sends requests at a rate until it is stopped; every answer must be a 200. */
function steadily(rate: number, request: (n: number) => Promise<{ status: number; body: string }>) {
  const failures: string[] = []
  const open = new Set<Promise<void>>()
  let sent = 0
  let isOver = false
  const running = (async () => {
    for (const begun = performance.now(); !isOver; ) {
      await sleep(Math.max(0, begun + (sent * 1000) / rate - performance.now()))
      const n = sent++
      const answered = request(n).then(
        ({ status, body }) => void (status === 200 || failures.push(`${n}: ${status} ${body}`)),
        (error: unknown) => void failures.push(`${n}: ${error}`),
      )
      open.add(answered)
      void answered.then(() => open.delete(answered))
    }
  })()
  return {
    failures,
    sent: () => sent,
    async stop() {
      isOver = true
      await running
      await Promise.all(open)
    },
  }
}

t.test(
  'no request fails and nothing is lost while each process of a split deployment restarts behind a proxy',
  { skip: services.skip || missing },
  async (t) => {
    const place = await services.place(t)
    const { genesisFile, transfers } = await manyTransfers(t, 12_000)
    const start = async (role: string, PORT: string, DATA_DIR: string) => {
      const node = await spawnNode(t, {
        ...place,
        NODE_ROLE: role,
        PORT,
        DATA_DIR,
        GENESIS_FILE: genesisFile,
        SEQUENCER_LEASE_MS: '4000',
        MATURITY_WINDOW_MS: '600000',
        TRUST_PROXY: 'true',
      })
      return { role, PORT, DATA_DIR, node }
    }
    const roles = ['sequencer', 'tx-processor', 'api', 'api', 'reader', 'reader']
    const processes: Awaited<ReturnType<typeof start>>[] = []
    for (const role of roles) processes.push(await start(role, await freePort(), await temporaryDirectory(t)))
    const at = (role: string) =>
      processes.filter((each) => each.role === role).map(({ PORT }) => `127.0.0.1:${PORT}`)
    const url = await startProxy(t, { api: at('api'), reader: at('reader') })
    const agent = new Agent({ keepAlive: true, maxSockets: 64 })
    t.teardown(() => agent.destroy())

    const paths = [
      '/network',
      '/health/live',
      '/l2/blockfrost/api/v0/genesis',
      '/l2/blockfrost/api/v0/blocks/latest',
      `/tx/status?tx_hash=${transfers[0]?.hash}`,
    ]
    const reads = steadily(readRate, (n) => ask(url + paths[n % paths.length], { agent }))
    const submissions = steadily(submissionRate, (n) => {
      const headers = { 'content-type': 'text/plain' }
      return ask(`${url}/submit`, { method: 'POST', headers, body: transfers[n]?.cborHex ?? '', agent })
    })
    for (const [n, { role, PORT, DATA_DIR, node }] of processes.entries()) {
      t.equal(await node.stop('SIGTERM'), 0, `${role} ends`)
      processes[n] = await start(role, PORT, DATA_DIR)
      await until(async () => (await ask(`http://127.0.0.1:${PORT}/health/ready`)).status === 200, {
        what: `${role} is ready again`,
        ...patient,
      })
      // A proxy asks a node that refused a connection again after ten seconds.
      await sleep(11_000)
    }
    await Promise.all([reads.stop(), submissions.stop()])
    t.same(reads.failures, [])
    t.same(submissions.failures, [])
    t.comment(`${reads.sent()} reads, ${submissions.sent()} submissions`)

    const left = new Set(transfers.slice(0, submissions.sent()).map(({ hash }) => hash))
    await until(
      async () => {
        for (const hashes of chunks([...left], 100)) {
          const { statuses } = JSON.parse((await ask(`${url}/tx/statuses?tx_hash=${hashes.join()}`)).body)
          for (const { txHash, acceptedAt } of statuses) if (acceptedAt !== undefined) left.delete(txHash)
        }
        return left.size === 0
      },
      { what: 'every transaction that was answered 200 is accepted', ...patient },
    )
  },
)

function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) =>
    items.slice(n * size, (n + 1) * size),
  )
}
