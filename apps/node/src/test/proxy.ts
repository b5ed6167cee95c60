import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import { temporaryDirectory } from './backends.js'
import { readShipped } from './compose.js'

/** Earlier versions of Caddy repeat a request without its body. */
const hasCaddy = /^v?2\.(1[1-9]|[2-9]\d)\./.test(versionOf('caddy', 'version'))
const hasNginx = /nginx\/1\./.test(versionOf('nginx', '-v'))

/** The program that {@link startProxy} runs. */
export const proxyProgram = hasCaddy ? 'caddy' : 'nginx'
export const proxyMissing = hasCaddy || hasNginx ? false : 'neither Caddy 2.11 nor nginx is installed'

/** After so long, the proxy asks a node again that refused a connection. */
export const proxyPauseMs = hasCaddy ? 6000 : 11_000

/** Hosts with ports, by the name that the Caddyfile has for them. */
export type Upstreams = Readonly<Record<'api' | 'reader', readonly string[]>>

function versionOf(program: string, argument: string): string {
  const { stdout, stderr } = spawnSync(program, [argument], { encoding: 'utf8' })
  return `${stdout ?? ''}${stderr ?? ''}`
}

/** The shipped file, in which the names of containers are replaced by processes here. */
const caddyFor = (upstreams: Upstreams) =>
  readShipped('ops/Caddyfile').replace(
    /dynamic a \{\s*name (api|reader)[^}]*\}/g,
    (_, role: keyof Upstreams) => ['to', ...upstreams[role]].join(' '),
  )

const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/** As the Caddyfile. */
const nginxFor = ({ api, reader }: Upstreams, port: string, directory: string) => `
daemon off; pid ${directory}/pid; error_log stderr; user root; events {}
http {
  access_log off; client_max_body_size 1m;
  ${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}
  upstream api { ${api.map((each) => `server ${each} max_fails=0;`).join(' ')} keepalive 16; }
  upstream reader { ${reader.map((each) => `server ${each} max_fails=0;`).join(' ')} keepalive 16; }
  server {
    listen 127.0.0.1:${port}; proxy_http_version 1.1;
    proxy_set_header Connection ""; proxy_set_header X-Forwarded-For $remote_addr;
    proxy_next_upstream error timeout non_idempotent;
    location = /submit { proxy_pass http://api; }
    location / { proxy_pass http://reader; }
  }
}`

/** Starts Caddy, or nginx where that is missing; returns its address. */
export async function startProxy(t: Test, upstreams: Upstreams): Promise<string> {
  const directory = await temporaryDirectory(t)
  const [file, port] = [join(directory, 'configuration'), await freePort()]
  writeFileSync(file, hasCaddy ? caddyFor(upstreams) : nginxFor(upstreams, port, directory))
  const args = hasCaddy ? ['run', '--config', file, '--adapter', 'caddyfile'] : ['-c', file, '-p', directory]
  const child = spawn(proxyProgram, args, {
    stdio: 'ignore',
    env: { PATH: process.env.PATH, HOME: directory, SITE_ADDRESS: `http://127.0.0.1:${port}` },
  })
  t.teardown(async () => {
    child.kill()
    await once(child, 'close')
  })
  const url = `http://127.0.0.1:${port}`
  await until(async () => (await ask(`${url}/health/live`).catch(() => undefined))?.status === 200)
  return url
}
