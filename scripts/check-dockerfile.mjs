// Runs the steps of the Dockerfile without Docker: each RUN and COPY in an empty folder, then, on what they
// made, read-only, `ratatosk check`, the node until its health check passes and SIGTERM ends it, and a backup
// with its restoration. As root, every step runs as an unprivileged user. No image is built: what the base
// image brings and RUN steps of root are left out.
//
// node scripts/check-dockerfile.mjs        two minutes; needs a built checkout and a registry
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../packages/test-kit/dist/own-services.js'
import { root } from './prepare.mjs'

/** A user of every system: initdb asks for the name of its user. */
const unprivileged = 65_534
const user = process.getuid?.() === 0 ? { uid: unprivileged, gid: unprivileged } : {}
const place = mkdtempSync(join(tmpdir(), 'ratatosk-dockerfile-'))
if (user.uid) chownSync(place, user.uid, user.gid)
const inside = (path) => join(place, path)
/** Absolute paths of the image that a step may name. */
const rooted = (text) => text.replace(/(?<![\w./])\/(build|node|data)(?![\w-])/g, inside('/$1'))
const home = inside('/home')
const surroundings = { PATH: process.env.PATH, HOME: home, npm_config_cache: join(home, '.npm') }

/** Instructions with their arguments; a continued line is one. */
function instructions(text) {
  const lines = text.replaceAll(/^#.*\n/gm, '').replaceAll('\\\n', ' ')
  return [...lines.matchAll(/^([A-Z]+) +(.*)$/gm)].map(([, name, rest]) => ({ name, rest: rest.trim() }))
}

function requireStatus(what, { status, signal }) {
  if (status !== 0) throw new Error(`${what} ended with ${status ?? signal}`)
}

/** The files of the checkout that `.dockerignore` lets into the build. */
function copyCheckout(target) {
  const list = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
  requireStatus('git ls-files', list)
  for (const file of list.stdout.split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(target, file)), { recursive: true })
    cpSync(join(root, file), join(target, file))
  }
}

function makeFolder(path) {
  mkdirSync(path, { recursive: true })
  return path
}

function own(path) {
  if (user.uid) requireStatus('chown', spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, path]))
}

/** Runs a command of the image until it ends. */
function runCommand({ folder, environment, entryPoint: [program, ...args] }, command, more = {}) {
  console.log(`Running ${command.join(' ')}`)
  const env = { ...surroundings, ...environment, PORT: '0', HOST: '127.0.0.1', ...more }
  requireStatus(
    command[0],
    spawnSync(program, [...args, ...command], { cwd: folder, env, stdio: 'inherit', ...user }),
  )
}

/** Starts the entry point, waits for the health check, and stops the node as Docker does. */
async function runImage({ folder, environment, entryPoint, command, healthCheck, stopSignal }) {
  const env = { ...surroundings, ...environment, HOST: '127.0.0.1', PORT: await freePort() }
  const [program, ...args] = [...entryPoint, ...command]
  console.log(`Starting ${entryPoint.join(' ')}`)
  const node = spawn(program, args, { cwd: folder, env, stdio: 'inherit', ...user })
  const ended = once(node, 'exit')
  try {
    const [checker, ...check] = healthCheck
    const until = Date.now() + 60_000
    while (spawnSync(checker, check, { cwd: folder, env, ...user }).status !== 0) {
      if (node.exitCode !== null) throw new Error(`The node ended with ${node.exitCode}`)
      if (Date.now() > until) throw new Error('The health check did not pass within 60 s')
      await sleep(500)
    }
    console.log('The health check passes')
    node.kill(stopSignal)
    const [code] = await ended
    if (code !== 0) throw new Error(`The node ended with ${code} after ${stopSignal}`)
  } finally {
    node.kill('SIGKILL')
  }
}

const skipped = []
try {
  makeFolder(home)
  own(home)
  let folder = place
  let stage = 0
  const image = { environment: {} }
  for (const { name, rest } of instructions(readFileSync(join(root, 'Dockerfile'), 'utf8'))) {
    if (name === 'FROM') stage++
    else if (name === 'WORKDIR') folder = makeFolder(inside(rest))
    else if (name === 'COPY' && rest === '. .') copyCheckout(folder)
    else if (name === 'COPY') skipped.push(`${name} ${rest}`)
    else if (name === 'RUN' && stage === 1) {
      own(folder)
      // The files of a step in the root of the image.
      own(place)
      console.log(`RUN ${rest}`)
      const options = { cwd: folder, env: surroundings, stdio: 'inherit', ...user }
      requireStatus(rest, spawnSync('/bin/sh', ['-c', rooted(rest)], options))
    } else if (name === 'RUN') skipped.push(`${name} ${rest}`)
    else if (name === 'ENV')
      for (const [, key, value] of rest.matchAll(/(\w+)=(\S+)/g)) image.environment[key] = rooted(value)
    else if (name === 'STOPSIGNAL') image.stopSignal = rest
    else if (name === 'ENTRYPOINT') image.entryPoint = JSON.parse(rest)
    else if (name === 'CMD') image.command = JSON.parse(rest)
    else if (name === 'HEALTHCHECK') image.healthCheck = JSON.parse(/CMD (\[.*\])$/.exec(rest)[1])
  }
  chmodSync(makeFolder(inside('/data')), 0o700)
  own(inside('/data'))
  // The root of the container is read-only, and the build is not in it.
  requireStatus('chmod', spawnSync('chmod', ['-R', 'a-w', inside('/node')]))
  rmSync(inside('/build'), { recursive: true, force: true })
  const run = { ...image, folder }
  runCommand(run, ['check'])
  await runImage(run)
  const backup = inside('/home/backup')
  runCommand(run, ['backup', backup])
  runCommand(run, ['restore', backup], { DATA_DIR: inside('/home/restored') })
  for (const each of skipped) console.log(`not run, root of the image: ${each}`)
  console.log('Every step of the build ran, and the node starts from what it made. No image was built.')
} finally {
  spawnSync('chmod', ['-R', 'u+w', place])
  rmSync(place, { recursive: true, force: true })
}
