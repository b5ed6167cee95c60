import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { duties } from '../roles.js'
import { assignments, exampleSettings, nodeServices, passwords, readShipped } from '../test/compose.js'
import { readSettings } from './read.js'
import { settingNotes } from './schema.js'
import { phrase } from './test/problems-of.js'

type Environment = Readonly<Record<string, string>>

const example = readShipped('.env.example')
const compose = readShipped('compose.yaml')
const dockerfile = readShipped('Dockerfile')
const unit = readShipped('ops/ratatosk@.service')
const caddyfile = readShipped('ops/Caddyfile')

/** The variables that Docker, its Node image and systemd add to the environment of a process. */
const surroundings = {
  ...{ PATH: '/', HOME: '/', HOSTNAME: 'f00', NODE_VERSION: '26', YARN_VERSION: '1', LANG: 'C', USER: 'u' },
  ...{ LOGNAME: 'u', SHELL: '/', INVOCATION_ID: '1', JOURNAL_STREAM: '1', SYSTEMD_EXEC_PID: '1' },
  ...{ STATE_DIRECTORY: '/', CREDENTIALS_DIRECTORY: '/' },
}

const devnet = { ...exampleSettings(), ...passwords }
const imageSettings = assignments(/^ENV (.*)$/m.exec(dockerfile)?.[1] ?? '', /(\w+)=(\S+)/g)
const isSetting = (name: string) => settingNotes.has(name) || settingNotes.has(name.replace(/_FILE$/, ''))

/** Fails if the node would not start with these settings, or warns of one. */
function accept(environment: Environment) {
  return readSettings({ ...surroundings, ...environment }, (warning) => expect.unreachable(warning))
}

test('the containers of .env.example and compose.yaml start with valid settings', () => {
  const roles = nodeServices(devnet).map(([, { environment }]) => {
    for (const name of Object.keys(environment)) expect(isSetting(name), name).toBe(true)
    return accept({ ...imageSettings, ...environment }).NODE_ROLE
  })
  expect(roles).toEqual([
    ...['api', 'reader', 'tx-processor', 'sequencer', 'archivist', 'watcher'],
    'tx-processor',
  ])
})

const keysOf: Readonly<Record<string, readonly string[]>> = {
  sequencer: ['ADMIN_SEED_PHRASE', 'OPERATOR_SEED_PHRASE'],
  watcher: ['WATCHER_SEED_PHRASE'],
}

