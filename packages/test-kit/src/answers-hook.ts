// Compares every answer that a server of this process sends with docs/openapi.json or, by Blockfrost's API,
// with the document of Blockfrost, and measures the turns of the event loop while it listens.
// `scripts/tap.mjs` preloads it into every test of tap, and NODE_OPTIONS into the processes that these start.
// If an answer is not documented or a turn is long, the test's process ends with exit code 1.
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { blockfrostFault, documentJudge } from './documented-answers.js'
import { watchTurns } from './turns.js'

/** Tests whose servers may take long turns of the event loop: a part of their path, and the reason. */
const exempt: Readonly<Record<string, string>> = {
  '/apps/node/dist/e2e/': 'several nodes share a process, and an embedded database starts in one turn',
  '/apps/cli/dist/demo/fraud.full.tap.js': 'the demonstration runs three nodes in one process',
  '/examples/': 'as those of apps/node',
}

/** Whether a test's program, such as `/…/apps/node/dist/e2e/start.tap.js`, is exempt. */
export function mayTakeLongTurns(program = ''): boolean {
  return Object.keys(exempt).some((part) => program.includes(part))
}

/** How many bytes of a body are kept; of longer ones only status and type are judged. */
const mostKept = 1024 * 1024
/** See {@link ignoreAnswers}. */
const ignored = new Set<string>()
/** In processes that a test has started: the file to which faults are appended. */
const inherited = new URL(import.meta.url).searchParams.get('faults')
const file = inherited ?? join(tmpdir(), `ratatosk-undocumented-${process.pid}-${Date.now()}`)
/** Whether turns are measured in this process: as in the test that has started it. */
const measuresTurns =
  inherited === null
    ? !process.argv.slice(1).some(mayTakeLongTurns)
    : new URL(import.meta.url).searchParams.get('turns') === 'true'

if (isMainThread) {
  // Before the test's process reports, when it exits.
  if (measuresTurns)
    watchTurns((turn) =>
      appendFileSync(turnsOf(file), `${process.argv[1] ?? 'a program'} (${process.pid}): ${turn}\n`),
    )
  if (inherited === null) {
    const preload = `--import=${import.meta.url}?faults=${encodeURIComponent(file)}&turns=${measuresTurns}`
    process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} ${preload}`.trim()
    process.on('exit', () => {
      const faults = takeFaults()
      if (faults === '') return
      process.stderr.write(faults)
      process.exitCode = 1
    })
  }
  hook()
}

/** Returns the faults since the last call; empty if there is none. Also ends all {@link ignoreAnswers}. */
export function takeFaults(): string {
  ignored.clear()
  return (
    take('docs/openapi.json or the document of Blockfrost does not describe these answers', file) +
    take('The event loop took long turns', turnsOf(file))
  )
}

function turnsOf(file: string): string {
  return `${file}-turns`
}

function take(what: string, path: string): string {
  if (!existsSync(path)) return ''
  const faults = readFileSync(path, 'utf8')
  rmSync(path)
  return `${what}:\n${faults}`
}

/**
 * Leaves out the answers of a path of this process, because a test serves something there that no node does.
 */
export function ignoreAnswers(path: string): void {
  ignored.add(path)
}

function hook(): void {
  let judge: ReturnType<typeof documentJudge> | undefined
  const chunks = new WeakMap<ServerResponse, { kept: Buffer[]; bytes: number }>()
  const types = new WeakMap<ServerResponse, string>()
  const { write, end, writeHead } = ServerResponse.prototype

  const typeOf = (response: ServerResponse) =>
    types.get(response) ?? String(response.getHeader('content-type') ?? '')

  function keep(response: ServerResponse, chunk: unknown): void {
    const known = chunks.get(response)
    const sent = known ?? { kept: [], bytes: 0 }
    if (known === undefined) {
      chunks.set(response, sent)
      response.once('finish', () => {
        const { method = '', url = '' } = response.req
        if (method === 'HEAD' || ignored.has(url.split('?')[0] ?? '')) return
        const whole = sent.bytes === 0 || sent.kept.length > 0
        judge ??= documentJudge()
        const answer = {
          method,
          url,
          status: response.statusCode,
          contentType: typeOf(response),
          ...(whole && { body: Buffer.concat(sent.kept) }),
        }
        const fault = judge(answer) ?? blockfrostFault(answer)
        if (fault !== undefined) appendFileSync(file, `${fault}\n`)
      })
    }
    if (!(typeof chunk === 'string' || chunk instanceof Uint8Array)) return
    sent.bytes += chunk.length
    if (sent.bytes > mostKept || !/^(application\/json|$)/.test(typeOf(response))) sent.kept = []
    else sent.kept.push(Buffer.from(chunk))
  }

  // Headers that are given here are not among those that `getHeader` reads.
  ServerResponse.prototype.writeHead = function (this: ServerResponse, ...given: unknown[]) {
    const own = given.flatMap((each) =>
      typeof each === 'object' && each !== null ? Object.entries(each) : [],
    )
    const [, type] = own.find(([name]) => name.toLowerCase() === 'content-type') ?? []
    types.set(this, String(type ?? this.getHeader('content-type') ?? ''))
    return Reflect.apply(writeHead, this, given)
  } as typeof writeHead
  ServerResponse.prototype.write = function (this: ServerResponse, ...given: unknown[]) {
    keep(this, given[0])
    return Reflect.apply(write, this, given)
  } as typeof write
  ServerResponse.prototype.end = function (this: ServerResponse, ...given: unknown[]) {
    keep(this, given[0])
    return Reflect.apply(end, this, given)
  } as typeof end
}
