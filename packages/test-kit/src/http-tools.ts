import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** The ports of a plugin under test, with canned answers; records the calls. */
export class CannedPorts {
  readonly asked: string[] = []
  /** The error of every call, unless undefined. */
  failure: unknown

  protected async answer<T>(call: string, answer: T): Promise<T> {
    this.asked.push(call)
    if (this.failure !== undefined) throw this.failure
    return answer
  }
}

/** Writes text to a loopback port and reads until the server closes the connection. */
export function exchange(
  port: number,
  text: string,
): Promise<{ status: number; head: string; body: string }> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      answer += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => {
      const [head = '', body = ''] = answer.split('\r\n\r\n')
      resolve({ status: Number(head.split(' ')[1]), head, body })
    })
  })
}

/**
 * Reads a golden file of a package: JSON, checked in beside its sources.
 *
 * @param test `import.meta.url` of the compiled test, below `dist`
 * @param name the file's path below `src`
 */
export function golden<T>(test: string, name: string): T {
  const [root] = dirname(fileURLToPath(test)).split(`${sep}dist`)
  return JSON.parse(readFileSync(join(root ?? '', 'src', name), 'utf8'))
}

/** A record of a pino log. */
export interface LogRecord {
  readonly level: number
  readonly msg: string
  readonly reqId?: string
  readonly err?: { readonly message: string; readonly stack?: string; readonly code?: string }
  readonly [field: string]: unknown
}

/** Fastify's own messages about servers and requests. */
const routine = /^(Server listening|incoming request|request completed)/

/**
 * A pino destination that keeps its records.
 *
 * @example
 * const log = recordedLog()
 * const server = fastify({ logger: { level: 'info', stream: log.stream } })
 */
export function recordedLog() {
  const lines: string[] = []
  return {
    stream: { write: (line: string) => void lines.push(line) },
    /** As written: one JSON text each, with its line break. */
    lines,
    /** Without Fastify's records about starting, incoming requests and completed requests. */
    records: (): LogRecord[] =>
      lines.map((line): LogRecord => JSON.parse(line)).filter(({ msg }) => !routine.test(msg)),
  }
}

/**
 * Waits for a condition, which is checked every 50 ms.
 *
 * @throws when the condition does not hold within `timeoutMs`
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  { timeoutMs = 120_000, what = String(holds) }: { timeoutMs?: number; what?: string } = {},
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Not within ${timeoutMs / 1000} s: ${what}`)
    await sleep(50)
  }
}