test('they also do with everything that .env.example names for a public network', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ratatosk-secrets-'))
  try {
    for (const name of ['operator', 'administrator', 'watcher']) writeFileSync(join(folder, name), phrase)
    const filledIn: Environment = {
      ...assignments(example, /^#?([A-Z]\w*)=(.*)$/gm),
      ...passwords,
      NETWORK: 'preprod',
      MATURITY_WINDOW_MS: '',
      BLOCKFROST_PROJECT_ID: 'preprod1',
      DEPLOYMENT_OUTPUT: `${'0'.repeat(64)}#0`,
      OPERATOR_ADDRESS: 'addr_test1vpu5vlrf4xkxv2qpwngf6cjhtw542ayty80v8dyr49rf5eg57c2qv',
      ADMIN_KEY_HASH: '1'.repeat(56),
    }
    for (const [name, { environment }] of nodeServices(filledIn)) {
      const inside = Object.entries(environment).map(([key, value]) => [
        key,
        value.replace('/run/secrets', folder),
      ])
      const settings = accept({ ...imageSettings, ...Object.fromEntries(inside) })
      expect(settings.NETWORK, name).toBe('preprod')
      const keys = Object.keys(settings).filter((each) => each.endsWith('_SEED_PHRASE'))
      expect(keys.toSorted(), name).toEqual(keysOf[name] ?? [])
      if (settings.NODE_ROLE !== 'tx-processor') expect(settings.LAYER1_PROVIDER, name).not.toBe('devnet')
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('compose.yaml reads every variable of .env.example, and no other', () => {
  const used = [...compose.matchAll(/\$\{(\w+)/g)].map(([, name]) => name)
  const named = Object.keys(assignments(example, /^#?([A-Z]\w*)=(.*)$/gm))
  expect([...new Set(used)].sort()).toEqual(named.sort())
})

test('image and service run the node with the options of npm start, on a Node that is tested', async () => {
  const launcher = new URL('../../../../scripts/launch.mjs', import.meta.url).href
  const { nodeOptions }: { nodeOptions: string[] } = await import(launcher)
  const command = ['node', ...nodeOptions, 'dist/main.js']
  expect(JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? '')).toEqual(command)
  expect(JSON.parse(/^CMD (.*)$/m.exec(dockerfile)?.[1] ?? '')).toEqual(['start'])
  const started = `${command.join(' ').replace('dist', '/opt/ratatosk/dist')} start`
  expect(unit).toContain(`ExecStart=/usr/bin/${started}\n`)
  const tested = Object.keys(JSON.parse(readShipped('scripts/engines/package.json')).dependencies)
  expect(tested.at(-1)).toBe(`node-${/^ARG NODE=(\d+)-\w+-slim$/m.exec(dockerfile)?.[1]}`)
})

test('the service starts with valid settings', () => {
  const settings = assignments(/^Environment=(.*)$/m.exec(unit)?.[1] ?? '', /(\w+)=(\S+)/g)
  expect(accept(settings).DATA_DIR).toBe('/var/lib/ratatosk/%i')
  expect(unit).toContain('StateDirectory=ratatosk/%i\n')
})

test('the files in ops/env are valid settings, one for each role, and those of compose.yaml', () => {
  const names = ['api-1', 'reader-1', 'processor-1', 'sequencer-1', 'archivist-1', 'watcher-1']
  const files = names.map((name) => ({ name, text: readShipped(`ops/env/${name}.env`) }))
  const followers: [{ readonly ARCHIVIST_PEERS?: readonly string[] }, Environment][] = []
  const ports = files.map(({ name, text }) => {
    for (const [, named] of text.matchAll(/ratatosk[@/](?:secrets\/)?(\w+-1)/g)) expect(named).toBe(name)
    const commented = assignments(text, /^#?([A-Z]\w*)=(.*)$/gm)
    for (const each of Object.keys(commented)) expect(isSetting(each), each).toBe(true)
    const given = assignments(text, /^([A-Z]\w*)=(.*)$/gm)
    const secrets = Object.keys(given).filter((each) => each.endsWith('_FILE'))
    const read = Object.fromEntries(
      secrets.flatMap((each) => [
        [each, ''],
        [each.slice(0, -'_FILE'.length), each.startsWith('DATABASE') ? 'postgres://db/ratatosk' : 'a-secret'],
      ]),
    )
    const settings = accept({ ...given, ...read })
    const [, service] =
      nodeServices(devnet).find(([, { environment }]) => environment.NODE_ROLE === settings.NODE_ROLE) ?? []
    const named = (environment: Environment) =>
      Object.entries(environment)
        // The devnet is the default.
        .filter(([each, value]) => value !== '' && !(each === 'LAYER1_PROVIDER' && value === 'devnet'))
        .map(([each]) => each.replace(/_FILE$/, ''))
        .filter((each) => each !== 'HOST' && each !== 'PORT')
        .sort()
    expect(named(given), name).toEqual(named(service?.environment ?? {}))
    if (duties[settings.NODE_ROLE].bodies === 'archive')
      followers.push([settings, service?.environment ?? {}])
    return settings.PORT
  })
  expect(new Set(ports).size).toBe(files.length)
  // While a standby takes over, readers serve the bodies.
  const [, reader, , sequencer] = ports
  for (const [{ ARCHIVIST_PEERS }, { ARCHIVIST_PEERS: composed }] of followers) {
    expect(ARCHIVIST_PEERS).toEqual([sequencer, reader].map((port) => `http://127.0.0.1:${port}/archivist`))
    expect(composed).toBe('http://sequencer-inner:3000/archivist,http://reader:3000/archivist')
  }
  expect(followers).toHaveLength(2)
})

test('a node has time to stop, and keeps connections for longer than Caddy', () => {
  const { SHUTDOWN_TIMEOUT_MS, KEEP_ALIVE_TIMEOUT_MS } = readSettings({})
  const seconds = (text: string | undefined) => Number(/^(\d+)s?$/.exec(text ?? '')?.[1])
  for (const [name, { stop_grace_period }] of nodeServices(devnet))
    expect(seconds(stop_grace_period) * 1000, name).toBeGreaterThan(SHUTDOWN_TIMEOUT_MS + 1000)
  const stopSeconds = seconds(/^TimeoutStopSec=(.*)$/m.exec(unit)?.[1])
  expect(stopSeconds * 1000).toBeGreaterThan(SHUTDOWN_TIMEOUT_MS + 1000)
  expect(seconds(/keepalive (\w+)/.exec(caddyfile)?.[1]) * 1000).toBeLessThan(KEEP_ALIVE_TIMEOUT_MS)
})

test('Caddy hides every operator route', () => {
  const hidden = /^\t@operator path (.*)$/m.exec(caddyfile)?.[1]?.split(' ') ?? []
  const routes = [...readShipped('docs/routes.md').matchAll(/^\| `\w+ (\/\S*)` .*\| operator \|/gm)]
  expect(routes.length).toBeGreaterThan(10)
  const isHidden = (route: string) =>
    hidden.some((path) => (path.endsWith('*') ? route.startsWith(path.slice(0, -1)) : route === path))
  for (const [, route = ''] of routes) expect(isHidden(route), route).toBe(true)
})
